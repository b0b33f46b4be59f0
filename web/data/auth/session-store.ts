/**
 * The stored session, in which an access token lives as long as the server said, counted from its arrival here. The auth
 * client compares the server's clock with the browser's, which may be wrong, or be set while the page is open.
 */
import { claimsOf } from './token-claims.ts'

type TextStore = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** `expires_at`: seconds since 1970 by the browser's clock when the token arrived; the server's answer has its own. */
type Stored = { access_token: string; refresh_token: string; expires_in?: number; expires_at?: number }

interface SessionStore extends TextStore {
  /** The stored session, if another page has replaced the refresh token, which was read here. */
  readonly replacementOf: (refreshToken: string) => string | null
  /** Whether the stored session is this person's. */
  readonly isOf: (userId: string) => boolean
  /** Lets the token be refreshed by its next reader. Returns false for one that has just arrived. */
  readonly expire: (accessToken: string) => boolean
  /** Milliseconds since 1970 by the server's clock, as far as it is known. */
  readonly serverTime: () => number
}

const DEFAULT_LIFETIME_S = 3600
/** Clocks are set back by seconds while they are kept right; one further back says nothing about the time that passed. */
const MAX_CORRECTION_MS = 60_000
/** A younger token that the server rejects is no expired one. */
const MIN_AGE_MS = 60_000
/** Smaller differences may be the way of the token from the server. */
const MIN_CLOCK_ERROR_MS = 10_000

function parse(text: string | null): Stored | null {
  try {
    const value: unknown = JSON.parse(text ?? 'null')
    return typeof value === 'object' && value !== null && 'access_token' in value && 'refresh_token' in value
      ? (value as Stored)
      : null
  } catch {
    return null
  }
}

function lifetimeOf({ access_token: token, expires_in: given = DEFAULT_LIFETIME_S }: Stored): number {
  const { exp, iat } = claimsOf(token)
  return 1000 * (typeof exp === 'number' && typeof iat === 'number' ? exp - iat : given)
}

/** Negative if the clock was set back since. */
const ageByClock = (session: Stored): number =>
  session.expires_at === undefined ? 0 : Date.now() + lifetimeOf(session) - 1000 * session.expires_at

/** @param sessionKey the key of the session; others are stored as they are */
export function createSessionStore(store: TextStore, sessionKey: string): SessionStore {
  /** The newest token that this page knows, and when it arrived, by the timer of the page, which no setting changes. */
  let known = { token: '', at: 0 }
  const readTokens = new Set<string>()

  function noteArrival(session: Stored): void {
    const { access_token: token } = session
    if (token === known.token) return
    const byClock = ageByClock(session)
    const isFirst = known.token === ''
    const age = byClock > -MAX_CORRECTION_MS ? Math.max(byClock, 0) : isFirst ? Number.POSITIVE_INFINITY : 0
    known = { token, at: performance.now() - age }
  }

  /** The timer may rest while the computer sleeps, and the clock may be set: the longer time counts. */
  const ageOf = (session: Stored): number => Math.max(performance.now() - known.at, ageByClock(session))

  function read(): Stored | null {
    const session = parse(store.getItem(sessionKey))
    if (session !== null) noteArrival(session)
    return session
  }

  /** With the expiry by the browser's clock, as the auth client compares it. */
  function describe(session: Stored): string {
    const expiresAt = Math.floor((Date.now() + lifetimeOf(session) - ageOf(session)) / 1000)
    // The auth client takes 0 for a session that never expires.
    return JSON.stringify({ ...session, expires_at: Math.max(1, expiresAt) })
  }

  return {
    getItem(key) {
      const session = key === sessionKey ? read() : null
      if (session === null) return store.getItem(key)
      readTokens.add(session.refresh_token)
      return describe(session)
    },
    setItem(key, text) {
      const session = key === sessionKey ? parse(text) : null
      if (session === null) return store.setItem(key, text)
      const before = read()
      const isSame = before?.access_token === session.access_token
      if (!isSame) known = { token: session.access_token, at: performance.now() }
      const expiresAt = isSame ? before.expires_at : Math.floor((Date.now() + lifetimeOf(session)) / 1000)
      store.setItem(key, JSON.stringify({ ...session, expires_at: expiresAt }))
    },
    removeItem: (key) => store.removeItem(key),
    replacementOf(refreshToken) {
      const session = readTokens.has(refreshToken) ? read() : null
      return session === null || session.refresh_token === refreshToken ? null : describe(session)
    },
    isOf(userId) {
      const session = read()
      return session !== null && claimsOf(session.access_token)['sub'] === userId
    },
    expire(accessToken) {
      const isYoung = known.token === accessToken && performance.now() - known.at < MIN_AGE_MS
      if (!isYoung) known = { token: accessToken, at: Number.NEGATIVE_INFINITY }
      return !isYoung
    },
    serverTime() {
      const session = read()
      const { iat } = session === null ? {} : claimsOf(session.access_token)
      const time = session !== null && typeof iat === 'number' ? 1000 * iat + ageOf(session) : Date.now()
      return Number.isFinite(time) && Math.abs(time - Date.now()) > MIN_CLOCK_ERROR_MS ? time : Date.now()
    },
  }
}
