/** Finds, creates and confirms accounts. */
import { randomUUID } from 'node:crypto'
import type { Scope } from '#server/database/scope.ts'
import { AuthError } from './errors.ts'

export interface Identity {
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

export interface Factor {
  readonly id: string
  readonly friendly_name: string | null
  readonly factor_type: 'totp' | 'phone' | 'webauthn'
  readonly status: 'unverified' | 'verified'
  readonly phone: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly last_challenged_at: string | null
}

export interface Account {
  readonly id: string
  readonly aud: string
  readonly role: string
  readonly email: string | null
  readonly encrypted_password: string | null
  readonly email_confirmed_at: Date | null
  /** Confirmed without proof of ownership: under AUTH_AUTOCONFIRM, or by a SAML provider outside its domains. */
  readonly email_assumed: boolean
  readonly confirmation_sent_at: Date | null
  readonly recovery_sent_at: Date | null
  readonly reauthentication_sent_at: Date | null
  /** The new address of a pending change; empty without one. */
  readonly email_change: string
  readonly email_change_sent_at: Date | null
  readonly invited_at: Date | null
  readonly last_sign_in_at: Date | null
  readonly phone: string | null
  readonly phone_confirmed_at: Date | null
  readonly confirmed_at: Date | null
  readonly banned_until: Date | null
  readonly deleted_at: Date | null
  readonly raw_app_meta_data: Readonly<Record<string, unknown>>
  readonly raw_user_meta_data: Readonly<Record<string, unknown>>
  readonly is_anonymous: boolean
  /** Whether the account belongs to a SAML identity provider. */
  readonly is_sso_user: boolean
  /** Created by its own person, not by the operator. */
  readonly self_registered: boolean
  readonly created_at: Date
  readonly updated_at: Date
  readonly identities: readonly Identity[]
  readonly factors: readonly Factor[]
}

const ACCOUNT = `
  u.id, u.aud, u.role, u.email, u.encrypted_password, u.email_confirmed_at, u.email_assumed, u.confirmation_sent_at, u.recovery_sent_at,
  u.reauthentication_sent_at, u.email_change, u.email_change_sent_at,
  u.invited_at, u.last_sign_in_at, u.phone, u.phone_confirmed_at, u.confirmed_at, u.banned_until, u.deleted_at, u.raw_app_meta_data,
  u.raw_user_meta_data, u.is_anonymous, u.is_sso_user, u.self_registered, u.created_at, u.updated_at,
  coalesce(
    (select jsonb_agg(i order by i.created_at) from auth.identities i where i.user_id = u.id), '[]'
  ) as identities,
  coalesce(
    (select jsonb_agg(f order by f.created_at) from (
      select id, friendly_name, factor_type, status, phone, created_at, updated_at, last_challenged_at
      from auth.mfa_factors where user_id = u.id
    ) f), '[]'
  ) as factors`

export async function findAccount(scope: Scope, id: string): Promise<Account | undefined> {
  const found = await scope.prepared<Account>(`select ${ACCOUNT} from auth.users u where u.id = $1`, [id])
  return found.rows[0]
}

/** @throws AuthError `user_not_found` with 404. */
export async function requireAccount(scope: Scope, id: string): Promise<Account> {
  const account = await findAccount(scope, id)
  if (account === undefined) throw new AuthError('user_not_found', 'User not found', { status: 404 })
  return account
}

/** Expects a normalised address. */
export async function findAccountByEmail(scope: Scope, email: string): Promise<Account | undefined> {
  const found = await scope.prepared<Account>(
    `select ${ACCOUNT} from auth.users u where lower(u.email) = $1 and not u.is_sso_user`,
    [email],
  )
  return found.rows[0]
}

const MAX_LISTED_BYTES = 32 * 1024 * 1024

/** Returns one page, newest first, and the total number. @throws AuthError `request_entity_too_large` */
export async function listAccounts(scope: Scope, { limit, offset }: { limit: number; offset: number }) {
  const counted = await scope.query<{ total: number }>('select count(*) as total from auth.users')
  const measured = await scope.query<{ bytes: number }>(
    `select coalesce(sum(pg_column_size(u.raw_user_meta_data || '{}') + pg_column_size(u.raw_app_meta_data || '{}') + coalesce(
       (select sum(pg_column_size(i.identity_data || '{}')) from auth.identities i where i.user_id = u.id), 0)), 0)::float8 as bytes
     from (select u.* from auth.users u order by u.created_at desc, u.id limit $1 offset $2) u`,
    [limit, offset],
  )
  if ((measured.rows[0]?.bytes ?? 0) > MAX_LISTED_BYTES)
    throw new AuthError(
      'request_entity_too_large',
      'The accounts of this page are too large for one answer: lower per_page',
    )
  const found = await scope.query<Account>(
    `select ${ACCOUNT} from auth.users u order by u.created_at desc, u.id limit $1 offset $2`,
    [limit, offset],
  )
  return { accounts: found.rows, total: counted.rows[0]?.total ?? 0 }
}

/** Serialises decisions about an account. Sessions can still be opened and refreshed meanwhile. */
export async function lockAccount(scope: Scope, id: string): Promise<void> {
  await scope.query('select from auth.users where id = $1 for no key update', [id])
}

/** Why an account cannot be signed in to: it is banned, or was deleted and its row remains. */
export function refusalOf(
  { banned_until, deleted_at }: Pick<Account, 'banned_until' | 'deleted_at'>,
  options?: { readonly status: 400 },
): AuthError | undefined {
  if (deleted_at !== null) return new AuthError('user_not_found', 'User not found', options)
  if (banned_until !== null && banned_until > new Date()) return new AuthError('user_banned', 'User is banned', options)
  return undefined
}

/** @throws AuthError `user_banned`, `user_not_found` */
export function requireUsable(account: Account, options?: { readonly status: 400 }): void {
  const refusal = refusalOf(account, options)
  if (refusal) throw refusal
}

export const hasVerifiedFactor = ({ factors }: Account): boolean => factors.some(({ status }) => status === 'verified')

/** `isAssumed`: without proof that the person owns the address. */
export async function confirmEmail(scope: Scope, id: string, { isAssumed = false } = {}): Promise<void> {
  await scope.query(
    `update auth.users
     set email_confirmed_at = coalesce(email_confirmed_at, now()), email_assumed = $2, updated_at = now(),
       raw_user_meta_data = raw_user_meta_data || '{"email_verified": true}'
     where id = $1`,
    [id, isAssumed],
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
  readonly data: Readonly<Record<string, unknown>>
}

export const metadataOf = (id: string, { email, data }: Pick<NewAccount, 'email' | 'data'>) => ({
  ...data,
  email,
  email_verified: false,
  phone_verified: false,
  sub: id,
})

/** An anonymous account lasts as long as its only session, or until it gets an address. */
export async function createAnonymousAccount(scope: Scope, data: NewAccount['data']): Promise<string> {
  const id = randomUUID()
  await scope.query(
    `insert into auth.users (id, is_anonymous, raw_user_meta_data, last_sign_in_at) values ($1, true, $2, now())`,
    [id, JSON.stringify(data)],
  )
  return id
}

/** `app_metadata.provider` and `providers`, of the linked identities. */
export async function updateProviderList(scope: Scope, userId: string): Promise<void> {
  await scope.query(
    `update auth.users set updated_at = now(), raw_app_meta_data = raw_app_meta_data || (
       select jsonb_build_object(
         'provider', (array_agg(provider order by created_at))[1], 'providers', jsonb_agg(distinct provider)
       )
       from auth.identities where user_id = $1
     ) where id = $1`,
    [userId],
  )
}
