import type { Scope } from '#server/database/scope.ts'

type Changes = Readonly<Record<string, unknown>>

const removedBy = (changes: Changes): string[] => Object.keys(changes).filter((name) => changes[name] === null)

/** As the trigger `limit_user_metadata` of `auth.users`. @throws a database error that is answered with 413 */
export async function requireStorableMetadata(scope: Scope, metadata: Changes): Promise<void> {
  await scope.query('select auth.require_metadata_size($1)', [JSON.stringify(metadata)])
}

/** Merges `user` metadata (set by people) and `app` metadata (set by the operator). A null value removes its key. */
export async function mergeMetadata(
  scope: Scope,
  id: string,
  { user = {}, app = {} }: { user?: Changes; app?: Changes },
): Promise<void> {
  await scope.query(
    `update auth.users
     set raw_user_meta_data = (raw_user_meta_data || $2::jsonb) - $3::text[],
       raw_app_meta_data = (raw_app_meta_data || $4::jsonb) - $5::text[], updated_at = now()
     where id = $1`,
    [id, JSON.stringify(user), removedBy(user), JSON.stringify(app), removedBy(app)],
  )
}
