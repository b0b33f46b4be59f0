/** Accounts: reading them, and showing them to their owner in the shape of the protocol. */
import { randomUUID } from 'node:crypto'
import { type Scope } from '#server/database/scope.ts'

interface Identity {
  readonly id: string
  readonly provider_id: string
  readonly user_id: string
  readonly identity_data: Readonly<Record<string, unknown>>
  readonly provider: string
  readonly email: string | null
  readonly last_sign_in_at: string | null
  readonly created_at: string
  readonly updated_at: string
}

export interface Account {
  readonly id: string
  readonly aud: string
  readonly role: string
  readonly email: string | null
  readonly encrypted_password: string | null
  readonly email_confirmed_at: Date | null
  readonly confirmation_sent_at: Date | null
  readonly recovery_sent_at: Date | null
  readonly invited_at: Date | null
  readonly last_sign_in_at: Date | null
  readonly phone: string | null
  readonly phone_confirmed_at: Date | null
  readonly confirmed_at: Date | null
  readonly banned_until: Date | null
  readonly raw_app_meta_data: Readonly<Record<string, unknown>>
  readonly raw_user_meta_data: Readonly<Record<string, unknown>>
  readonly is_anonymous: boolean
  readonly created_at: Date
  readonly updated_at: Date
  readonly identities: readonly Identity[]
}

const ACCOUNT = `
  u.id, u.aud, u.role, u.email, u.encrypted_password, u.email_confirmed_at, u.confirmation_sent_at, u.recovery_sent_at,
  u.invited_at, u.last_sign_in_at, u.phone, u.phone_confirmed_at, u.confirmed_at, u.banned_until, u.raw_app_meta_data,
  u.raw_user_meta_data, u.is_anonymous, u.created_at, u.updated_at,
  coalesce(
    (select jsonb_agg(i order by i.created_at) from auth.identities i where i.user_id = u.id), '[]'
  ) as identities`

export async function findAccount(scope: Scope, id: string): Promise<Account | undefined> {
  const found = await scope.query<Account>(`select ${ACCOUNT} from auth.users u where u.id = $1`, [id])
  return found.rows[0]
}

/** Finds an account by its normalised e-mail. */
export async function findAccountByEmail(scope: Scope, email: string): Promise<Account | undefined> {
  const found = await scope.query<Account>(
    `select ${ACCOUNT} from auth.users u where lower(u.email) = $1 and not u.is_sso_user`,
    [email],
  )
  return found.rows[0]
}

export const isBanned = ({ banned_until }: Account): boolean => banned_until !== null && banned_until > new Date()

/** Confirms an address, with all that repeats it. */
export async function confirmEmail(scope: Scope, id: string): Promise<void> {
  await scope.query(
    `update auth.users
     set email_confirmed_at = coalesce(email_confirmed_at, now()), updated_at = now(),
       raw_user_meta_data = raw_user_meta_data || '{"email_verified": true}'
     where id = $1`,
    [id],
  )
  await scope.query(
    `update auth.identities set identity_data = identity_data || '{"email_verified": true}', updated_at = now()
     where user_id = $1 and provider = 'email'`,
    [id],
  )
}

export interface NewAccount {
  readonly email: string
  readonly passwordHash: string | null
  /** What the person says about themselves. */
  readonly data: Readonly<Record<string, unknown>>
}

const metadataOf = (id: string, { email, data }: NewAccount) => ({
  ...data,
  email,
  email_verified: false,
  phone_verified: false,
  sub: id,
})

/**
 * Creates an unconfirmed account, or renews one that nobody confirmed: whoever signs up last chose the password, so
 * that nobody can lie in wait at an address with a password of their own.
 * @returns its id, or undefined where the address has a confirmed account.
 */
export async function enrol(scope: Scope, account: NewAccount): Promise<string | undefined> {
  const id = randomUUID()
  const { email, passwordHash } = account
  const enrolled = await scope.query<{ id: string }>(
    `insert into auth.users as u (id, email, encrypted_password, raw_app_meta_data, raw_user_meta_data)
     values ($1, $2, $3, '{"provider": "email", "providers": ["email"]}', $4)
     on conflict (lower(email)) where is_sso_user = false do update
     set encrypted_password = excluded.encrypted_password, updated_at = now(),
       raw_user_meta_data = excluded.raw_user_meta_data || jsonb_build_object('sub', u.id)
     where u.email_confirmed_at is null and u.phone_confirmed_at is null
     returning u.id`,
    [id, email, passwordHash, metadataOf(id, account)],
  )
  const enrolledId = enrolled.rows[0]?.id
  if (enrolledId === undefined) return undefined
  await scope.query(
    `insert into auth.identities (provider_id, user_id, identity_data, provider, last_sign_in_at)
     values ($1::text, $1::uuid, $2, 'email', now())
     on conflict (provider_id, provider) do update set identity_data = excluded.identity_data, updated_at = now()`,
    [enrolledId, metadataOf(enrolledId, account)],
  )
  return enrolledId
}

/** The account as its owner sees it: timestamps that are not there are left out. */
export function userAnswer(account: Account): Record<string, unknown> {
  const moments = {
    email_confirmed_at: account.email_confirmed_at,
    phone_confirmed_at: account.phone_confirmed_at,
    confirmed_at: account.confirmed_at,
    confirmation_sent_at: account.confirmation_sent_at,
    recovery_sent_at: account.recovery_sent_at,
    invited_at: account.invited_at,
    last_sign_in_at: account.last_sign_in_at,
    banned_until: account.banned_until,
  }
  return {
    id: account.id,
    aud: account.aud,
    role: account.role,
    email: account.email ?? '',
    phone: account.phone ?? '',
    ...Object.fromEntries(Object.entries(moments).filter(([, moment]) => moment !== null)),
    app_metadata: account.raw_app_meta_data,
    user_metadata: account.raw_user_meta_data,
    identities: account.identities.map(identityAnswer),
    created_at: account.created_at,
    updated_at: account.updated_at,
    is_anonymous: account.is_anonymous,
  }
}

/** `id` is the provider's id and `identity_id` the row's: the names are crossed on the wire. */
const identityAnswer = ({ id, provider_id, email, ...identity }: Identity): Record<string, unknown> => ({
  identity_id: id,
  id: provider_id,
  ...identity,
  ...(email === null ? {} : { email }),
})

/** What a sign-up with a taken address gets: a user like a new one, of whom nothing exists. */
export function madeUpUserAnswer(account: NewAccount): Record<string, unknown> {
  const id = randomUUID()
  const now = new Date()
  return userAnswer({
    id,
    aud: 'authenticated',
    role: 'authenticated',
    email: account.email,
    encrypted_password: null,
    email_confirmed_at: null,
    confirmation_sent_at: now,
    recovery_sent_at: null,
    invited_at: null,
    last_sign_in_at: null,
    phone: null,
    phone_confirmed_at: null,
    confirmed_at: null,
    banned_until: null,
    raw_app_meta_data: { provider: 'email', providers: ['email'] },
    raw_user_meta_data: metadataOf(id, account),
    is_anonymous: false,
    created_at: now,
    updated_at: now,
    identities: [],
  })
}
