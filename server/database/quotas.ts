/** Triggers count each person's bytes and enforce the quotas; see migration `product/0046_quotas.sql`. */
import type { OwnUsage } from '#contract/usage.ts'
import type { Database, Scope } from './scope.ts'

export interface Quotas {
  readonly fileBytesPerPerson: number
  readonly textBytesPerPerson: number
  readonly totalBytes: number
}

/** Settings of a transaction of the service that writes for a person, who is then held to the quotas. */
export const ENFORCE_QUOTAS = { 'alcove.enforces_quotas': 'on' }

export async function setQuotas(database: Database, quotas: Quotas): Promise<void> {
  const values = [quotas.fileBytesPerPerson, quotas.textBytesPerPerson, quotas.totalBytes]
  await database.serviceStatement(
    `update quotas set file_bytes_per_person = $1, text_bytes_per_person = $2, total_bytes = $3
     where (file_bytes_per_person, text_bytes_per_person, total_bytes) is distinct from ($1, $2, $3)`,
    values,
  )
}

/** Runs as the person. */
export async function readOwnUsage(scope: Scope): Promise<OwnUsage> {
  const { rows } = await scope.query<Record<keyof OwnUsage, string>>('select * from own_usage()')
  const [row] = rows
  return {
    file_bytes: Number(row?.file_bytes ?? 0),
    file_limit: Number(row?.file_limit ?? 0),
    text_bytes: Number(row?.text_bytes ?? 0),
    text_limit: Number(row?.text_limit ?? 0),
  }
}

/** Bytes of files that a person may add. */
export const fileRoomOf = ({ file_bytes, file_limit }: OwnUsage): number =>
  file_limit === 0 ? Number.POSITIVE_INFINITY : Math.max(0, file_limit - file_bytes)

/** Runs as the service. @throws a database error that `toAppError` turns into `too_large` */
export async function requireFileRoom(scope: Scope, person: string): Promise<void> {
  await scope.query('select require_file_room($1)', [person])
}

/** In the library of a conversation. Runs as the service. @throws a database error that `toAppError` turns into `too_large` */
export async function requireTextRoom(scope: Scope, conversationId: string): Promise<void> {
  await scope.query('select require_room_for_answer($1)', [conversationId])
}
