import { deleteFullBuckets } from '#server/access/token-bucket.ts'
import type { Database } from '#server/database/scope.ts'
import type { AuthSettings } from './service.ts'
import { sessionIsIdle, sessionHasExpired } from './sessions.ts'
import { PENDING_DAYS, sweepSignupClaims } from './signup-claims.ts'

/** Sessions that each person keeps; the newest stay. */
const MAX_SESSIONS = 500
/** Per session; reuse of an older one is refused, but no longer ends the session. */
const MAX_REVOKED_TOKENS = 500

/** Buckets of made-up addresses are the fastest-growing rows of strangers, so they go every minute. */
export const sweepBuckets = (database: Database): Promise<void> => database.asAuth(deleteFullBuckets)

/** Removes rows without further use. Runs periodically. */
export async function sweepAuth(
  database: Database,
  { sessionDays, sessionIdleDays }: Pick<AuthSettings, 'sessionDays' | 'sessionIdleDays'>,
): Promise<void> {
  await database.asAuth(async (scope) => {
    await deleteFullBuckets(scope)
    await scope.query('delete from auth.one_time_tokens where expires_at < now()')
    await scope.query('delete from auth.earlier_links where expires_at < now()')
    await sweepSignupClaims(scope)
    await scope.query(`delete from auth.flow_state where created_at < now() - interval '2 days'`)
    await scope.query(`delete from auth.oauth_sign_ins where created_at < now() - interval '1 hour'`)
    await scope.query(`delete from auth.saml_sign_ins where created_at < now() - interval '1 hour'`)
    await scope.query('delete from auth.saml_assertions where ends_at < now()')
    await scope.query(
      `delete from auth.mfa_factors where status = 'unverified' and created_at < now() - interval '1 day'`,
    )
    await scope.query(`delete from auth.mfa_challenges where created_at < now() - interval '1 hour'`)
    await scope.query(`delete from auth.refresh_tokens where revoked and updated_at < now() - interval '30 days'`)
    await scope.query(
      `delete from auth.sessions s where ${sessionHasExpired({ days: '$1' })} or ${sessionIsIdle({ days: '$2' })}`,
      [sessionDays, sessionIdleDays],
    )
    await scope.query(
      `delete from auth.sessions s using (
         select id, row_number() over (partition by user_id order by created_at desc, id) as position from auth.sessions
       ) ranked where ranked.id = s.id and ranked.position > $1`,
      [MAX_SESSIONS],
    )
    await scope.query(
      `delete from auth.refresh_tokens t using (
         select id, row_number() over (partition by session_id order by id desc) as position
         from auth.refresh_tokens where revoked
       ) ranked where ranked.id = t.id and ranked.position > $1`,
      [MAX_REVOKED_TOKENS],
    )
  })
  await removeAbandonedAccounts(database)
}

/** Accounts of strangers: never confirmed, or anonymous without a session, to which nothing leads back. */
async function removeAbandonedAccounts(database: Database): Promise<void> {
  await database.asAuth(async (scope) => {
    await scope.query(
      `delete from auth.users u
       where u.email_confirmed_at is null and u.phone_confirmed_at is null and u.last_sign_in_at is null
         and u.invited_at is null and not u.is_anonymous and not u.is_sso_user
         and greatest(u.confirmation_sent_at, u.recovery_sent_at) < now() - make_interval(days => $1)
         and not exists (select from auth.one_time_tokens t where t.user_id = u.id)`,
      [PENDING_DAYS],
    )
    await scope.query(
      `delete from auth.users u where u.is_anonymous and u.created_at < now() - interval '1 day'
         and not exists (select from auth.sessions s where s.user_id = u.id)`,
    )
  })
}
