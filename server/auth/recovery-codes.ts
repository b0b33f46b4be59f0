/** /recovery-codes: single-use substitutes for a second factor, replaced as a set. Not part of GoTrue's protocol. */
import { createHmac, randomInt } from 'node:crypto'
import { Hono } from 'hono'
import { z } from 'zod'
import { refundAttempt } from '#server/access/token-bucket.ts'
import type { Scope } from '#server/database/scope.ts'
import { findAccount, hasVerifiedFactor, lockAccount } from './accounts.ts'
import { AuthError } from './errors.ts'
import { addressBucket, factorAddressBucket, factorBucket, enforceRateLimits } from './rate-limits.ts'
import { optionalText, readBody, type Visitor, visitorOf } from './request.ts'
import { requireSession, type SignedIn } from './require-session.ts'
import type { AuthService } from './service.ts'
import { grantSession } from './session-answer.ts'
import { type Grant, raiseSession } from './sessions.ts'

const CODES_IN_A_SET = 10
/** No letters and digits that look alike. Ten of these are 49 bits, ample against ten online attempts an hour. */
const ALPHABET = '23456789abcdefghjkmnpqrstvwxyz'
const CODE_LENGTH = 10

const verifyBody = z.object({ code: optionalText })

export function recoveryCodeRoutes(service: AuthService): Hono {
  const { database, settings, keys } = service
  const app = new Hono()

  app.get('/recovery-codes', async (context) => {
    const { account } = await requireSession(context, service)
    const counted = await database.asAuth((scope) =>
      scope.query<{ total: number; remaining: number; created_at: Date | null }>(
        `select count(*) as total, count(*) filter (where used_at is null) as remaining, min(created_at) as created_at
         from auth.recovery_codes where user_id = $1`,
        [account.id],
      ),
    )
    return context.json(counted.rows[0])
  })

  app.post('/recovery-codes', async (context) => {
    const person = await requireSession(context, service)
    await enforceRateLimits(service, [addressBucket('user', visitorOf(context, settings))])
    if (person.aal === 'aal1' || !hasVerifiedFactor(person.account)) {
      throw new AuthError('insufficient_aal', 'Recovery codes are made in a session that a second factor has verified')
    }
    const codes = Array.from({ length: CODES_IN_A_SET }, createCode)
    await database.asAuth((scope) => replaceCodes(scope, keys.recovery, { userId: person.account.id, codes }))
    return context.json({ codes: codes.map(groupCode) })
  })

  app.post('/recovery-codes/verify', async (context) => {
    const person = await requireSession(context, service)
    const { code } = await readBody(context, verifyBody)
    const grant = await verifyRecoveryCode(service, person, { code, visitor: visitorOf(context, settings) })
    return context.json(await grantSession(context, service, grant))
  })

  return app
}

const createCode = (): string =>
  Array.from({ length: CODE_LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('')

/** Formats as `abcde-fghjk`. */
const groupCode = (code: string): string => `${code.slice(0, CODE_LENGTH / 2)}-${code.slice(CODE_LENGTH / 2)}`

const digestOf = (key: Buffer, userId: string, code: string): Buffer =>
  createHmac('sha256', key).update(`${userId} ${code}`).digest()

async function replaceCodes(
  scope: Scope,
  key: Buffer,
  { userId, codes }: { userId: string; codes: readonly string[] },
): Promise<void> {
  await lockAccount(scope, userId)
  await scope.query('delete from auth.recovery_codes where user_id = $1', [userId])
  await scope.query('insert into auth.recovery_codes (user_id, code_hash) select $1, unnest($2::bytea[])', [
    userId,
    codes.map((code) => digestOf(key, userId, code)),
  ])
}

/**
 * Wrong codes count with those of second factors. @throws AuthError `mfa_verification_failed` for a wrong or used one.
 */
async function verifyRecoveryCode(
  service: AuthService,
  { account: { id: userId }, sessionId }: SignedIn,
  { code, visitor }: { code: string; visitor: Visitor },
): Promise<Grant> {
  const guesses = factorBucket(userId)
  await enforceRateLimits(service, [factorAddressBucket(visitor), guesses])
  return service.database.asAuth(async (scope) => {
    await lockAccount(scope, userId)
    const used = await scope.query(
      'update auth.recovery_codes set used_at = now() where user_id = $1 and code_hash = $2 and used_at is null',
      [userId, digestOf(service.keys.recovery, userId, code.toLowerCase().replaceAll(/[\s-]/g, ''))],
    )
    if (used.rowCount !== 1) throw new AuthError('mfa_verification_failed', 'Invalid recovery code entered')
    await refundAttempt(scope, guesses.key)
    const account = await findAccount(scope, userId)
    if (account === undefined) throw new AuthError('user_not_found', 'User from sub claim in JWT does not exist')
    return raiseSession(scope, account, { sessionId, method: 'recovery_code', factorId: null })
  })
}
