/** Changes the e-mail of an account after both the old and the new address are confirmed, in either order. */
import { codeOf } from '#server/base/errors.ts'
import type { Scope } from '#server/database/scope.ts'
import { type Account, confirmEmail, findAccount } from './accounts.ts'
import { AuthError } from './errors.ts'
import { issueMailCode, type OutgoingMail } from './mail-codes.ts'
import { alreadyRegisteredMail } from './mail/templates.ts'
import { type UsedCode, voidCodes } from './one-time-codes.ts'
import { contestPendingAccount, isContested } from './pending-accounts.ts'
import type { Challenge } from './pkce.ts'
import type { AuthService } from './service.ts'
import { settleSignupClaim } from './signup-claims.ts'

const UNIQUE_VIOLATION = '23505'

export interface EmailChange {
  readonly email: string
  readonly pkce: Challenge | undefined
  readonly redirectTo: URL
}

/**
 * Stores the new address and composes mails to both. Another owner of the address is informed; the caller sees no
 * difference. Without an `account` it runs as many statements, so that timing reveals nothing, and sends nothing.
 */
export async function beginEmailChange(
  scope: Scope,
  service: AuthService,
  account: Account | undefined,
  { email, ...delivery }: EmailChange,
): Promise<OutgoingMail[]> {
  const userId = account?.id
  // Codes for an earlier new address would confirm this one.
  await scope.query(
    `delete from auth.one_time_tokens where user_id = $1 and token_type = any($2::auth.one_time_token_type[])`,
    [userId, ['email_change_token_current', 'email_change_token_new']],
  )
  await scope.query('update auth.users set email_change = $2, email_change_confirm_status = 0 where id = $1', [
    userId,
    email,
  ])
  const taken = await scope.query(
    `select from auth.users where lower(email) = $1 and not is_sso_user and (confirmed_at is not null or not self_registered)`,
    [email],
  )
  await contestPendingAccount(scope, email)
  const current = account?.email ?? ''
  const toCurrent = { kind: 'email_change_current', email: current } as const
  const toNew = { kind: 'email_change_new', email } as const
  const isTaken = taken.rowCount !== 0
  const currentCode = await issueMailCode(scope, service, {
    ...toCurrent,
    userId: current === '' ? undefined : userId,
    ...delivery,
  })
  const newCode = await issueMailCode(scope, service, { ...toNew, userId: isTaken ? undefined : userId, ...delivery })
  if (account === undefined) return []
  return [
    ...(current === '' ? [] : [{ ...toCurrent, message: currentCode.message }]),
    { ...toNew, message: isTaken ? alreadyRegisteredMail(`${service.settings.siteUrl}/login`) : newCode.message },
  ]
}

/**
 * `waiting`: the other mail is unconfirmed; undefined: no pending change. @throws AuthError `email_exists` if another account
 * has or awaits the address: its owner may have followed the wrong one of two mails. Neither account changes then, and the
 * link stays valid.
 */
export async function confirmEmailChange(
  scope: Scope,
  { userId, flowId }: UsedCode,
): Promise<Account | 'waiting' | undefined> {
  const confirmed = await scope.query<{ email: string | null; email_change: string; confirmations: number }>(
    `update auth.users set email_change_confirm_status = email_change_confirm_status + 1
     where id = $1 and email_change <> ''
     returning email, email_change, email_change_confirm_status as confirmations`,
    [userId],
  )
  const change = confirmed.rows[0]
  if (change === undefined) return undefined
  if (change.email !== null && change.confirmations < 2) return 'waiting'
  if (await isContested(scope, { id: userId, email: change.email_change })) {
    const message =
      'A user with this email address has already been registered, or a sign-up or another change waits for it. Nothing was changed.'
    throw new AuthError('email_exists', message)
  }
  await changeEmail(scope, userId, change.email_change)
  await settleSignupClaim(scope, userId)
  await confirmEmail(scope, userId)
  await voidCodes(scope, userId, flowId)
  return findAccount(scope, userId)
}

/** Changes the address everywhere it is stored. @throws AuthError `email_exists` */
export async function changeEmail(scope: Scope, userId: string, email: string): Promise<void> {
  try {
    await scope.query(
      `update auth.users
       set email = $2, email_change = '', email_change_confirm_status = 0, is_anonymous = false, updated_at = now(),
         raw_user_meta_data = raw_user_meta_data || jsonb_build_object('email', $2::text),
         raw_app_meta_data = '{"provider": "email", "providers": ["email"]}' || raw_app_meta_data
       where id = $1`,
      [userId, email],
    )
  } catch (error) {
    if (codeOf(error) !== UNIQUE_VIOLATION) throw error
    throw new AuthError('email_exists', 'A user with this email address has already been registered', { cause: error })
  }
  await scope.query(
    `insert into auth.identities as i (provider_id, user_id, identity_data, provider, last_sign_in_at)
     values ($1::text, $1::uuid, jsonb_build_object('sub', $1::text, 'email', $2::text, 'phone_verified', false), 'email', now())
     on conflict (provider_id, provider) do update
     set identity_data = i.identity_data || jsonb_build_object('email', $2::text), updated_at = now()`,
    [userId, email],
  )
}
