/** Accounts as the operator sees them in the page: who there is, invitations, and what ends or reopens access. */
import type { OperatedPerson } from '#contract/operation.ts'
import { retryDeadlock } from '#server/database/deadlocks.ts'
import type { Database } from '#server/database/scope.ts'
import { requireAccount } from './accounts.ts'
import { AuthError } from './errors.ts'
import { issueInvitation } from './invitations.ts'
import { testMail } from './mail/templates.ts'
import { sendAndWait } from './mail-codes.ts'
import { chooseRedirect } from './redirects.ts'
import { requireEmail } from './request.ts'
import type { AuthService } from './service.ts'

export type AccountOfPerson = Omit<OperatedPerson, 'is_operator' | 'bytes'>

interface Row extends Record<string, unknown> {
  id: string
  email: string | null
  created_at: Date
  seen_at: Date | null
  is_disabled: boolean
  is_confirmed: boolean
  has_second_factor: boolean
}

/** Newest first, and their total number. Without visitors who have no account of their own. */
export async function listPeople(
  { database }: AuthService,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ people: AccountOfPerson[]; total: number }> {
  return database.asAuth(async (scope) => {
    const counted = await scope.query<{ total: number }>(
      'select count(*)::integer as total from auth.users where not is_anonymous and deleted_at is null',
    )
    const { rows } = await scope.query<Row>(
      `select u.id, u.email, u.created_at,
         greatest(u.last_sign_in_at, (select max(coalesce(s.refreshed_at, s.updated_at)) from auth.sessions s where s.user_id = u.id)) as seen_at,
         coalesce(u.banned_until > now(), false) as is_disabled, u.confirmed_at is not null as is_confirmed,
         exists (select from auth.mfa_factors f where f.user_id = u.id and f.status = 'verified') as has_second_factor
       from auth.users u where not u.is_anonymous and u.deleted_at is null
       order by u.created_at desc, u.id limit $1 offset $2`,
      [limit, offset],
    )
    const people = rows.map(({ created_at, seen_at, ...rest }) => ({
      ...rest,
      created_at: created_at.toISOString(),
      seen_at: seen_at?.toISOString() ?? null,
    }))
    return { people, total: counted.rows[0]?.total ?? 0 }
  })
}

/** Also where sign-ups are closed: the operator decides. @throws AuthError `email_exists` */
export async function invitePerson(service: AuthService, given: string): Promise<void> {
  const { database, settings } = service
  const email = requireEmail(given)
  const invitingService = { ...service, settings: { ...settings, signup: 'invite' as const } }
  const redirectTo = chooseRedirect(undefined, settings)
  const { message } = await database.asAuth((scope) =>
    issueInvitation(scope, invitingService, { email, data: {}, redirectTo }),
  )
  await sendAndWait(service, { kind: 'invitation', email, message })
}

/** Deleting the sessions revokes access tokens at once. @throws AuthError `user_not_found` */
export async function setDisabled({ database }: AuthService, id: string, isDisabled: boolean): Promise<void> {
  // Answers and documents in progress lock rows of the person in another order.
  await retryDeadlock(() =>
    database.asAuth(async (scope) => {
      await requireAccount(scope, id)
      await scope.query(
        `update auth.users set banned_until = case when $2 then now() + interval '100 years' end, updated_at = now() where id = $1`,
        [id, isDisabled],
      )
      if (isDisabled) await scope.query('delete from auth.sessions where user_id = $1', [id])
    }),
  )
}

/** Removes the second factors and recovery codes of a person who lost them, and ends the sessions. @throws AuthError `user_not_found` */
export async function resetSecondFactors({ database }: AuthService, id: string): Promise<void> {
  await database.asAuth(async (scope) => {
    await requireAccount(scope, id)
    const removed = await scope.query('delete from auth.mfa_factors where user_id = $1', [id])
    if (removed.rowCount === 0) throw new AuthError('mfa_factor_not_found', 'This person has no second factor.')
    await scope.query('delete from auth.recovery_codes where user_id = $1', [id])
    await scope.query('delete from auth.sessions where user_id = $1', [id])
  })
}

/** Visitors without an account of their own do not count. */
export async function hasAccounts(database: Database): Promise<boolean> {
  const { rowCount } = await database.asAuth((scope) =>
    scope.query('select id from auth.users where not is_anonymous limit 1'),
  )
  return rowCount !== 0
}

/** Sends a mail to a person's own address. @returns what the mail server answered @throws AuthError, and errors of the mail server */
export async function sendTestMail({ database, mail }: AuthService, id: string): Promise<string | undefined> {
  const { email } = await database.asAuth((scope) => requireAccount(scope, id))
  if (email === null) throw new AuthError('validation_failed', 'Your account has no e-mail address.')
  return mail.send(email, testMail())
}
