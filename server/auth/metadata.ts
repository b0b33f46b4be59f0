import type { Scope } from '#server/database/scope.ts'
import { AuthError } from './errors.ts'

type Changes = Readonly<Record<string, unknown>>

const removedBy = (changes: Changes): string[] => Object.keys(changes).filter((name) => changes[name] === null)

/** As one request may send; without it, repeated requests would add up. */
const MAX_METADATA_BYTES = 1024 * 1024

/**
 * Merges `user` metadata (set by people) and `app` metadata (set by the operator). A null value removes its key.
 * @throws AuthError `request_entity_too_large`
 */
export async function mergeMetadata(
  scope: Scope,
  id: string,
  { user = {}, app = {} }: { user?: Changes; app?: Changes },
): Promise<void> {
  const { rows } = await scope.query<{ bytes: number }>(
    `update auth.users
     set raw_user_meta_data = (raw_user_meta_data || $2::jsonb) - $3::text[],
       raw_app_meta_data = (raw_app_meta_data || $4::jsonb) - $5::text[], updated_at = now()
     where id = $1
     returning greatest(octet_length(raw_user_meta_data::text), octet_length(raw_app_meta_data::text)) as bytes`,
    [id, JSON.stringify(user), removedBy(user), JSON.stringify(app), removedBy(app)],
  )
  if ((rows[0]?.bytes ?? 0) > MAX_METADATA_BYTES)
    throw new AuthError('request_entity_too_large', 'The metadata of an account may take at most 1 MB')
}
