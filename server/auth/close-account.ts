/** POST /account/close: deletes a person with all their data and returns a receipt. Not part of GoTrue's protocol. */
import { randomUUID } from 'node:crypto'
import { Hono } from 'hono'
import { z } from 'zod'
import type { ClosingReceipt } from '#contract/auth.ts'
import { deleteBucketsOf, refundAttempt } from '#server/access/token-bucket.ts'
import { retryDeadlock } from '#server/database/deadlocks.ts'
import type { Scope } from '#server/database/scope.ts'
import { AuthError } from './errors.ts'
import { passwordBucket, enforceRateLimits } from './rate-limits.ts'
import { receiptMail } from './mail/templates.ts'
import { isRightPassword } from './passwords.ts'
import { normaliseEmail, optionalText, readBody, type Visitor, visitorOf } from './request.ts'
import { requireFullLevel, requireSession, type SignedIn } from './require-session.ts'
import type { AuthService } from './service.ts'
import { deleteSignupClaim } from './signup-claims.ts'

const closeBody = z.object({ confirmation: optionalText, password: optionalText })

/** People without a password must have signed in this recently. */
const RECENT_SIGN_IN_MS = 10 * 60_000

export function closeAccountRoutes(service: AuthService): Hono {
  const app = new Hono()

  app.post('/account/close', async (context) => {
    const person = requireFullLevel(await requireSession(context, service))
    const proof = await readBody(context, closeBody)
    await requireProof(service, person, { ...proof, visitor: visitorOf(context, service.settings) })
    const receipt = await closeAccount(service, person)
    await sendReceipt(service, person, receipt)
    return context.json(receipt)
  })

  return app
}

async function requireProof(
  service: AuthService,
  { account, openedAt }: SignedIn,
  { confirmation, password, visitor }: { confirmation: string; password: string; visitor: Visitor },
): Promise<void> {
  // Accounts without an address are confirmed by their id.
  if (normaliseEmail(confirmation) !== (account.email ?? account.id)) {
    throw new AuthError('validation_failed', 'What was typed is not the address of this account', { status: 403 })
  }
  if (account.encrypted_password === null) {
    if (Date.now() - openedAt.getTime() < RECENT_SIGN_IN_MS) return
    throw new AuthError('reauthentication_needed', 'Sign out and in again, then delete the account within ten minutes')
  }
  const guesses = passwordBucket(account.email ?? account.id, visitor, true)
  await enforceRateLimits(service, [guesses])
  if (!(await isRightPassword(account.encrypted_password, password))) {
    throw new AuthError('invalid_credentials', 'The password is not right', { status: 403 })
  }
  await service.database.asAuth((scope) => refundAttempt(scope, guesses.key))
}

/** Ends the sessions first, on all devices and nodes, so that no data is added after the count and the deletion. */
async function closeAccount(service: AuthService, { account: { id, email } }: SignedIn): Promise<ClosingReceipt> {
  const { database, background, limitDeletions } = service
  const sessions = await database.asAuth((scope) => scope.query('delete from auth.sessions where user_id = $1', [id]))
  const beyondRows = await service.onAccountClosing?.(id)
  const counts = await limitDeletions(async () => {
    const counted = await background.asService(async (scope) => ({
      ...(await countRows(scope, id)),
      stored_files: await removeFiles(scope, id),
    }))
    // Answers and documents in progress lock rows of the person in another order.
    await retryDeadlock(() =>
      background.asAuth(async (scope) => {
        await deleteSignupClaim(scope, id)
        await scope.query('delete from auth.users where id = $1', [id])
        await deleteBucketsOf(scope, id)
        await scope.query('delete from auth.local_mails where recipient = $1', [email])
      }),
    )
    // Rows of announced changes have no owner but contain the id of the person.
    await background.serviceStatement(`delete from realtime.changes where old::text like '%' || $1 || '%'`, [id])
    return counted
  })
  await beyondRows?.finish()
  return {
    id: randomUUID(),
    account: email ?? id,
    closed_at: new Date().toISOString(),
    removed: { ...counts, ...beyondRows?.counts, sessions: sessions.rowCount ?? 0 },
  }
}

async function removeFiles(scope: Scope, userId: string): Promise<number> {
  const removed = await scope.query(
    `delete from storage.objects
     where owner = $1 or owner_id = $1::text or (bucket_id = 'documents' and (storage.foldername(name))[1] = $1::text)`,
    [userId],
  )
  return removed.rowCount ?? 0
}

async function countRows(scope: Scope, userId: string): Promise<Record<string, number>> {
  const { rows: owned } = await scope.query<{ name: string; statement: string }>(
    `select c.relname as name, format('select count(*) as total from %s where %I = $1', c.oid::regclass, a.attname) as statement
     from pg_constraint k
     join pg_class c on c.oid = k.conrelid
     join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
     where k.contype = 'f' and k.confrelid = 'auth.users'::regclass and c.relnamespace <> 'auth'::regnamespace
       and cardinality(k.conkey) = 1 and has_table_privilege(c.oid, 'select')
     order by 1`,
  )
  const counts: Record<string, number> = {}
  for (const { name, statement } of owned) {
    const { rows } = await scope.query<{ total: number }>(statement, [userId])
    const total = rows[0]?.total ?? 0
    if (total > 0) counts[name] = total
  }
  return counts
}

/** The account is already deleted, so a failed mail is only logged. */
async function sendReceipt(service: AuthService, { account: { email } }: SignedIn, receipt: ClosingReceipt) {
  if (email === null) return
  const sending = service.mail.send(email, receiptMail(receipt))
  await sending.catch((error: unknown) => service.log.error({ err: error }, 'a receipt could not be mailed'))
}
