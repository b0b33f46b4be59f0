import { deleteFullBuckets } from '#server/access/token-bucket.ts'
import { deleteInBatches, inBatch } from '#server/database/batches.ts'
import type { Database } from '#server/database/scope.ts'
import type { AuthSettings } from './service.ts'
import { sessionIsIdle, sessionHasExpired } from './sessions.ts'
import { PENDING_DAYS } from './signup-claims.ts'

/** Sessions that each person keeps; the newest stay. */
const MAX_SESSIONS = 500
/** Per session; reuse of an older one is refused, but no longer ends the session. */
const MAX_REVOKED_TOKENS = 500
/** Days after its last mail in which an account is removed whose invitation was never accepted. */
const INVITATION_DAYS = 30
/** Unaccepted invitations per sweep: for each, every table that refers to accounts is searched. */
const MAX_INVITATIONS = 200

/** Rows whose time is over. */
const EXPIRED = [
  `delete from auth.one_time_tokens where ${inBatch('auth.one_time_tokens where expires_at < now()')}`,
  `delete from auth.earlier_links where ${inBatch('auth.earlier_links where expires_at < now()')}`,
  `delete from auth.signup_claims where ${inBatch('auth.signup_claims where expires_at < now()')}`,
  `delete from auth.flow_state where ${inBatch(`auth.flow_state where created_at < now() - interval '2 days'`)}`,
  `delete from auth.oauth_sign_ins where ${inBatch(`auth.oauth_sign_ins where created_at < now() - interval '1 hour'`)}`,
  `delete from auth.saml_sign_ins where ${inBatch(`auth.saml_sign_ins where created_at < now() - interval '1 hour'`)}`,
  `delete from auth.saml_assertions where ${inBatch('auth.saml_assertions where ends_at < now()')}`,
  `delete from auth.mfa_factors
   where ${inBatch(`auth.mfa_factors where status = 'unverified' and created_at < now() - interval '1 day'`)}`,
  `delete from auth.mfa_challenges where ${inBatch(`auth.mfa_challenges where created_at < now() - interval '1 hour'`)}`,
  `delete from auth.refresh_tokens
   where ${inBatch(`auth.refresh_tokens where revoked and updated_at < now() - interval '30 days'`)}`,
  // Every link in a mail is over by then.
  `delete from auth.local_mails where ${inBatch(`auth.local_mails where sent_at < now() - interval '30 days'`)}`,
]

const OVER_SESSIONS = `
  delete from auth.sessions
  where ${inBatch(`auth.sessions s where ${sessionHasExpired({ days: '$1' })} or ${sessionIsIdle({ days: '$2' })}`)}`

const SURPLUS_SESSIONS = `
  delete from auth.sessions where ${inBatch(`(
    select old.ctid from (select user_id from auth.sessions group by user_id having count(*) > $1) crowded
    cross join lateral (
      select s.ctid from auth.sessions s where s.user_id = crowded.user_id order by s.created_at desc, s.id offset $1
    ) old
  ) surplus`)}`

const SURPLUS_TOKENS = `
  delete from auth.refresh_tokens where ${inBatch(`(
    select old.ctid from (
      select session_id from auth.refresh_tokens where revoked group by session_id having count(*) > $1
    ) crowded
    cross join lateral (
      select t.ctid from auth.refresh_tokens t where t.session_id = crowded.session_id and t.revoked order by t.id desc offset $1
    ) old
  ) surplus`)}`

/** Never used, and no valid link leads to it. */
const IS_UNCONFIRMED = `u.email_confirmed_at is null and u.phone_confirmed_at is null and u.last_sign_in_at is null
      and not u.is_anonymous and not u.is_sso_user
      and not exists (select from auth.one_time_tokens t where t.user_id = u.id)`

/** Accounts of strangers: never confirmed, or anonymous without a session, to which nothing leads back. */
const PENDING_ACCOUNTS = `
  delete from auth.users where ${inBatch(`auth.users u
    where ${IS_UNCONFIRMED} and u.invited_at is null
      and greatest(u.confirmation_sent_at, u.recovery_sent_at) < now() - make_interval(days => $1)`)}`

const LAST_MAIL_OR_LOOK = 'greatest(u.invited_at, u.confirmation_sent_at, u.recovery_sent_at, u.owned_rows_at)'

/**
 * A disabled account stays: the operator keeps its address out. An account that owns rows stays as if it had had a mail just
 * now: it is looked at again after the same time, and those behind it have their turn.
 */
const UNACCEPTED_INVITATIONS = `
  with oldest as materialized (
    select u.ctid as place, u.id from auth.users u
    where ${IS_UNCONFIRMED} and u.deleted_at is null and coalesce(u.banned_until < now(), true)
      and ${LAST_MAIL_OR_LOOK} < now() - make_interval(days => $1)
      and u.invited_at is not null
      and not exists (select from auth.identities i where i.user_id = u.id and i.provider <> 'email')
      and not exists (select from auth.sessions s where s.user_id = u.id)
    order by ${LAST_MAIL_OR_LOOK} limit $2
  ),
  seen as materialized (select place, auth.owns_rows(id) as is_owner from oldest),
  stays as (
    update auth.users set owned_rows_at = now() where ctid = any (array(select place from seen where is_owner))
  )
  delete from auth.users where ctid = any (array(select place from seen where not is_owner))`

const ANONYMOUS_ACCOUNTS = `
  delete from auth.users where ${inBatch(`auth.users u
    where u.is_anonymous and u.created_at < now() - interval '1 day'
      and not exists (select from auth.sessions s where s.user_id = u.id)`)}`

/** Buckets of made-up addresses are the fastest-growing rows of strangers, so they go every minute. */
export const sweepBuckets = (database: Database): Promise<void> => database.asAuth(deleteFullBuckets)

/** Removes rows without further use. Runs periodically. */
export async function sweepAuth(
  database: Database,
  { sessionDays, sessionIdleDays }: Pick<AuthSettings, 'sessionDays' | 'sessionIdleDays'>,
): Promise<void> {
  const sweep = (statement: string, values: readonly unknown[] = []) =>
    deleteInBatches(() => database.asAuth((scope) => scope.query(statement, values)))
  await sweepBuckets(database)
  for (const statement of EXPIRED) await sweep(statement)
  await sweep(OVER_SESSIONS, [sessionDays, sessionIdleDays])
  await sweep(SURPLUS_SESSIONS, [MAX_SESSIONS])
  await sweep(SURPLUS_TOKENS, [MAX_REVOKED_TOKENS])
  await sweep(PENDING_ACCOUNTS, [PENDING_DAYS])
  await sweep(ANONYMOUS_ACCOUNTS)
  await database.asAuth((scope) => scope.query(UNACCEPTED_INVITATIONS, [INVITATION_DAYS, MAX_INVITATIONS]))
}
