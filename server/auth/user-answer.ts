import { createHmac, randomUUID } from 'node:crypto'
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

/** A version 4 id that is the same for each sign-up with the address. */
function identityIdFor(key: Buffer, email: string): string {
  const bytes = createHmac('sha256', key).update(`identity ${email}`).digest().subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** The answer to every sign-up by mail, made of the request and of the `id` of its claim alone. */
export function newUserAnswer(key: Buffer, account: NewAccount, id: string): Record<string, unknown> {
  const now = new Date().toISOString()
  const identity: Identity = {
    id: identityIdFor(key, account.email),
    provider_id: id,
    user_id: id,
    identity_data: metadataOf(id, account),
    provider: 'email',
    email: account.email,
    last_sign_in_at: now,
    created_at: now,
    updated_at: now,
  }
  return userAnswer(newUser(id, account, [identity]))
}

/** Looks like a new user, but for the lack of an identity: clients recognise an address that has an account by it. */
export const emptyUserAnswer = (account: NewAccount): Record<string, unknown> =>
  userAnswer(newUser(randomUUID(), account, []))

function newUser(id: string, account: NewAccount, identities: readonly Identity[]): Account {
  const now = new Date()
  return {
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
    self_registered: true,
    created_at: now,
    updated_at: now,
    identities,
    factors: [],
  }
}
