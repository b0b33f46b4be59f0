import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { Scope } from '#server/database/scope.ts'
import type { Account } from './accounts.ts'
import { AuthError } from './errors.ts'
import type { FlowMethod } from './pkce.ts'
import type { Visitor } from './request.ts'

/** `timestamp` is in unix seconds. */
interface AuthenticationMethod {
  readonly method: 'password' | 'otp' | 'totp' | 'mfa/phone' | 'recovery_code' | 'anonymous' | FlowMethod
  readonly timestamp: number
  /** Id of the SAML provider. */
  readonly provider?: string
}

export interface Session {
  readonly id: string
  readonly aal: string
  readonly amr: readonly AuthenticationMethod[]
}

/** The refresh token is never stored, only its digest. */
export interface Grant {
  readonly account: Account
  readonly session: Session
  readonly refreshToken: string
}

export const refreshTokenHash = (token: string): string => createHash('sha256').update(token).digest('hex')

/** Derived, as only digests are stored: a second tab, or a client that lost the answer, gets an equal token. */
export const childTokenOf = (key: Buffer, sessionId: string, parent: string): string =>
  createHmac('sha256', key).update(`${sessionId} ${parent}`).digest('base64url')

/** SQL condition on `auth.sessions s`; `days` is a parameter, 0 for no limit. */
export const sessionHasExpired = ({ days }: { days: string }): string =>
  `(coalesce(s.not_after < now(), false) or (${days}::int > 0 and s.created_at < now() - make_interval(days => ${days}::int)))`
export const sessionIsIdle = ({ days }: { days: string }): string =>
  `(${days}::int > 0 and coalesce(s.refreshed_at, s.created_at) < now() - make_interval(days => ${days}::int))`

async function insertFirstToken(scope: Scope, sessionId: string, userId: string): Promise<string> {
  const refreshToken = randomBytes(32).toString('base64url')
  await scope.prepared('insert into auth.refresh_tokens (session_id, user_id, token) values ($1, $2, $3)', [
    sessionId,
    userId,
    refreshTokenHash(refreshToken),
  ])
  return refreshToken
}

interface Opening {
  readonly method: AuthenticationMethod['method']
  readonly visitor: Visitor
  readonly provider?: string
  readonly notAfter?: Date | undefined
}

export async function openSession(
  scope: Scope,
  account: Account,
  { method, visitor, provider, notAfter }: Opening,
): Promise<Grant> {
  const proof: AuthenticationMethod = {
    method,
    timestamp: Math.floor(Date.now() / 1000),
    ...(provider === undefined ? {} : { provider }),
  }
  const opened = await scope.prepared<Session>(
    `insert into auth.sessions (user_id, amr, user_agent, ip, not_after) values ($1, $2, $3, $4, $5)
     returning id, aal, amr`,
    [account.id, JSON.stringify([proof]), visitor.userAgent, visitor.address ?? null, notAfter ?? null],
  )
  const session = opened.rows[0]
  if (session === undefined) throw new AuthError('unexpected_failure', 'Error creating a session')
  return { account, session, refreshToken: await insertFirstToken(scope, session.id, account.id) }
}

/** The new chain of refresh tokens keeps older tokens from the higher level. The person's sessions below aal2 end. */
export async function raiseSession(
  scope: Scope,
  account: Account,
  {
    sessionId,
    method,
    factorId,
  }: { sessionId: string; method: 'totp' | 'mfa/phone' | 'recovery_code'; factorId: string | null },
): Promise<Grant> {
  const proof: AuthenticationMethod = { method, timestamp: Math.floor(Date.now() / 1000) }
  const raised = await scope.query<Session>(
    `update auth.sessions set aal = 'aal2', factor_id = $2, amr = $3::jsonb || amr, updated_at = now()
     where id = $1 and user_id = $4 returning id, aal, amr`,
    [sessionId, factorId, JSON.stringify([proof]), account.id],
  )
  const session = raised.rows[0]
  if (session === undefined)
    throw new AuthError('session_not_found', 'Session from session_id claim in JWT does not exist')
  await scope.query(`delete from auth.sessions where user_id = $1 and aal < 'aal2'`, [account.id])
  await scope.query('delete from auth.refresh_tokens where session_id = $1', [sessionId])
  return { account, session, refreshToken: await insertFirstToken(scope, sessionId, account.id) }
}

/** Lowers the sessions that the factor had raised. */
export async function lowerSessions(scope: Scope, factorId: string): Promise<void> {
  await scope.query(
    `update auth.sessions set aal = 'aal1', factor_id = null, updated_at = now(),
       amr = jsonb_path_query_array(amr, '$[*] ? (@.method != "totp" && @.method != "mfa/phone")')
     where factor_id = $1`,
    [factorId],
  )
}
