/** A signature is valid for an hour; this cached session look-up rejects tokens of ended sessions at once. */
import { AppError } from '#server/base/errors.ts'
import type { Listener } from '#server/database/listen.ts'
import type { Database } from '#server/database/scope.ts'
import type { TokenVerifier } from './tokens.ts'

const SESSION_END_CHANNEL = 'realtime_session_end'
const FACTORS_CHANNEL = 'auth_factors'
const MAX_CACHED_SESSIONS = 10_000

/** Asks the database, also for sessions whose end was not told. */
export async function isSessionOpen(database: Database, sessionId: string): Promise<boolean> {
  const { rowCount } = await database.asAuth((scope) =>
    scope.query('select from auth.sessions where id = $1', [sessionId]),
  )
  return rowCount === 1
}

/** Undefined for an account that is not in this database, such as one of another issuer. */
export async function findAccountState(database: Database, id: string): Promise<'open' | 'closed' | undefined> {
  const { rows } = await database.asAuth((scope) =>
    scope.query<{ is_open: boolean }>(
      `select deleted_at is null and (banned_until is null or banned_until <= now()) as is_open
       from auth.users where id = $1`,
      [id],
    ),
  )
  const [found] = rows
  return found && (found.is_open ? 'open' : 'closed')
}

/** False for an account that is disabled or deleted. */
export const isAccountOpen = async (database: Database, id: string): Promise<boolean> =>
  (await findAccountState(database, id)) === 'open'

type CachedSession = { readonly has_factor: boolean } | undefined

export async function requireOpenSessions(
  tokens: TokenVerifier,
  database: Database,
  listener: Listener,
  { everyoneHasFactor = false }: { everyoneHasFactor?: boolean } = {},
): Promise<TokenVerifier> {
  // Holds promises, so that a look-up in progress is dropped when its session ends.
  const cached = new Map<string, Promise<CachedSession>>()
  await listener.on(SESSION_END_CHANNEL, (id) => cached.delete(id))
  await listener.on(FACTORS_CHANNEL, () => cached.clear())
  listener.onReconnect(() => cached.clear())

  function find(sessionId: string): Promise<CachedSession> {
    const found = cached.get(sessionId)
    if (found) return found
    if (cached.size >= MAX_CACHED_SESSIONS) cached.clear()
    const lookup = database.asAuth(async (scope) => {
      const { rows } = await scope.query<{ has_factor: boolean }>(
        `select exists (
           select from auth.mfa_factors f where f.user_id = s.user_id and f.status = 'verified'
         ) as has_factor
         from auth.sessions s where s.id = $1`,
        [sessionId],
      )
      return rows[0]
    })
    cached.set(sessionId, lookup)
    lookup.catch(() => cached.get(sessionId) === lookup && cached.delete(sessionId))
    return lookup
  }

  /** Reads again before it rejects: the notification of a removed factor may still be on its way. */
  async function lacksSecondFactor(sessionId: string): Promise<boolean> {
    if ((await find(sessionId))?.has_factor !== true) return false
    cached.delete(sessionId)
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
      if (claims['aal'] !== 'aal2' && (await lacksSecondFactor(sessionId))) {
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
