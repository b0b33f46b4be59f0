import { refundAttempt } from '#server/access/token-bucket.ts'
import type { Scope } from '#server/database/scope.ts'
import { findAccount, hasVerifiedFactor, lockAccount } from './accounts.ts'
import { AuthError } from './errors.ts'
import { factorAddressBucket, factorBucket, enforceRateLimits } from './rate-limits.ts'
import { checkPhoneCode } from './phone-factors.ts'
import type { Visitor } from './request.ts'
import type { SignedIn } from './require-session.ts'
import type { AuthService } from './service.ts'
import { type Grant, raiseSession } from './sessions.ts'
import { findStep, decryptSecret } from './totp.ts'

export const CHALLENGE_LIFETIME_S = 300

interface Attempt {
  readonly factorId: string
  readonly challengeId: string
  readonly code: string
  readonly visitor: Visitor
}

/**
 * @throws AuthError `mfa_verification_failed` for a wrong or used code, `mfa_challenge_expired`,
 * `mfa_ip_address_mismatch` for a used challenge or one from another address, `mfa_factor_not_found`.
 */
export async function verifyFactor(service: AuthService, person: SignedIn, attempt: Attempt): Promise<Grant> {
  const guesses = factorBucket(person.account.id)
  await enforceRateLimits(service, [factorAddressBucket(attempt.visitor), guesses])
  return service.database.asAuth(async (scope) => {
    // Serialised per person, so that a concurrent use of the code fails.
    await lockAccount(scope, person.account.id)
    await useChallenge(scope, attempt)
    const isPhone = person.account.factors.some(
      ({ id, factor_type: type }) => id === attempt.factorId && type === 'phone',
    )
    await (isPhone ? checkPhoneCode(scope, service, attempt) : useCode(scope, service.keys.factors, attempt))
    await refundAttempt(scope, guesses.key)
    await markVerified(scope, person, attempt.factorId)
    const account = await findAccount(scope, person.account.id)
    if (account === undefined) throw new AuthError('user_not_found', 'User from sub claim in JWT does not exist')
    return raiseSession(scope, account, {
      sessionId: person.sessionId,
      method: isPhone ? 'mfa/phone' : 'totp',
      factorId: attempt.factorId,
    })
  })
}

/** A wrong code rolls this back, so that the person can try again. */
async function useChallenge(scope: Scope, { factorId, challengeId, visitor }: Attempt): Promise<void> {
  const found = await scope.query<{ is_usable: boolean; is_over: boolean }>(
    `update auth.mfa_challenges c set verified_at = now()
     from auth.mfa_challenges before
     where c.id = before.id and c.id::text = $1 and c.factor_id = $2
     returning before.verified_at is null and before.ip_address is not distinct from $3::inet as is_usable,
       before.created_at < now() - make_interval(secs => $4) as is_over`,
    [challengeId, factorId, visitor.address ?? null, CHALLENGE_LIFETIME_S],
  )
  const challenge = found.rows[0]
  if (challenge === undefined) {
    throw new AuthError('mfa_factor_not_found', 'MFA factor with the provided challenge ID not found')
  }
  if (!challenge.is_usable) {
    throw new AuthError('mfa_ip_address_mismatch', 'Challenge and verify IP addresses mismatch.')
  }
  if (challenge.is_over) {
    const message = `MFA challenge ${challengeId} has expired, verify against another challenge or create a new challenge.`
    throw new AuthError('mfa_challenge_expired', message)
  }
}

async function useCode(scope: Scope, key: Buffer, { factorId, code }: Attempt): Promise<void> {
  const found = await scope.query<{ secret: string; last_used_step: number }>(
    'select secret, last_used_step from auth.mfa_factors where id = $1 for update',
    [factorId],
  )
  const factor = found.rows[0]
  if (factor === undefined) throw new AuthError('mfa_factor_not_found', 'Factor not found')
  const step = findStep(decryptSecret(key, factorId, factor.secret), code, Date.now())
  if (step === undefined || step <= factor.last_used_step) {
    throw new AuthError('mfa_verification_failed', 'Invalid TOTP code entered')
  }
  await scope.query('update auth.mfa_factors set last_used_step = $2 where id = $1', [factorId, step])
}

/** The first code verifies the factor and deletes other pending enrolments. */
async function markVerified(scope: Scope, { account: { id }, aal }: SignedIn, factorId: string): Promise<void> {
  const account = await findAccount(scope, id)
  const factor = account?.factors.find((known) => known.id === factorId)
  if (account === undefined || factor?.status !== 'unverified') return
  if (aal === 'aal1' && hasVerifiedFactor(account)) {
    throw new AuthError('insufficient_aal', 'AAL2 required to verify a new factor')
  }
  await scope.query(`update auth.mfa_factors set status = 'verified', updated_at = now() where id = $1`, [factorId])
  await scope.query(`delete from auth.mfa_factors where user_id = $1 and status = 'unverified'`, [id])
}
