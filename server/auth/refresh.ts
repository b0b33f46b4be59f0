/** Rotates refresh tokens: each is used once, and reuse of an old one ends its session. */
import type { Scope } from '#server/database/scope.ts'
import { findAccount, refusalOf } from './accounts.ts'
import { AuthError } from './errors.ts'
import type { Visitor } from './request.ts'
import type { AuthService } from './service.ts'
import {
  childTokenOf,
  type Grant,
  refreshTokenHash,
  type Session,
  sessionIsIdle,
  sessionHasExpired,
} from './sessions.ts'

/** Two tabs may refresh with one token within this interval. */
const REUSE_INTERVAL = '10 seconds'
/** More refreshes than any client makes within the reuse interval. */
const MAX_CHAIN_LENGTH = 100

interface StoredToken {
  readonly revoked: boolean
  readonly user_id: string
  readonly session_id: string
  readonly aal: string
  readonly amr: Session['amr']
  readonly is_over: boolean
  readonly is_idle: boolean
  readonly is_reusable: boolean
  readonly active_token: string | null
}

/**
 * A used token returns the active one if it is its parent (the client lost the answer) or was used within the reuse
 * interval; it never starts a second chain. Otherwise the token was copied, and its session is deleted.
 */
export async function refresh(service: AuthService, token: string, visitor: Visitor): Promise<Grant> {
  if (!/^[A-Za-z0-9_-]{12,512}$/.test(token)) throw new AuthError('validation_failed', 'Refresh token is not valid')
  // Commit before throwing, above all a revoked session.
  const outcome = await service.database.asAuth((scope) => exchange(scope, service, token, visitor))
  if (outcome instanceof AuthError) throw outcome
  return outcome
}

async function exchange(
  scope: Scope,
  { keys, settings }: AuthService,
  token: string,
  visitor: Visitor,
): Promise<Grant | AuthError> {
  const hash = refreshTokenHash(token)
  const stored = await lockAndRead(scope, hash, settings)
  if (stored === undefined) {
    return new AuthError('refresh_token_not_found', 'Invalid Refresh Token: Refresh Token Not Found')
  }
  const { session_id: sessionId, user_id: userId } = stored
  const account = await findAccount(scope, userId)
  if (account === undefined) return new AuthError('session_not_found', 'Session not found', { status: 400 })
  const refusal = refusalOf(account, { status: 400 })
  if (refusal) return refusal
  if (stored.is_over || stored.is_idle) {
    await scope.query('delete from auth.sessions where id = $1', [sessionId])
    const why = stored.is_over ? '' : ' (Inactivity)'
    return new AuthError('session_expired', `Invalid Refresh Token: Session Expired${why}`)
  }

  const next = stored.revoked
    ? findActive(keys.refresh, stored, token)
    : await rotate(scope, { sessionId, userId, hash, child: childTokenOf(keys.refresh, sessionId, token) })
  if (next === undefined) {
    await scope.query('delete from auth.sessions where id = $1', [sessionId])
    return new AuthError('refresh_token_already_used', 'Invalid Refresh Token: Already Used')
  }
  await scope.query(
    'update auth.sessions set refreshed_at = now(), updated_at = now(), user_agent = $2, ip = $3 where id = $1',
    [sessionId, visitor.userAgent, visitor.address ?? null],
  )
  return { account, session: { id: sessionId, aal: stored.aal, amr: stored.amr }, refreshToken: next }
}

/** Locks first, so that the read sees what the previous holder of the lock committed. */
async function lockAndRead(
  scope: Scope,
  hash: string,
  { sessionDays, sessionIdleDays }: AuthService['settings'],
): Promise<StoredToken | undefined> {
  await scope.query(
    'select from auth.sessions where id = (select session_id from auth.refresh_tokens where token = $1) for update',
    [hash],
  )
  const found = await scope.query<StoredToken>(
    `select t.revoked, t.user_id, t.session_id, s.aal, s.amr,
       ${sessionHasExpired({ days: '$3' })} as is_over, ${sessionIsIdle({ days: '$4' })} as is_idle,
       active.token as active_token,
       coalesce(active.parent = t.token, false) or t.updated_at > clock_timestamp() - $2::interval as is_reusable
     from auth.refresh_tokens t
     join auth.sessions s on s.id = t.session_id
     left join auth.refresh_tokens active on active.session_id = t.session_id and not active.revoked
     where t.token = $1`,
    [hash, REUSE_INTERVAL, sessionDays, sessionIdleDays],
  )
  return found.rows[0]
}

async function rotate(
  scope: Scope,
  { sessionId, userId, hash, child }: { sessionId: string; userId: string; hash: string; child: string },
): Promise<string> {
  await scope.query('update auth.refresh_tokens set revoked = true, updated_at = clock_timestamp() where token = $1', [
    hash,
  ])
  await scope.query('insert into auth.refresh_tokens (session_id, user_id, token, parent) values ($1, $2, $3, $4)', [
    sessionId,
    userId,
    refreshTokenHash(child),
    hash,
  ])
  return child
}

function findActive(key: Buffer, stored: StoredToken, token: string): string | undefined {
  if (!stored.is_reusable) return undefined
  let descendant = token
  for (let step = 0; step < MAX_CHAIN_LENGTH; step += 1) {
    descendant = childTokenOf(key, stored.session_id, descendant)
    if (refreshTokenHash(descendant) === stored.active_token) return descendant
  }
  return undefined
}
