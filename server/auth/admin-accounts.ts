/** Creates, changes and deletes accounts with the operator's key. */
import { createHash, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { codeOf } from '#server/base/errors.ts'
import type { Scope } from '#server/database/scope.ts'
import { confirmEmail, lockAccount } from './accounts.ts'
import { changeEmail } from './email-change.ts'
import { AuthError } from './errors.ts'
import { mergeMetadata } from './metadata.ts'
import { voidCodes } from './one-time-codes.ts'
import { deletePendingSignUp } from './pending-accounts.ts'
import { contact, metadata, optionalText } from './request.ts'
import { deleteSignupClaim } from './signup-claims.ts'

export const accountBody = z.object({
  ...contact,
  id: z.uuid().nullish(),
  password: z.string().nullish(),
  password_hash: optionalText,
  email_confirm: z.boolean().nullish(),
  phone_confirm: z.boolean().nullish(),
  user_metadata: metadata,
  app_metadata: metadata,
  role: z.enum(['anon', 'authenticated', 'service_role', '']).nullish(),
  ban_duration: optionalText,
})

export interface AccountChanges {
  readonly id: string | undefined
  readonly email: string
  readonly phone: string
  readonly passwordHash: string | undefined
  readonly confirmsEmail: boolean
  readonly confirmsPhone: boolean
  readonly userMetadata: Readonly<Record<string, unknown>>
  readonly appMetadata: Readonly<Record<string, unknown>>
  readonly role: string
  /** Seconds from now; zero lifts a ban, undefined leaves it unchanged. */
  readonly banS: number | undefined
}

const UNIQUE_VIOLATION = '23505'

const withoutNulls = (metadata: AccountChanges['userMetadata']) =>
  Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null))

/** @throws AuthError `email_exists`, `phone_exists`. */
export async function createAccount(scope: Scope, wanted: AccountChanges): Promise<string> {
  const id = wanted.id ?? randomUUID()
  const { email, phone } = wanted
  const providers = [...(email === '' ? [] : ['email']), ...(phone === '' ? [] : ['phone'])]
  await rejectTaken(
    scope.query(
      `insert into auth.users (id, email, phone, encrypted_password, raw_app_meta_data, raw_user_meta_data)
       values ($1, nullif($2, ''), nullif($3, ''), $4, $5, $6)`,
      [
        id,
        email,
        phone,
        wanted.passwordHash,
        JSON.stringify({ provider: providers[0], providers }),
        // Triggers on this table read the complete row.
        JSON.stringify(withoutNulls(wanted.userMetadata)),
      ],
    ),
  )
  for (const provider of providers) {
    await scope.query(
      `insert into auth.identities (provider_id, user_id, identity_data, provider)
       values ($1::text, $1::uuid, jsonb_build_object('sub', $1::text, $2::text, $3::text), $2)`,
      [id, provider, provider === 'email' ? email : phone],
    )
  }
  await applyBanAndMetadata(scope, id, wanted)
  return id
}

/** Empty and undefined values leave a field unchanged. @throws AuthError `email_exists`, `phone_exists`. */
export async function updateAccount(scope: Scope, id: string, wanted: AccountChanges): Promise<void> {
  if (wanted.email !== '' || wanted.passwordHash !== undefined) await voidCodes(scope, id)
  if (wanted.passwordHash !== undefined) {
    await scope.query(
      `update auth.users set encrypted_password = $2, raw_app_meta_data = raw_app_meta_data - 'needs_password' where id = $1`,
      [id, wanted.passwordHash],
    )
    await scope.query('delete from auth.sessions where user_id = $1', [id])
  }
  if (wanted.email !== '') {
    await deletePendingSignUp(scope, { id, email: wanted.email })
    await changeEmail(scope, id, wanted.email)
  }
  if (wanted.phone !== '') {
    await rejectTaken(scope.query('update auth.users set phone = $2 where id = $1', [id, wanted.phone]))
  }
  await applyBanAndMetadata(scope, id, wanted)
}

async function applyBanAndMetadata(scope: Scope, id: string, wanted: AccountChanges): Promise<void> {
  await mergeMetadata(scope, id, { user: wanted.userMetadata, app: wanted.appMetadata })
  if (wanted.confirmsEmail) await confirmEmail(scope, id)
  // The tokens of the sessions hold the role, for which policies do not count.
  if (wanted.role !== '')
    await scope.query(
      `delete from auth.sessions s using auth.users u
       where u.id = $1 and s.user_id = u.id and u.role = 'service_role' and $2 <> 'service_role'`,
      [id, wanted.role],
    )
  await scope.query(
    `update auth.users
     set phone_confirmed_at = case when $2 then coalesce(phone_confirmed_at, now()) else phone_confirmed_at end,
       role = coalesce(nullif($3, ''), role), updated_at = now()
     where id = $1`,
    [id, wanted.confirmsPhone, wanted.role],
  )
  if (wanted.banS === undefined) return
  await scope.query(
    'update auth.users set banned_until = case when $2::float8 > 0 then now() + make_interval(secs => $2) end where id = $1',
    [id, wanted.banS],
  )
  // Deleting the sessions revokes access tokens at once; a ban alone would only prevent refreshes.
  if (wanted.banS > 0) await scope.query('delete from auth.sessions where user_id = $1', [id])
}

async function rejectTaken(writing: Promise<unknown>): Promise<void> {
  try {
    await writing
  } catch (error) {
    if (codeOf(error) !== UNIQUE_VIOLATION) throw error
    const index = error instanceof Error && 'constraint' in error ? error.constraint : undefined
    if (index === 'users_email_key') {
      throw new AuthError('email_exists', 'A user with this email address has already been registered', {
        cause: error,
      })
    }
    if (index === 'users_phone_key') {
      throw new AuthError('phone_exists', 'A user with this phone number has already been registered', { cause: error })
    }
    throw new AuthError('user_already_exists', 'A user with this id exists', { cause: error })
  }
}

/** `isSoft` keeps an anonymised row. */
export async function deleteAccount(scope: Scope, id: string, isSoft: boolean): Promise<void> {
  await voidCodes(scope, id)
  await deleteSignupClaim(scope, id)
  await lockAccount(scope, id)
  if (!isSoft) {
    await scope.query('delete from auth.users where id = $1', [id])
    return
  }
  for (const table of ['sessions', 'mfa_factors', 'identities']) {
    await scope.query(`delete from auth.${table} where user_id = $1`, [id])
  }
  await scope.query('delete from auth.oauth_sign_ins where linking_user_id = $1', [id])
  const hidden = createHash('sha256').update(`${id} ${randomUUID()}`).digest('base64url')
  await scope.query(
    `update auth.users
     set deleted_at = now(), updated_at = now(), email = $2, phone = null, encrypted_password = null, email_change = '',
       raw_user_meta_data = '{}', raw_app_meta_data = '{}'
     where id = $1`,
    [id, hidden],
  )
}
