import { randomUUID } from 'node:crypto'
import { type Account, type Factor, type Identity, metadataOf, type NewAccount } from './accounts.ts'

const withoutNulls = (members: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))

export function userAnswer(account: Account): Record<string, unknown> {
  const moments = {
    email_confirmed_at: account.email_confirmed_at,
    phone_confirmed_at: account.phone_confirmed_at,
    confirmed_at: account.confirmed_at,
    confirmation_sent_at: account.confirmation_sent_at,
    recovery_sent_at: account.recovery_sent_at,
    reauthentication_sent_at: account.reauthentication_sent_at,
    email_change_sent_at: account.email_change_sent_at,
    invited_at: account.invited_at,
    last_sign_in_at: account.last_sign_in_at,
    banned_until: account.banned_until,
    deleted_at: account.deleted_at,
  }
  return {
    id: account.id,
    aud: account.aud,
    role: account.role,
    email: account.email ?? '',
    phone: account.phone ?? '',
    ...withoutNulls(moments),
    ...(account.email_change === '' ? {} : { new_email: account.email_change }),
    app_metadata: account.raw_app_meta_data,
    user_metadata: account.raw_user_meta_data,
    identities: account.identities.map(identityAnswer),
    ...(account.factors.length === 0 ? {} : { factors: account.factors.map(factorAnswer) }),
    created_at: account.created_at,
    updated_at: account.updated_at,
    is_anonymous: account.is_anonymous,
  }
}

export const factorAnswer = (factor: Factor): Record<string, unknown> => withoutNulls(factor)

/** The protocol names the provider's id `id`, and the row's id `identity_id`. */
const identityAnswer = ({ id, provider_id, email, ...identity }: Identity): Record<string, unknown> => ({
  identity_id: id,
  id: provider_id,
  ...identity,
  ...(email === null ? {} : { email }),
})

/** Looks like a new user, for a sign-up with a taken address. */
export function fakeUserAnswer(account: NewAccount): Record<string, unknown> {
  const id = randomUUID()
  const now = new Date()
  return userAnswer({
    id,
    aud: 'authenticated',
    role: 'authenticated',
    email: account.email,
    encrypted_password: null,
    email_confirmed_at: null,
    email_assumed: false,
    confirmation_sent_at: now,
    recovery_sent_at: null,
    reauthentication_sent_at: null,
    email_change: '',
    email_change_sent_at: null,
    invited_at: null,
    last_sign_in_at: null,
    phone: null,
    phone_confirmed_at: null,
    confirmed_at: null,
    banned_until: null,
    deleted_at: null,
    raw_app_meta_data: { provider: 'email', providers: ['email'] },
    raw_user_meta_data: metadataOf(id, account),
    is_anonymous: false,
    is_sso_user: false,
    created_at: now,
    updated_at: now,
    identities: [],
    factors: [],
  })
}
