/** Chooses an account by the provider's subject, else by a verified address, never by an unverified one. */
import { randomUUID } from 'node:crypto'
import type { Scope } from '#server/database/scope.ts'
import {
  type Account,
  confirmEmail,
  findAccountByEmail,
  requireUsable,
  lockAccount,
  requireAccount,
  updateProviderList,
} from './accounts.ts'
import { AuthError } from './errors.ts'
import { voidCodes } from './one-time-codes.ts'
import { dropAccess } from './pending-accounts.ts'
import type { Profile, Provider } from './providers/provider.ts'
import { isEmail, normaliseEmail } from './request.ts'
import type { AuthSettings } from './service.ts'

export interface ProviderSignIn {
  readonly provider: Pick<Provider, 'name' | 'label'>
  readonly profile: Profile
}

const identityData = ({ profile }: ProviderSignIn, email: string) => ({
  ...profile.details,
  email,
  email_verified: profile.isEmailVerified,
  phone_verified: false,
  provider_id: profile.subject,
  sub: profile.subject,
})

/** @throws AuthError `provider_email_needs_verification`, `signup_disabled`, `email_exists`, `user_banned`. */
export async function findOrCreateAccount(
  scope: Scope,
  providerSignIn: ProviderSignIn,
  settings: AuthSettings,
): Promise<Account> {
  const id =
    (await findByIdentity(scope, providerSignIn)) ?? (await findOrCreateByEmail(scope, providerSignIn, settings))
  const account = await requireAccount(scope, id)
  requireUsable(account)
  await scope.query('update auth.users set last_sign_in_at = now() where id = $1', [id])
  return requireAccount(scope, id)
}

export async function linkAccount(scope: Scope, providerSignIn: ProviderSignIn, userId: string): Promise<Account> {
  await lockAccount(scope, userId)
  const account = await requireAccount(scope, userId)
  requireUsable(account)
  if (account.is_sso_user) {
    // A linked provider would remain valid after the person leaves the company.
    throw new AuthError('user_sso_managed', 'A SSO account is only signed in to via SSO')
  }
  const owner = await findByIdentity(scope, providerSignIn)
  if (owner !== undefined) {
    const whom = owner === userId ? '' : ' to another user'
    throw new AuthError('identity_already_exists', `Identity is already linked${whom}`)
  }
  await insertIdentity(scope, providerSignIn, userId)
  return requireAccount(scope, userId)
}

async function findByIdentity(scope: Scope, providerSignIn: ProviderSignIn): Promise<string | undefined> {
  const found = await scope.query<{ user_id: string }>(
    `update auth.identities set identity_data = identity_data || $3, last_sign_in_at = now(), updated_at = now()
     where provider = $1 and provider_id = $2 returning user_id`,
    [
      providerSignIn.provider.name,
      providerSignIn.profile.subject,
      identityData(providerSignIn, normaliseEmail(providerSignIn.profile.email ?? '')),
    ],
  )
  return found.rows[0]?.user_id
}

function requireVerifiedEmail({ profile, provider }: ProviderSignIn): string {
  const email = normaliseEmail(profile.email ?? '')
  if (isEmail(email) && profile.isEmailVerified) return email
  const message = `${provider.label} does not vouch for an e-mail address of yours. Verify it there, then sign in again.`
  throw new AuthError('provider_email_needs_verification', message)
}

async function findOrCreateByEmail(
  scope: Scope,
  providerSignIn: ProviderSignIn,
  settings: AuthSettings,
): Promise<string> {
  const email = requireVerifiedEmail(providerSignIn)
  const holder = await findAccountByEmail(scope, email)
  if (holder === undefined) return createFromProfile(scope, providerSignIn, email, settings)
  await lockAccount(scope, holder.id)
  const account = await requireAccount(scope, holder.id)
  // AUTH_AUTOCONFIRM does not prove ownership of the address; its owner can sign in and link the provider.
  if (account.email_assumed) {
    throw new AuthError('email_exists', 'A user with this email address has already been registered')
  }
  if (account.email_confirmed_at === null) await claimUnconfirmedAccount(scope, providerSignIn, account)
  await insertIdentity(scope, providerSignIn, account.id)
  return account.id
}

/** Removes everything that a stranger may have prepared in the account. */
async function claimUnconfirmedAccount(
  scope: Scope,
  providerSignIn: ProviderSignIn,
  { id, email, confirmed_at }: Account,
): Promise<void> {
  if (confirmed_at !== null) {
    // The account belongs to another person who has not confirmed the address.
    throw new AuthError('email_exists', 'A user with this email address has already been registered')
  }
  await voidCodes(scope, id)
  await dropAccess(scope, id)
  await scope.query('delete from auth.identities where user_id = $1', [id])
  await scope.query(
    `update auth.users set encrypted_password = null, email_change = '', phone_change = '', raw_user_meta_data = $2,
       raw_app_meta_data = raw_app_meta_data - 'needs_password'
     where id = $1`,
    [id, identityData(providerSignIn, email ?? '')],
  )
  await confirmEmail(scope, id)
}

async function createFromProfile(
  scope: Scope,
  providerSignIn: ProviderSignIn,
  email: string,
  { signup }: AuthSettings,
): Promise<string> {
  if (signup !== 'open') throw new AuthError('signup_disabled', 'Signups not allowed for this instance')
  const id = randomUUID()
  const made = await scope.query(
    `insert into auth.users (id, email, email_confirmed_at, raw_user_meta_data) values ($1, $2, now(), $3)
     on conflict (lower(email)) where is_sso_user = false do nothing`,
    [id, email, identityData(providerSignIn, email)],
  )
  if (made.rowCount !== 1) {
    throw new AuthError('email_exists', 'A user with this email address has already been registered')
  }
  await insertIdentity(scope, providerSignIn, id)
  return id
}

async function insertIdentity(scope: Scope, providerSignIn: ProviderSignIn, userId: string): Promise<void> {
  const email = normaliseEmail(providerSignIn.profile.email ?? '')
  await scope.query(
    `insert into auth.identities (provider_id, user_id, identity_data, provider, last_sign_in_at)
     values ($1, $2, $3, $4, now())`,
    [providerSignIn.profile.subject, userId, identityData(providerSignIn, email), providerSignIn.provider.name],
  )
  await updateProviderList(scope, userId)
}
