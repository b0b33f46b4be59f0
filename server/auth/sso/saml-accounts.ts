/** Chooses an account only by the provider's subject: accounts with an equal address stay separate. */
import { randomUUID } from 'node:crypto'
import { type Account, requireUsable, requireAccount, updateProviderList } from '#server/auth/accounts.ts'
import { AuthError } from '#server/auth/errors.ts'
import { isEmail, normaliseEmail } from '#server/auth/request.ts'
import type { SamlResult, SamlProviderSettings } from '#server/auth/saml/provider.ts'
import type { AuthSettings } from '#server/auth/service.ts'
import type { Scope } from '#server/database/scope.ts'

export const providerNameOf = ({ id }: Pick<SamlProviderSettings, 'id'>): string => `sso:${id}`

/** A company vouches for addresses of its own domains. */
const isForeign = ({ domains }: SamlProviderSettings, email: string): boolean =>
  !domains.includes(email.slice(email.lastIndexOf('@') + 1))

/** @throws AuthError `saml_assertion_no_email`, `signup_disabled`, `user_banned`. */
export async function findOrCreateSsoAccount(
  scope: Scope,
  provider: SamlProviderSettings,
  { subject, email: given, details: { name, ...claims } }: SamlResult,
  { signup }: AuthSettings,
): Promise<Account> {
  const email = normaliseEmail(given)
  if (!isEmail(email))
    throw new AuthError('saml_assertion_no_email', 'SAML Assertion does not contain an email address')
  const data = {
    ...(name === undefined ? {} : { name, full_name: name }),
    custom_claims: claims,
    iss: provider.issuer,
    email,
    email_verified: true,
    phone_verified: false,
    provider_id: subject,
    sub: subject,
  }
  const id =
    (await findAndUpdate(scope, provider, subject, data)) ??
    (await createAccount(scope, provider, subject, data, signup))
  const account = await requireAccount(scope, id)
  requireUsable(account)
  return account
}

/** The provider's data replaces earlier data, including the address. */
async function findAndUpdate(
  scope: Scope,
  provider: SamlProviderSettings,
  subject: string,
  data: Readonly<Record<string, unknown>> & { readonly email: string },
): Promise<string | undefined> {
  const found = await scope.query<{ user_id: string }>(
    `update auth.identities set identity_data = $3, last_sign_in_at = now(), updated_at = now()
     where provider = $1 and provider_id = $2 returning user_id`,
    [providerNameOf(provider), subject, data],
  )
  const id = found.rows[0]?.user_id
  if (id === undefined) return undefined
  await scope.query(
    `update auth.users set email = $2, raw_user_meta_data = raw_user_meta_data || $3::jsonb, email_assumed = $4,
       last_sign_in_at = now(), updated_at = now() where id = $1 and is_sso_user`,
    [id, data.email, data, isForeign(provider, data.email)],
  )
  return id
}

async function createAccount(
  scope: Scope,
  provider: SamlProviderSettings,
  subject: string,
  data: Readonly<Record<string, unknown>> & { readonly email: string },
  signup: AuthSettings['signup'],
): Promise<string> {
  if (signup !== 'open') throw new AuthError('signup_disabled', 'Signups not allowed for this instance')
  const id = randomUUID()
  await scope.query(
    `insert into auth.users (id, email, email_confirmed_at, raw_user_meta_data, is_sso_user, email_assumed, last_sign_in_at)
     values ($1, $2, now(), $3, true, $4, now())`,
    [id, data.email, data, isForeign(provider, data.email)],
  )
  await scope.query(
    `insert into auth.identities (provider_id, user_id, identity_data, provider, last_sign_in_at)
     values ($1, $2, $3, $4, now())`,
    [subject, id, data, providerNameOf(provider)],
  )
  await updateProviderList(scope, id)
  return id
}
