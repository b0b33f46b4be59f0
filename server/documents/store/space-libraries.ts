/** Libraries of spaces. Functions run as the person. */
import { AppError } from '#server/base/errors.ts'
import type { Scope } from '#server/database/scope.ts'

/** @throws AppError `not_found` for a space that the person is not in, `forbidden` for its readers and once it is archived */
export async function requireMayEdit(scope: Scope, spaceId: string): Promise<void> {
  const { rows } = await scope.query<{ may: boolean; is_archived: boolean }>(
    `select id = any (spaces_to('edit')) as may, archived_at is not null as is_archived from spaces where id = $1`,
    [spaceId],
  )
  const [space] = rows
  if (!space) throw new AppError('not_found', 'There is no such space.')
  if (space.may) return
  throw new AppError(
    'forbidden',
    space.is_archived
      ? 'This space is archived: nothing is added to it any more.'
      : 'Only owners and editors change the documents of this space.',
  )
}

/** As `requireMayEdit`, until the end of the transaction. Runs as the service. @throws AppError `forbidden` */
export async function holdMayEdit(scope: Scope, person: string, spaceId: string): Promise<void> {
  const { rows } = await scope.query<{ may: boolean }>(`select hold_space_right($1, $2, 'edit') as may`, [
    person,
    spaceId,
  ])
  if (rows[0]?.may !== true) throw new AppError('forbidden', 'You no longer change the documents of this space.')
}

/** Null: into the person's own library. @throws AppError `not_found`, `forbidden`, `conflict` where the same file is */
export async function moveDocument(scope: Scope, id: string, spaceId: string | null): Promise<void> {
  await scope.query('select move_document($1, $2)', [id, spaceId])
}

/** Null: into the person's own library. @returns the id of the copy @throws AppError as `moveDocument` */
export async function copyDocument(scope: Scope, id: string, spaceId: string | null): Promise<string> {
  const { rows } = await scope.query<{ id: string }>('select copy_document($1, $2) as id', [id, spaceId])
  return rows[0]?.id ?? ''
}
