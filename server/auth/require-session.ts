import type { Context } from 'hono'
import { bearerOf } from '#server/access/authenticate.ts'
import type { VerifiedClaims } from '#server/access/tokens.ts'
import type { Scope } from '#server/database/scope.ts'
import { type Account, findAccount, hasVerifiedFactor, requireUsable } from './accounts.ts'
import { AuthError } from './errors.ts'
import { noteAccount } from './event-log.ts'
import type { AuthService } from './service.ts'

export interface SignedIn {
  readonly account: Account
  readonly sessionId: string
  /** The lower level of token and session: a token issued before the second factor remains `aal1`. */
  readonly aal: 'aal1' | 'aal2'
  readonly openedAt: Date
}

/** Accepts Bearer tokens only. Looks the session up, so a token is invalid after sign-out. */
export async function requireSession(context: Context, { database, tokens }: AuthService): Promise<SignedIn> {
  const bearer = bearerOf(context)
  if (bearer === undefined) {
    throw new AuthError('no_authorization', 'This endpoint requires a valid Bearer token')
  }
  const { sub, session_id: sessionId, aal } = await verifyBearer(tokens, bearer)
  if (sub === undefined) throw new AuthError('bad_jwt', 'invalid claim: missing sub claim')
  const { account, session } = await database.asAuth(async (scope) => ({
    account: await findAccount(scope, sub),
    session: await findSession(scope, sessionId, sub),
  }))
  if (account === undefined) throw new AuthError('user_not_found', 'User from sub claim in JWT does not exist')
  if (sessionId === undefined || session === undefined) {
    throw new AuthError('session_not_found', 'Session from session_id claim in JWT does not exist')
  }
  requireUsable(account)
  noteAccount(context, account.id)
  const level = aal === 'aal2' && session.aal === 'aal2' ? 'aal2' : 'aal1'
  return { account, sessionId, aal: level, openedAt: session.created_at }
}

/** @throws AuthError `insufficient_aal` if the account has a second factor that the session did not verify. */
export function requireFullLevel(person: SignedIn): SignedIn {
  if (person.aal === 'aal1' && hasVerifiedFactor(person.account)) {
    throw new AuthError('insufficient_aal', 'Enter the code of your second factor first')
  }
  return person
}

async function findSession(scope: Scope, id: string | undefined, userId: string) {
  const found = await scope.query<{ aal: string; created_at: Date }>(
    'select aal, created_at from auth.sessions where id = $1 and user_id = $2',
    [id, userId],
  )
  return found.rows[0]
}

/** Accepts the operator's key, and an account that has the role now: its token would keep it for an hour. */
export async function requireServiceRole(context: Context, service: AuthService): Promise<void> {
  const bearer = bearerOf(context)
  if (bearer === undefined) throw new AuthError('no_authorization', 'This endpoint requires a valid Bearer token')
  const { role, sub, session_id: sessionId } = await verifyBearer(service.tokens, bearer)
  if (role !== 'service_role') throw new AuthError('not_admin', 'User not allowed')
  if (sub === undefined && sessionId === undefined) return
  const { account } = requireFullLevel(await requireSession(context, service))
  if (account.role !== 'service_role') throw new AuthError('not_admin', 'User not allowed')
}

async function verifyBearer(tokens: AuthService['tokens'], bearer: string): Promise<VerifiedClaims> {
  try {
    return await tokens.verify(bearer)
  } catch (error) {
    throw new AuthError('bad_jwt', 'invalid JWT: unable to parse or verify signature', { cause: error })
  }
}
