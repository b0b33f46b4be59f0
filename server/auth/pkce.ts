/** PKCE (RFC 7636): a mailed link ends in a code that only the holder of the verifier can exchange for a session. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import type { Scope } from '#server/database/scope.ts'
import { type Account, findAccount, requireUsable } from './accounts.ts'
import { AuthError } from './errors.ts'
import { optionalText } from './request.ts'

export const challengeMembers = { code_challenge: optionalText, code_challenge_method: optionalText }

export interface Challenge {
  readonly challenge: string
  readonly method: 's256' | 'plain'
}

const METHODS = z.enum(['s256', 'plain'])
const CODE_LIFETIME = '5 minutes'

/** Undefined without PKCE. */
export function readChallenge({
  code_challenge: challenge,
  code_challenge_method: method,
}: {
  code_challenge: string
  code_challenge_method: string
}): Challenge | undefined {
  if (challenge === '' && method === '') return undefined
  if (challenge === '' || method === '') {
    throw new AuthError('validation_failed', 'PKCE flow requires code_challenge_method and code_challenge')
  }
  const known = METHODS.safeParse(method.toLowerCase())
  if (!known.success) throw new AuthError('validation_failed', 'code challenge method has to be s256 or plain')
  if (!/^[\w.~-]{43,128}$/.test(challenge)) {
    throw new AuthError(
      'validation_failed',
      'code challenge has to be 43 to 128 letters, digits, hyphens, periods, underscores and tildes',
    )
  }
  return { challenge, method: known.data }
}

/** Becomes the authentication method of the session. */
export type FlowMethod = 'email/signup' | 'magiclink' | 'recovery' | 'email_change' | 'invite' | 'oauth' | 'sso/saml'

/** Stores nothing for an unknown user id. */
export async function beginFlow(
  scope: Scope,
  {
    userId,
    method,
    pkce,
    provider = 'email',
    sessionNotAfter,
  }: {
    userId: string
    method: FlowMethod
    pkce: Challenge | undefined
    provider?: string
    sessionNotAfter?: Date | undefined
  },
): Promise<string | undefined> {
  if (pkce === undefined) return undefined
  const begun = await scope.query<{ id: string }>(
    `insert into auth.flow_state
       (user_id, code_challenge_method, code_challenge, provider_type, authentication_method, session_not_after)
     select u.id, $2, $3, $5, $4, $6 from auth.users u where u.id = $1 returning id`,
    [userId, pkce.method, pkce.challenge, method, provider, sessionNotAfter ?? null],
  )
  return begun.rows[0]?.id
}

const digestOf = (code: string): string => createHash('sha256').update(code).digest('hex')

export async function issueAuthCode(scope: Scope, flowId: string): Promise<string> {
  const code = randomBytes(32).toString('base64url')
  await scope.query(
    'update auth.flow_state set auth_code = $2, auth_code_issued_at = now(), updated_at = now() where id = $1',
    [flowId, digestOf(code)],
  )
  return code
}

interface Flow {
  readonly id: string
  readonly user_id: string
  readonly code_challenge_method: Challenge['method']
  readonly code_challenge: string
  readonly authentication_method: FlowMethod
  readonly provider_type: string
  readonly session_not_after: Date | null
  readonly is_over: boolean
}

/** Consumes a code. @throws AuthError `flow_state_not_found`, `flow_state_expired`, `bad_code_verifier`. */
export async function useAuthCode(
  scope: Scope,
  { code, verifier }: { code: string; verifier: string },
): Promise<{ account: Account; method: FlowMethod; provider?: string; notAfter?: Date | undefined }> {
  const found = await scope.query<Flow>(
    `select id, user_id, code_challenge_method, code_challenge, authentication_method, provider_type, session_not_after,
       auth_code_issued_at < now() - $2::interval as is_over
     from auth.flow_state where auth_code = $1 for update`,
    [digestOf(code), CODE_LIFETIME],
  )
  const flow = found.rows[0]
  const account = flow && (await findAccount(scope, flow.user_id))
  if (flow === undefined || account === undefined) {
    throw new AuthError('flow_state_not_found', 'invalid flow state, no valid flow state found')
  }
  if (flow.is_over) throw new AuthError('flow_state_expired', 'invalid flow state, flow state has expired')
  if (!isVerifierOf(flow, verifier)) {
    throw new AuthError('bad_code_verifier', 'code challenge does not match previously saved code verifier')
  }
  requireUsable(account, { status: 400 })
  await scope.query('delete from auth.one_time_tokens where flow_state_id = $1', [flow.id])
  await scope.query('delete from auth.flow_state where id = $1', [flow.id])
  const { authentication_method: method, provider_type: provider, session_not_after: end } = flow
  return method === 'sso/saml'
    ? { account, method, provider: provider.replace(/^sso:/, ''), notAfter: end ?? undefined }
    : { account, method }
}

function isVerifierOf({ code_challenge_method: method, code_challenge: challenge }: Flow, verifier: string): boolean {
  const brought = method === 's256' ? createHash('sha256').update(verifier).digest('base64url') : verifier
  const [one, other] = [Buffer.from(brought), Buffer.from(challenge)]
  return one.length === other.length && timingSafeEqual(one, other)
}
