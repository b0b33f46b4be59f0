import { type Context } from 'hono'
import { bearerOf } from '#server/access/authenticate.ts'
import { type VerifiedClaims } from '#server/access/tokens.ts'
import { type Account, findAccount, isBanned } from './accounts.ts'
import { AuthError } from './errors.ts'
import { type AuthService } from './service.ts'

export interface SignedIn {
  readonly account: Account
  readonly sessionId: string
}

/** Who is asking, by Bearer token alone. The session is looked up, so that a token is worth nothing after signing out. */
export async function requireSession(context: Context, { database, tokens }: AuthService): Promise<SignedIn> {
  const bearer = bearerOf(context)
  if (bearer === undefined) {
    throw new AuthError('no_authorization', 'This endpoint requires a valid Bearer token')
  }
  const { sub, session_id: sessionId } = await verifyBearer(tokens, bearer)
  if (sub === undefined) throw new AuthError('bad_jwt', 'invalid claim: missing sub claim')
  const { account, isOpen } = await database.asAuth(async (scope) => ({
    account: await findAccount(scope, sub),
    isOpen:
      (await scope.query('select from auth.sessions where id = $1 and user_id = $2', [sessionId, sub])).rowCount === 1,
  }))
  if (account === undefined) throw new AuthError('user_not_found', 'User from sub claim in JWT does not exist')
  if (sessionId === undefined || !isOpen) {
    throw new AuthError('session_not_found', 'Session from session_id claim in JWT does not exist')
  }
  if (isBanned(account)) throw new AuthError('user_banned', 'User is banned')
  return { account, sessionId }
}

async function verifyBearer(tokens: AuthService['tokens'], bearer: string): Promise<VerifiedClaims> {
  try {
    return await tokens.verify(bearer)
  } catch (error) {
    throw new AuthError('bad_jwt', 'invalid JWT: unable to parse or verify signature', { cause: error })
  }
}
