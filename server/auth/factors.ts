/** /factors: enrols, challenges, verifies and removes second factors. */
import { randomUUID } from 'node:crypto'
import { type Context, Hono } from 'hono'
import { z } from 'zod'
import { PRODUCT_NAME } from '#contract/product-names.ts'
import { codeOf } from '#server/base/errors.ts'
import type { Scope } from '#server/database/scope.ts'
import { type Factor, findAccount, hasVerifiedFactor, lockAccount } from './accounts.ts'
import { AuthError } from './errors.ts'
import { addressBucket, factorAddressBucket, enforceRateLimits } from './rate-limits.ts'
import { preparePhoneCode, requirePhoneEnrolment } from './phone-factors.ts'
import { optionalText, readBody, visitorOf } from './request.ts'
import { requireSession, type SignedIn } from './require-session.ts'
import type { AuthService } from './service.ts'
import { grantSession } from './session-answer.ts'
import { lowerSessions } from './sessions.ts'
import { createTotp, encryptSecret } from './totp.ts'
import { CHALLENGE_LIFETIME_S, verifyFactor } from './verify-factor.ts'

const enrolBody = z.object({
  factor_type: optionalText,
  friendly_name: optionalText,
  issuer: optionalText,
  phone: optionalText,
})
const challengeBody = z.object({ channel: optionalText })
type EnrolBody = z.output<typeof enrolBody>
const verifyBody = z.object({ challenge_id: optionalText, code: optionalText })

const MAX_NAME_LENGTH = 100
const MAX_FACTORS = 10
const ENROLMENT_LIFETIME = '5 minutes'
const UNIQUE_VIOLATION = '23505'

export function factorRoutes(service: AuthService): Hono {
  const { database, settings, keys } = service
  const app = new Hono()

  app.post('/factors', async (context) => {
    const person = await requireSession(context, service)
    const body = await readBody(context, enrolBody)
    requireEnrolment(body, person)
    await enforceRateLimits(service, [addressBucket('user', visitorOf(context, settings))])
    const { account } = person
    const name = body.friendly_name.trim()
    const id = randomUUID()
    if (body.factor_type === 'phone') {
      const phone = requirePhoneEnrolment(service, body.phone, person)
      await database.asAuth((scope) => insertFactor(scope, person, { id, name, type: 'phone', phone }))
      return context.json({ id, type: 'phone', friendly_name: name, phone })
    }
    const totp = createTotp({ issuer: body.issuer || PRODUCT_NAME, label: account.email ?? account.id })
    const secret = encryptSecret(keys.factors, id, totp.secret)
    await database.asAuth((scope) => insertFactor(scope, person, { id, name, type: 'totp', secret }))
    return context.json({
      id,
      type: 'totp',
      friendly_name: name,
      totp: { qr_code: totp.qrCode, secret: totp.secret, uri: totp.uri },
    })
  })

  app.post('/factors/:id/challenge', async (context) => {
    const person = await requireSession(context, service)
    const { id: factorId, factor_type: type, phone } = findFactor(person, context.req.param('id'))
    const visitor = visitorOf(context, settings)
    await enforceRateLimits(service, [factorAddressBucket(visitor)])
    const id = randomUUID()
    const message =
      type === 'phone'
        ? await preparePhoneCode(service, person, {
            challengeId: id,
            phone: phone ?? '',
            channel: (await readChallengeBody(context)).channel,
          })
        : undefined
    await database.asAuth(async (scope) => {
      await scope.query(
        'insert into auth.mfa_challenges (id, factor_id, ip_address, otp_code) values ($1, $2, $3, $4)',
        [id, factorId, visitor.address ?? null, message?.hash ?? null],
      )
      await scope.query('update auth.mfa_factors set last_challenged_at = clock_timestamp() where id = $1', [factorId])
    })
    await message?.send()
    return context.json({ id, type, expires_at: Math.floor(Date.now() / 1000) + CHALLENGE_LIFETIME_S })
  })

  app.post('/factors/:id/verify', async (context) => {
    const person = await requireSession(context, service)
    const { id: factorId } = findFactor(person, context.req.param('id'))
    const { challenge_id: challengeId, code } = await readBody(context, verifyBody)
    const visitor = visitorOf(context, settings)
    return context.json(
      await grantSession(
        context,
        service,
        await verifyFactor(service, person, { factorId, challengeId, code, visitor }),
      ),
    )
  })

  app.delete('/factors/:id', async (context) => {
    const person = await requireSession(context, service)
    const { id, status } = findFactor(person, context.req.param('id'))
    if (status === 'verified' && person.aal === 'aal1') {
      throw new AuthError('insufficient_aal', 'AAL2 required to unenroll verified factor', { status: 422 })
    }
    await database.asAuth((scope) => deleteFactor(scope, { userId: person.account.id, id }))
    return context.json({ id })
  })

  return app
}

