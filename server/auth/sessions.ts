/** Sessions and the refresh tokens that keep them going. */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { type Scope } from '#server/database/scope.ts'
import { type Account } from './accounts.ts'
import { AuthError } from './errors.ts'
import { type Visitor } from './request.ts'

/** How somebody proved who they are: `password` or `otp`, and when, in unix seconds. */
interface AuthenticationMethod {
  readonly method: string
  readonly timestamp: number
}

export interface Session {
  readonly id: string
  readonly aal: string
  readonly amr: readonly AuthenticationMethod[]
}

/** The session of an answer, with the one thing that is never stored: the refresh token itself. */
export interface Grant {
  readonly account: Account
  readonly session: Session
  readonly refreshToken: string
}

/** Refresh tokens are stored as digests. */
export const refreshTokenHash = (token: string): string => createHash('sha256').update(token).digest('hex')

/**
 * The token that follows `parent`. It follows from it, so that a second tab, or a client that lost the answer, can be
 * given the very same one although only its digest is stored.
 */
export const childTokenOf = (key: Buffer, sessionId: string, parent: string): string =>
  createHmac('sha256', key).update(`${sessionId} ${parent}`).digest('base64url')

export async function openSession(
  scope: Scope,
  account: Account,
  { method, visitor }: { method: 'password' | 'otp'; visitor: Visitor },
): Promise<Grant> {
  const refreshToken = randomBytes(32).toString('base64url')
  const amr = [{ method, timestamp: Math.floor(Date.now() / 1000) }]
  const opened = await scope.query<Session>(
    `insert into auth.sessions (user_id, amr, user_agent, ip) values ($1, $2, $3, $4) returning id, aal, amr`,
    [account.id, JSON.stringify(amr), visitor.userAgent, visitor.address ?? null],
  )
  const session = opened.rows[0]
  if (session === undefined) throw new AuthError('unexpected_failure', 'Error creating a session')
  await scope.query('insert into auth.refresh_tokens (session_id, user_id, token) values ($1, $2, $3)', [
    session.id,
    account.id,
    refreshTokenHash(refreshToken),
  ])
  return { account, session, refreshToken }
}
