/** Triggers count each person's bytes and enforce the quotas; see migration `product/0046_quotas.sql`. */
import type { OwnUsage } from '#contract/usage.ts'
import type { Database, Scope } from './scope.ts'

/** 0: no limit. Questions, tokens and pages are of a day, costs of a month and in millionths of a dollar. */
export interface Quotas {
  readonly fileBytesPerPerson: number
  readonly textBytesPerPerson: number
  readonly totalBytes: number
  readonly questionsPerPerson: number
  readonly questionsTotal: number
  readonly tokensPerPerson: number
  readonly tokensTotal: number
  readonly costPerPerson: number
  readonly costTotal: number
  readonly pagesPerPerson: number
  readonly pagesTotal: number
}

const COLUMNS: Readonly<Record<keyof Quotas, string>> = {
  fileBytesPerPerson: 'file_bytes_per_person',
  textBytesPerPerson: 'text_bytes_per_person',
  totalBytes: 'total_bytes',
  questionsPerPerson: 'questions_per_person',
  questionsTotal: 'questions_total',
  tokensPerPerson: 'tokens_per_person',
  tokensTotal: 'tokens_total',
  costPerPerson: 'cost_per_person',
  costTotal: 'cost_total',
  pagesPerPerson: 'pages_per_person',
  pagesTotal: 'pages_total',
}

/** Settings of a transaction of the service that writes for a person, who is then held to the quotas. */
export const ENFORCE_QUOTAS = { 'alcove.enforces_quotas': 'on' }

/** Limits that are not named stay as they are. */
export const setQuotas = (database: Database, quotas: Partial<Quotas>): Promise<void> =>
  database.asService((scope) => storeQuotas(scope, quotas))

/** Runs as the service. */
export async function storeQuotas(scope: Scope, quotas: Partial<Quotas>): Promise<void> {
  const named = (Object.keys(COLUMNS) as (keyof Quotas)[]).filter((name) => quotas[name] !== undefined)
  const changes = named.map((name, index) => ({ column: COLUMNS[name], parameter: `$${index + 1}` }))
  await scope.query(
    `update quotas set ${changes.map(({ column, parameter }) => `${column} = ${parameter}`).join()}
     where ${changes.map(({ column, parameter }) => `${column} <> ${parameter}`).join(' or ')}`,
    named.map((name) => quotas[name]),
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

/** For pages of a document that are to be recognised. Runs as the service. @throws a database error that `toAppError` turns into `rate_limited` */
export async function requirePageRoom(scope: Scope, documentId: string, pages: number): Promise<void> {
  await scope.query('select require_page_room($1, $2)', [documentId, pages])
}

/** In the library of a conversation. Runs as the service. @throws a database error that `toAppError` turns into `too_large` */
export async function requireTextRoom(scope: Scope, conversationId: string): Promise<void> {
  await scope.query('select require_room_for_answer($1)', [conversationId])
}
