import { type Scope } from '#server/database/scope.ts'

/**
 * The documents that are searched now in place of the given ones: of each series the newest version that has been read.
 * An id that is nobody's, or not this person's, stays as it is and finds nothing. Each once.
 */
export async function newestVersions(scope: Scope, documentIds: readonly string[]): Promise<string[]> {
  const { rows } = await scope.query<{ id: string }>(
    `select distinct coalesce(
       (select newest.id from documents chosen join documents newest using (series)
        where chosen.id = given.id and newest.superseded_at is null
        order by newest.state = 'ready' desc, newest.version desc limit 1),
       given.id) as id
     from unnest($1::uuid[]) as given (id)`,
    [documentIds],
  )
  return rows.map(({ id }) => id)
}
