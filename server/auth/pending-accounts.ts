/**
 * Accounts whose address is not confirmed yet. Anybody may have asked for them, so what different requests claim (a
 * password, metadata) counts only if all of them claim the same. Otherwise confirming the address sets none of it, and
 * `app_metadata.needs_password` makes the page ask for a new password.
 */
import { randomUUID } from 'node:crypto'
import type { Scope } from '#server/database/scope.ts'
import { listProviders, metadataOf, type NewAccount } from './accounts.ts'
import { requireStorableMetadata } from './metadata.ts'

const UNCONFIRMED = 'u.email_confirmed_at is null and u.phone_confirmed_at is null'

/** SQL condition on `auth.users u`: a mail that can still confirm the address is on its way. */
const HAS_LIVE_LINK = `(
  exists (select from auth.one_time_tokens o where o.user_id = u.id and o.expires_at > now()
    and o.token_type in ('confirmation_token', 'recovery_token'))
  or exists (select from auth.earlier_links e where e.user_id = u.id and e.expires_at > now())
)`

/** SQL condition: another account than `id` waits for a confirmation of `email` as its new address. */
const hasRival = ({ email, id }: { email: string; id: string }): string => `exists (
  select from auth.users r join auth.one_time_tokens o on o.user_id = r.id
  where r.email_change = ${email} and r.id <> ${id} and o.token_type = 'email_change_token_new' and o.expires_at > now()
)`

export interface AddressClaim extends NewAccount {
  /** The stored hash that the password of this claim was verified against; null if it is another password. */
  readonly provenHash: string | null
}

/** The stored password hash of an unconfirmed account; null without one. */
export async function findPendingHash(scope: Scope, email: string): Promise<string | null> {
  const found = await scope.query<{ hash: string | null }>(
    `select encrypted_password as hash from auth.users u where lower(email) = $1 and not is_sso_user and ${UNCONFIRMED}`,
    [email],
  )
  return found.rows[0]?.hash ?? null
}

interface Pending {
  readonly id: string
  readonly is_new: boolean
  readonly encrypted_password: string | null
  readonly self_registered: boolean
  readonly has_equal_data: boolean
  readonly needs_password: boolean
  readonly is_live: boolean
  readonly has_rival: boolean
}

/** Locks the unconfirmed account at an address; creates it unless `isExistingOnly`. */
async function lockPending(
  scope: Scope,
  { email, data }: NewAccount,
  isExistingOnly: boolean,
): Promise<Pending | undefined> {
  const id = randomUUID()
  if (!isExistingOnly) {
    await scope.query(
      `insert into auth.users (id, email, raw_app_meta_data, raw_user_meta_data, self_registered)
       values ($1, $2, '{"provider": "email", "providers": ["email"]}', $3, true)
       on conflict (lower(email)) where is_sso_user = false do nothing`,
      [id, email, metadataOf(id, { email, data })],
    )
  }
  const found = await scope.query<Pending>(
    `select u.id, u.id = $2 as is_new, u.encrypted_password, u.self_registered,
       u.raw_user_meta_data - '{sub,email,email_verified,phone_verified}'::text[]
         = $3::jsonb - '{sub,email,email_verified,phone_verified}'::text[] as has_equal_data,
       u.raw_app_meta_data ? 'needs_password' as needs_password,
       ${HAS_LIVE_LINK} as is_live, ${hasRival({ email: '$1', id: 'u.id' })} as has_rival
     from auth.users u where lower(u.email) = $1 and not u.is_sso_user and ${UNCONFIRMED}
     for no key update of u`,
    [email, id, JSON.stringify(data)],
  )
  return found.rows[0]
}

type Outcome = 'accepted' | 'contested' | 'kept'

function decide(pending: Pending, { passwordHash, provenHash }: AddressClaim): Outcome {
  const isEqualPassword =
    passwordHash === null
      ? pending.encrypted_password === null && !pending.needs_password
      : provenHash !== null && provenHash === pending.encrypted_password
  if (!pending.self_registered) return passwordHash === null || isEqualPassword ? 'kept' : 'contested'
  if (pending.has_rival) return 'contested'
  if (pending.is_new || !pending.is_live) return 'accepted'
  if (!isEqualPassword) return 'contested'
  // A person who knows the password may change the metadata; without a password, metadata of two requests cannot be told apart.
  return passwordHash !== null || pending.has_equal_data ? 'accepted' : 'contested'
}

