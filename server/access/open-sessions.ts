/**
 * Access tokens are believed for an hour by their signature alone. Here the session behind each is looked up as well, once
 * per process, so that after signing out, or after a stolen refresh token was noticed, a token is worth nothing anywhere.
 */
import { AppError } from '#server/base/errors.ts'
import { type Listener } from '#server/database/listen.ts'
import { type Database } from '#server/database/scope.ts'
import { type Tokens } from './tokens.ts'

/** Rung with the session's id, by a trigger, in the transaction that deletes it. */
const SESSION_END_CHANNEL = 'realtime_session_end'
const KNOWN_SESSIONS = 10_000

/** The same tokens, whose `verify` also refuses those of an ended session. */
export async function requireOpenSessions(tokens: Tokens, database: Database, listener: Listener): Promise<Tokens> {
  // A look-up that is under way when its session ends is forgotten with it: the next one begins after the deletion.
  const known = new Map<string, Promise<boolean>>()
  await listener.on(SESSION_END_CHANNEL, (id) => known.delete(id))
  listener.onReconnect(() => known.clear())

  function isOpen(sessionId: string): Promise<boolean> {
    const found = known.get(sessionId)
    if (found) return found
    if (known.size >= KNOWN_SESSIONS) known.clear()
    const asked = database.asAuth(
      async (scope) => (await scope.query('select from auth.sessions where id = $1', [sessionId])).rowCount === 1,
    )
    known.set(sessionId, asked)
    asked.catch(() => known.get(sessionId) === asked && known.delete(sessionId))
    return asked
  }

  return {
    ...tokens,
    async verify(token) {
      const claims = await tokens.verify(token)
      if (claims.session_id !== undefined && !(await isOpen(claims.session_id))) {
        throw new AppError('unauthenticated', 'This session has ended. Sign in again.', {
          details: { reason: 'ended' },
        })
      }
      return claims
    },
  }
}