function requireEnrolment({ factor_type: type, friendly_name: name, issuer }: EnrolBody, person: SignedIn): void {
  if (person.account.is_anonymous) {
    const message = 'Anonymous user not allowed to perform these actions'
    throw new AuthError('no_authorization', message, { status: 403 })
  }
  if (type === 'webauthn') throw new AuthError('mfa_webauthn_enroll_not_enabled', 'MFA enroll is disabled for WebAuthn')
  if (type !== 'totp' && type !== 'phone') {
    throw new AuthError('validation_failed', 'factor_type needs to be totp, phone, or webauthn')
  }
  if (name.length > MAX_NAME_LENGTH || issuer.length > MAX_NAME_LENGTH) {
    throw new AuthError('validation_failed', `friendly_name and issuer have at most ${MAX_NAME_LENGTH} characters`)
  }
  requireLevelToEnrol(person)
}

function requireLevelToEnrol({ account, aal }: Pick<SignedIn, 'account' | 'aal'>): void {
  if (aal === 'aal1' && hasVerifiedFactor(account)) {
    throw new AuthError('insufficient_aal', 'AAL2 required to enroll a new factor')
  }
}

/** Many clients send no body for authenticator-app challenges. */
const readChallengeBody = async (context: Context) =>
  (await context.req.text()) === '' ? { channel: '' } : readBody(context, challengeBody)

/** @throws AuthError `mfa_factor_not_found`, also for factors of other people. */
function findFactor({ account }: SignedIn, id: string): Factor {
  const factor = account.factors.find((known) => known.id === id)
  if (factor === undefined) throw new AuthError('mfa_factor_not_found', 'Factor not found')
  return factor
}

type NewFactor = { readonly id: string; readonly name: string } & (
  { readonly type: 'totp'; readonly secret: string } | { readonly type: 'phone'; readonly phone: string }
)

async function insertFactor(
  scope: Scope,
  { account: { id: userId }, aal }: SignedIn,
  { id, name, ...means }: NewFactor,
): Promise<void> {
  // Serialises enrolments of a person to enforce the limit.
  await lockAccount(scope, userId)
  await scope.query(
    `delete from auth.mfa_factors
     where user_id = $1 and status = 'unverified' and created_at < now() - $2::interval`,
    [userId, ENROLMENT_LIFETIME],
  )
  const account = await findAccount(scope, userId)
  if (account === undefined) throw new AuthError('user_not_found', 'User from sub claim in JWT does not exist')
  if (account.factors.length >= MAX_FACTORS) {
    throw new AuthError(
      'too_many_enrolled_mfa_factors',
      'Maximum number of verified factors reached, unenroll to continue',
    )
  }
  requireLevelToEnrol({ account, aal })
  try {
    await scope.query(
      `insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, secret, phone)
       values ($1, $2, $3, $4, $5, $6)`,
      [
        id,
        userId,
        name,
        means.type,
        means.type === 'totp' ? means.secret : null,
        means.type === 'phone' ? means.phone : null,
      ],
    )
  } catch (error) {
    if (codeOf(error) !== UNIQUE_VIOLATION) throw error
    const message = `A factor with the friendly name "${name}" for this user already exists`
    throw new AuthError('mfa_factor_name_conflict', message, { cause: error })
  }
}

/** Also lowers the sessions that the factor raised. */
export async function deleteFactor(scope: Scope, { userId, id }: { userId: string; id: string }): Promise<void> {
  await lockAccount(scope, userId)
  await scope.query('delete from auth.mfa_factors where id = $1', [id])
  await lowerSessions(scope, id)
}