/**
 * Records that a request without proof asks for an unconfirmed account: a sign-up, a magic link or a recovery. Creates the
 * account unless `isExistingOnly`. Runs equal statements for an address that has a confirmed account.
 * @returns its id; undefined if the address has a confirmed account, or none and `isExistingOnly`
 */
export async function claimAddress(
  scope: Scope,
  claim: AddressClaim,
  { isExistingOnly = false } = {},
): Promise<string | undefined> {
  // Before the account is looked for, so that the answer does not tell whether there is one.
  await requireStorableMetadata(scope, metadataOf(randomUUID(), claim))
  const pending = await lockPending(scope, claim, isExistingOnly)
  const id = pending?.id ?? randomUUID()
  const outcome = pending === undefined ? 'kept' : decide(pending, claim)
  const isContested = outcome === 'contested'
  const hadPassword = (pending?.encrypted_password ?? null) !== null || pending?.needs_password === true
  const needsPassword = claim.passwordHash === null ? outcome !== 'kept' && hadPassword : isContested
  const keepsFlag = outcome === 'kept' && pending?.needs_password === true
  const keepsMetadata = outcome === 'kept' || pending?.self_registered === false
  const data = isContested ? {} : claim.data
  const metadata = metadataOf(id, { email: claim.email, data })
  await scope.query(
    `update auth.users
     set encrypted_password = case $2 when 'kept' then encrypted_password when 'contested' then null else $3 end,
       raw_app_meta_data = case when $4 then raw_app_meta_data || '{"needs_password": true}' else raw_app_meta_data - 'needs_password' end,
       raw_user_meta_data = case when $5 then raw_user_meta_data else $6 end, updated_at = now()
     where id = $1`,
    [id, outcome, claim.passwordHash, needsPassword || keepsFlag, keepsMetadata, metadata],
  )
  await scope.query(
    `insert into auth.identities (provider_id, user_id, identity_data, provider, last_sign_in_at)
     select $1::text, u.id, $2, 'email', now() from auth.users u where u.id = $1::uuid
     on conflict (provider_id, provider) do update
     set identity_data = case when $3 then auth.identities.identity_data else excluded.identity_data end, updated_at = now()`,
    [id, metadata, keepsMetadata],
  )
  return pending?.id
}

/** Whether sign-up without confirmation mails may take the account over: no other person waits for its confirmation. */
export async function isFreeForSignUp(scope: Scope, { email, provenHash }: AddressClaim): Promise<boolean> {
  const found = await scope.query<{ is_free: boolean }>(
    `select ${UNCONFIRMED} and u.self_registered
       and (not ${HAS_LIVE_LINK} or coalesce(u.encrypted_password = $2, false)) as is_free
     from auth.users u where lower(u.email) = $1 and not u.is_sso_user`,
    [email, provenHash],
  )
  return found.rows.every(({ is_free }) => is_free)
}

/**
 * Creates an unconfirmed account with the operator's key, or replaces all claims to one; undefined if a confirmed account
 * has the address. Its `user_metadata` contains only the operator's data.
 */
export async function createAccountForOperator(
  scope: Scope,
  { email, passwordHash, data }: NewAccount,
): Promise<string | undefined> {
  const made = await scope.query<{ id: string }>(
    `insert into auth.users as u (id, email, encrypted_password, raw_app_meta_data, raw_user_meta_data)
     values ($1, $2, $3, '{"provider": "email", "providers": ["email"]}', $4)
     on conflict (lower(email)) where is_sso_user = false do update
     set encrypted_password = excluded.encrypted_password, raw_user_meta_data = excluded.raw_user_meta_data,
       raw_app_meta_data = u.raw_app_meta_data - 'needs_password', self_registered = false, updated_at = now()
     where ${UNCONFIRMED}
     returning u.id`,
    [randomUUID(), email, passwordHash, data],
  )
  const id = made.rows[0]?.id
  if (id === undefined) return undefined
  await scope.query(`delete from auth.one_time_tokens where user_id = $1 and token_type = 'confirmation_token'`, [id])
  await scope.query('delete from auth.earlier_links where user_id = $1', [id])
  await scope.query(
    `insert into auth.identities (provider_id, user_id, identity_data, provider, last_sign_in_at)
     values ($1::text, $1::uuid, $2, 'email', now())
     on conflict (provider_id, provider) do update set identity_data = excluded.identity_data, updated_at = now()`,
    [id, metadataOf(id, { email, data })],
  )
  return id
}

