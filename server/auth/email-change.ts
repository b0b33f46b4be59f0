/** Changes the e-mail of an account after both the old and the new address are confirmed, in either order. */
import { codeOf } from '#server/base/errors.ts'
import type { Scope } from '#server/database/scope.ts'
import { type Account, confirmEmail, findAccount } from './accounts.ts'
import { AuthError } from './errors.ts'
import { issueMailCode, type OutgoingMail } from './mail-codes.ts'
import { alreadyRegisteredMail } from './mail/templates.ts'
import { LIFETIME_S, type UsedCode, voidCodes } from './one-time-codes.ts'
import { contestPendingAccount, isContested } from './pending-accounts.ts'
import type { Challenge } from './pkce.ts'
import type { AuthService } from './service.ts'
import { settleSignupClaim } from './signup-claims.ts'

const UNIQUE_VIOLATION = '23505'

interface Delivery {
  readonly pkce: Challenge | undefined
  readonly redirectTo: URL
}

export interface EmailChange extends Delivery {
  readonly email: string
}

/** Values of `email_change_confirm_status`: the side that has confirmed the change. Zero: none. */
const SIDES = { email_change_token_current: 1, email_change_token_new: 2 } as const
type EmailChangeCode = keyof typeof SIDES
const CODE_KINDS = Object.keys(SIDES)

interface RunningChange {
  readonly id: string
  readonly email: string | null
  readonly email_change: string
  readonly confirmed_side: number
}
const RUNNING_CHANGE = 'id, email, email_change, email_change_confirm_status as confirmed_side'

/** Codes and links for an earlier new address would confirm a later one. */
export async function deleteEmailChangeCodes(scope: Scope, userId: string): Promise<void> {
  for (const table of ['one_time_tokens', 'earlier_links']) {
    await scope.query(
      `delete from auth.${table} where user_id = $1 and token_type = any($2::auth.one_time_token_type[])`,
      [userId, CODE_KINDS],
    )
  }
}

/**
 * Stores the new address and composes mails to both. Another owner of the address is informed; the caller sees no
 * difference.
 */
export async function beginEmailChange(
  scope: Scope,
  service: AuthService,
  account: Account,
  { email, ...delivery }: EmailChange,
): Promise<OutgoingMail[]> {
  // A taken address gets no code, which would set the time.
  const begun = await scope.query<RunningChange>(
    `update auth.users set email_change = $2, email_change_confirm_status = 0, email_change_confirmed_at = null,
       email_change_sent_at = now()
     where id = $1 returning ${RUNNING_CHANGE}`,
    [account.id, email],
  )
  await deleteEmailChangeCodes(scope, account.id)
  return composeMails(scope, service, begun.rows[0], delivery)
}

/**
 * Composes further mails to the sides of a running change that have not confirmed it. Strangers can ask for them, so the
 * confirmation of the other side and the links of earlier mails stay valid. A confirmation counts as long as a link would;
 * mails do not prolong it, and a resend after that asks both sides again. Without an account or a change it runs as many
 * statements, so that timing reveals nothing, and sends nothing.
 */
export async function resendEmailChange(
  scope: Scope,
  service: AuthService,
  account: Account | undefined,
  delivery: Delivery,
): Promise<OutgoingMail[]> {
  // The time of the confirmation decides, not the remaining codes: a taken address has none, and its change must look alike.
  const resumed = await scope.query<RunningChange>(
    `update auth.users
     set email_change_confirm_status =
         case when email_change_confirmed_at > now() - make_interval(secs => $2) then email_change_confirm_status else 0 end,
       email_change_confirmed_at =
         case when email_change_confirmed_at > now() - make_interval(secs => $2) then email_change_confirmed_at end,
       email_change_sent_at = now()
     where id = $1 and email_change <> '' returning ${RUNNING_CHANGE}`,
    [account?.id, LIFETIME_S.email_change_token_new],
  )
  return composeMails(scope, service, resumed.rows[0], delivery)
}

/** Issues a code to each side that has not confirmed the change. */
async function composeMails(
  scope: Scope,
  service: AuthService,
  change: RunningChange | undefined,
  delivery: Delivery,
): Promise<OutgoingMail[]> {
  const current = change?.email ?? ''
  const email = change?.email_change ?? ''
  const taken = await scope.query(
    `select from auth.users where lower(email) = $1 and not is_sso_user and (confirmed_at is not null or not self_registered)`,
    [email],
  )
  await contestPendingAccount(scope, email)
  const isTaken = taken.rowCount !== 0
  const isAsked = (side: EmailChangeCode) => change !== undefined && change.confirmed_side !== SIDES[side]
  const asksCurrent = current !== '' && isAsked('email_change_token_current')
  const asksNew = isAsked('email_change_token_new')
  const toCurrent = { kind: 'email_change_current', email: current } as const
  const toNew = { kind: 'email_change_new', email } as const
  const currentCode = await issueMailCode(scope, service, {
    ...toCurrent,
    userId: asksCurrent ? change?.id : undefined,
    ...delivery,
  })
  const newCode = await issueMailCode(scope, service, {
    ...toNew,
    userId: asksNew && !isTaken ? change?.id : undefined,
    ...delivery,
  })
  const newMessage = isTaken ? alreadyRegisteredMail(`${service.settings.siteUrl}/login`) : newCode.message
  return [
    ...(asksCurrent ? [{ ...toCurrent, message: currentCode.message }] : []),
    ...(asksNew ? [{ ...toNew, message: newMessage }] : []),
  ]
}

/**
 * `waiting`: the other mail is unconfirmed; undefined: no pending change. @throws AuthError `email_exists` if another account
 * has or awaits the address: its owner may have followed the wrong one of two mails. Neither account changes then, and the
 * link stays valid.
 */
export async function confirmEmailChange(
  scope: Scope,
  { userId, kind, flowId }: UsedCode & { readonly kind: EmailChangeCode },
): Promise<Account | 'waiting' | undefined> {
  const running = await scope.query<RunningChange>(
    `select ${RUNNING_CHANGE} from auth.users where id = $1 and email_change <> '' for no key update`,
    [userId],
  )
  const change = running.rows[0]
  if (change === undefined) return undefined
  const side = SIDES[kind]
  const isOtherConfirmed = change.confirmed_side !== 0 && change.confirmed_side !== side
  if (change.email !== null && !isOtherConfirmed) {
    await scope.query(
      'update auth.users set email_change_confirm_status = $2, email_change_confirmed_at = now() where id = $1',
      [userId, side],
    )
    return 'waiting'
  }
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
       set email = $2, email_change = '', email_change_confirm_status = 0, email_change_confirmed_at = null, is_anonymous = false,
         updated_at = now(),
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
