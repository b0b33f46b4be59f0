import { randomUUID } from 'node:crypto'
import type { SpaceReceipt } from '#contract/space.ts'
import { AppError } from '#server/base/errors.ts'
import type { Scope } from '#server/database/scope.ts'

/** Runs as the person. @returns the receipt @throws AppError `not_found`, or `forbidden` for members who do not own it */
export async function deleteSpace(scope: Scope, id: string): Promise<SpaceReceipt> {
  const { rows } = await scope.query<{ name: string; removed: Record<string, number> }>(
    'select name, removed from delete_space($1)',
    [id],
  )
  const [deleted] = rows
  if (!deleted) throw new AppError('not_found', 'There is no such space.')
  return { id: randomUUID(), space: deleted.name, deleted_at: new Date().toISOString(), removed: deleted.removed }
}