/** A change of another account to this address contests a self-registered account that waits for its confirmation. */
export async function contestPendingAccount(scope: Scope, email: string): Promise<void> {
  await scope.query(
    `update auth.users u
     set encrypted_password = null, raw_app_meta_data = raw_app_meta_data || '{"needs_password": true}', updated_at = now()
     where lower(u.email) = $1 and not u.is_sso_user and u.self_registered and ${UNCONFIRMED}
       and u.encrypted_password is not null`,
    [email],
  )
}

/** Whether a sign-up or another account also waits for a confirmation of this address. */
export async function isContested(scope: Scope, { id, email }: { id: string; email: string }): Promise<boolean> {
  const found = await scope.query<{ is_contested: boolean }>(
    `select ${hasRival({ email: '$1', id: '$2' })} or exists (
       select from auth.users u where lower(u.email) = $1 and u.id <> $2 and not u.is_sso_user and u.self_registered
         and ${UNCONFIRMED} and ${HAS_LIVE_LINK}
     ) as is_contested`,
    [email, id],
  )
  return found.rows[0]?.is_contested === true
}

/**
 * Ends every access that was prepared before the owner of the address confirmed it: sessions, the password, and linked
 * providers. Second factors of a confirmed account stay; `removesFactors` removes them too.
 */
export async function dropAccess(
  scope: Scope,
  id: string,
  { removesFactors }: { removesFactors: boolean },
): Promise<void> {
  await scope.query('delete from auth.sessions where user_id = $1', [id])
  if (removesFactors) await scope.query('delete from auth.mfa_factors where user_id = $1', [id])
  await scope.query(`delete from auth.identities where user_id = $1 and provider <> 'email'`, [id])
  await listProviders(scope, id)
}

/** Replaces a password that a stranger may have set by the request to choose one. */
export async function requireNewPassword(scope: Scope, id: string): Promise<void> {
  await scope.query(
    `update auth.users set encrypted_password = null, raw_app_meta_data = raw_app_meta_data || '{"needs_password": true}'
     where id = $1 and encrypted_password is not null`,
    [id],
  )
}

const CLAIM_LIFETIME = '30 days'

/** Replaces the claim of an earlier sign-up with this address, whether it has an account or not. */
export async function storeSignupClaim(scope: Scope, email: string, passwordHash: string): Promise<void> {
  await scope.query(
    `insert into auth.signup_claims (email, password_hash, expires_at) values ($1, $2, now() + $3::interval)
     on conflict (email) do update set password_hash = excluded.password_hash, expires_at = excluded.expires_at`,
    [email, passwordHash, CLAIM_LIFETIME],
  )
}

export async function deleteSignupClaim(scope: Scope, id: string): Promise<void> {
  await scope.query(
    'delete from auth.signup_claims where email = (select lower(u.email) from auth.users u where u.id = $1)',
    [id],
  )
}

/** Ends claims after their time, with the passwords of the accounts that were never confirmed. */
export async function sweepSignupClaims(scope: Scope): Promise<void> {
  await scope.query('delete from auth.signup_claims where expires_at < now()')
  await scope.query(
    `update auth.users u
     set encrypted_password = null, raw_app_meta_data = raw_app_meta_data || '{"needs_password": true}'
     where u.self_registered and ${UNCONFIRMED} and u.encrypted_password is not null
       and u.created_at < now() - $1::interval
       and not exists (select from auth.signup_claims c where c.email = lower(u.email)) and not ${HAS_LIVE_LINK}`,
    [CLAIM_LIFETIME],
  )
}
