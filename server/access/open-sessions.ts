/**
 * Access tokens are believed for an hour by their signature alone. Here the session behind each is looked up as well, once
 * per process, so that after signing out, or after a stolen refresh token was noticed, a token is worth nothing anywhere.
 * Where its person has a second factor, a token that was given for the first one alone is worth nothing either.
 */
import { AppError } from '#server/base/errors.ts'
import { type Listener } from '#server/database/listen.ts'
import { type Database } from '#server/database/scope.ts'
import { type TokenVerifier } from './tokens.ts'

/** Rung with the session's id, by a trigger, in the transaction that deletes it. */
const SESSION_END_CHANNEL = 'realtime_session_end'
/** Rung by a trigger when somebody gains or loses a second factor. */
const FACTORS_CHANNEL = 'auth_factors'
const KNOWN_SESSIONS = 10_000

/** Undefined where it has ended. */
type KnownSession = { readonly has_factor: boolean } | undefined

/**
 * The same tokens, whose `verify` also refuses those of an ended session.
 * @param everyoneHasFactor whether who has no second factor yet is refused until they have.
 */
export async function requireOpenSessions(
  tokens: TokenVerifier,
  database: Database,
  listener: Listener,
  { everyoneHasFactor = false }: { everyoneHasFactor?: boolean } = {},
): Promise<TokenVerifier> {
  // A look-up that is under way when its session ends is forgotten with it: the next one begins after the deletion.
  const known = new Map<string, Promise<KnownSession>>()
  await listener.on(SESSION_END_CHANNEL, (id) => known.delete(id))
  await listener.on(FACTORS_CHANNEL, () => known.clear())
  listener.onReconnect(() => known.clear())

  function find(sessionId: string): Promise<KnownSession> {
    const found = known.get(sessionId)
    if (found) return found
    if (known.size >= KNOWN_SESSIONS) known.clear()
    const asked = database.asAuth(async (scope) => {
      const { rows } = await scope.query<{ has_factor: boolean }>(
        `select exists (
           select from auth.mfa_factors f where f.user_id = s.user_id and f.status = 'verified'
         ) as has_factor
         from auth.sessions s where s.id = $1`,
        [sessionId],
      )
      return rows[0]
    })
    known.set(sessionId, asked)
    asked.catch(() => known.get(sessionId) === asked && known.delete(sessionId))
    return asked
  }

  /** Whoever has just given up a factor asks again before the news of it has come round. */
  async function wantsSecondFactor(sessionId: string): Promise<boolean> {
    if ((await find(sessionId))?.has_factor !== true) return false
    known.delete(sessionId)
    return (await find(sessionId))?.has_factor === true
  }

  return {
    async verify(token) {
      const claims = await tokens.verify(token)
      const { session_id: sessionId } = claims
      if (sessionId === undefined) return claims
      if ((await find(sessionId)) === undefined) {
        throw new AppError('unauthenticated', 'This session has ended. Sign in again.', {
          details: { reason: 'ended' },
        })
      }
      if (claims['aal'] !== 'aal2' && (await wantsSecondFactor(sessionId))) {
        throw new AppError('unauthenticated', 'Enter the code of your second factor first.', {
          details: { reason: 'second_factor' },
        })
      }
      if (claims['aal'] !== 'aal2' && everyoneHasFactor) {
        throw new AppError('unauthenticated', 'Set up a second factor first: it is asked of everybody here.', {
          details: { reason: 'enrolment' },
        })
      }
      return claims
    },
  }
}
