import { deleteFullBuckets } from '#server/access/token-bucket.ts'
import type { Database } from '#server/database/scope.ts'
import type { AuthSettings } from './service.ts'
import { sessionIsIdle, sessionHasExpired } from './sessions.ts'

/** Removes rows without further use. Runs periodically. */
export async function sweepAuth(
  database: Database,
  { sessionDays, sessionIdleDays }: Pick<AuthSettings, 'sessionDays' | 'sessionIdleDays'>,
): Promise<void> {
  await database.asAuth(async (scope) => {
    await deleteFullBuckets(scope)
    await scope.query('delete from auth.one_time_tokens where expires_at < now()')
    await scope.query(`delete from auth.flow_state where created_at < now() - interval '2 days'`)
    await scope.query(`delete from auth.oauth_sign_ins where created_at < now() - interval '1 hour'`)
    await scope.query(`delete from auth.saml_sign_ins where created_at < now() - interval '1 hour'`)
    await scope.query('delete from auth.saml_assertions where ends_at < now()')
    await scope.query(
      `delete from auth.mfa_factors where status = 'unverified' and created_at < now() - interval '1 day'`,
    )
    await scope.query(`delete from auth.mfa_challenges where created_at < now() - interval '1 day'`)
    await scope.query(`delete from auth.refresh_tokens where revoked and updated_at < now() - interval '30 days'`)
    await scope.query(
      `delete from auth.sessions s where ${sessionHasExpired({ days: '$1' })} or ${sessionIsIdle({ days: '$2' })}`,
      [sessionDays, sessionIdleDays],
    )
  })
}
