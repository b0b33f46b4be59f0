/**
 * Accounts whose address is not confirmed yet. Anybody may have asked for them, so what different requests claim (a
 * password, metadata) counts only if all of them claim the same. Otherwise confirming the address sets none of it, and
 * `app_metadata.needs_password` makes the page ask for a new password.
 */
import { randomUUID } from 'node:crypto'
import type { Scope } from '#server/database/scope.ts'
import { metadataOf, type NewAccount, updateProviderList } from './accounts.ts'
import { requireStorableMetadata } from './metadata.ts'
import { PENDING_DAYS } from './signup-claims.ts'

const UNCONFIRMED = 'u.email_confirmed_at is null and u.phone_confirmed_at is null'

/** SQL condition: another account than `id` asked for `email` as its new address, even if the links have ended. */
const isAwaitedByOther = ({ email, id }: { email: string; id: string }): string => `exists (
  select from auth.users r where r.email_change = ${email} and r.id <> ${id}
    and r.email_change_sent_at > now() - make_interval(days => ${PENDING_DAYS})
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
  readonly is_awaited: boolean
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
       ${isAwaitedByOther({ email: '$1', id: 'u.id' })} as is_awaited
     from auth.users u where lower(u.email) = $1 and not u.is_sso_user and ${UNCONFIRMED}
     for no key update of u`,
    [email, id, JSON.stringify(data)],
  )
  return found.rows[0]
}

/** Changes that a claim makes: `claimed` takes its own value, `removed` leaves none. */
interface Decision {
  readonly password: 'kept' | 'claimed' | 'removed'
  readonly metadata: 'kept' | 'claimed' | 'removed'
  readonly needsPassword: boolean
}

const UNCHANGED: Decision = { password: 'kept', metadata: 'kept', needsPassword: false }

function decide(pending: Pending, { passwordHash, provenHash }: AddressClaim): Decision {
  const { encrypted_password: stored, needs_password: wasAsked } = pending
  if (!pending.self_registered) {
    return { ...UNCHANGED, needsPassword: wasAsked || (passwordHash !== null && stored === null) }
  }
  // A person who knows the password may change the metadata; without a password, metadata of two requests cannot be told apart.
  const isSame =
    passwordHash === null
      ? stored === null && !wasAsked && pending.has_equal_data
      : provenHash !== null && provenHash === stored
  // An ended link proves nothing: its owner may follow it too late, and the next mail of a stranger then.
  if ((pending.is_new || isSame) && !pending.is_awaited) {
    return { password: 'claimed', metadata: 'claimed', needsPassword: false }
  }
  const needsPassword = passwordHash !== null || stored !== null || wasAsked
  return { password: 'removed', metadata: 'removed', needsPassword }
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
  const decision = pending === undefined ? UNCHANGED : decide(pending, claim)
  const keepsMetadata = decision.metadata === 'kept'
  const data = decision.metadata === 'claimed' ? claim.data : {}
  const metadata = metadataOf(id, { email: claim.email, data })
  await scope.query(
    `update auth.users
     set encrypted_password = case $2 when 'kept' then encrypted_password when 'claimed' then $3 end,
       raw_app_meta_data = case when $4 then raw_app_meta_data || '{"needs_password": true}' else raw_app_meta_data - 'needs_password' end,
       raw_user_meta_data = case when $5 then raw_user_meta_data else $6 end, updated_at = now()
     where id = $1`,
    [id, decision.password, claim.passwordHash, decision.needsPassword, keepsMetadata, metadata],
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

/** Whether an address may be taken without a confirmation mail: no account has it, or a pending one with this password. */
export async function isFreeForSignUp(
  scope: Scope,
  { email, provenHash }: Pick<AddressClaim, 'email' | 'provenHash'>,
): Promise<boolean> {
  const found = await scope.query<{ is_free: boolean }>(
    `select ${UNCONFIRMED} and u.self_registered and coalesce(u.encrypted_password = $2, false) as is_free
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

/** Whether another account has this address, confirmed or not, or waits for a confirmation of it. */
export async function isContested(scope: Scope, { id, email }: { id: string; email: string }): Promise<boolean> {
  const found = await scope.query<{ is_contested: boolean }>(
    `select ${isAwaitedByOther({ email: '$1', id: '$2' })} or exists (
       select from auth.users u where lower(u.email) = $1 and u.id <> $2 and not u.is_sso_user
     ) as is_contested`,
    [email, id],
  )
  return found.rows[0]?.is_contested === true
}

/** Deletes a pending sign-up with an address that the operator gives to account `id`. */
export async function deletePendingSignUp(scope: Scope, { id, email }: { id: string; email: string }): Promise<void> {
  await scope.query(
    `delete from auth.users u
     where lower(u.email) = $1 and u.id <> $2 and not u.is_sso_user and u.self_registered and ${UNCONFIRMED}`,
    [email, id],
  )
}

/**
 * Ends every access that was prepared before the owner of the address confirmed it: sessions, second factors and linked
 * providers. The password stays: see `requireNewPassword`.
 */
export async function dropAccess(scope: Scope, id: string): Promise<void> {
  await scope.query('delete from auth.sessions where user_id = $1', [id])
  await scope.query('delete from auth.mfa_factors where user_id = $1', [id])
  await scope.query(`delete from auth.identities where user_id = $1 and provider <> 'email'`, [id])
  await updateProviderList(scope, id)
}

/** Replaces a password that a stranger may have set by the request to choose one. */
export async function requireNewPassword(scope: Scope, id: string): Promise<void> {
  await scope.query(
    `update auth.users set encrypted_password = null, raw_app_meta_data = raw_app_meta_data || '{"needs_password": true}'
     where id = $1 and encrypted_password is not null`,
    [id],
  )
}
