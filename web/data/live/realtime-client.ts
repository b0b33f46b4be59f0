import { RealtimeClient, type WebSocketLike, type WebSocketLikeConstructor } from '@supabase/realtime-js'
import { accessToken, anonKey, onSessionEvent, type AuthChangeEvent } from '#web/data/auth/session.ts'
import { config } from '#web/data/config.ts'
import { isNewsExpected, setChannelJoined } from './connection.ts'
import { logFailure } from './log-failure.ts'

const NEW_TOKEN_EVENTS = new Set<AuthChangeEvent>(['TOKEN_REFRESHED', 'SIGNED_IN', 'MFA_CHALLENGE_VERIFIED'])

/** Reconnects are rarer when many in a row have failed: the network lets no sockets through, and the page asks by HTTP. */
const RECONNECT_MS = [1_000, 2_000, 5_000]
const RECONNECT_LATER_MS = 10_000
const RECONNECT_RARELY_MS = 30_000
const RARELY_FROM = 10

/** Some proxies leave the opening without an answer, for which the browser itself waits for minutes. */
const MAX_OPENING_MS = 10_000

const IDLE_AFTER_MS = 2_000
const DEAD_AFTER_MS = 8_000
const IDLE_CHECK_MS = 1_000

let current: RealtimeClient | null = null
/** Sockets since a channel was last joined: some proxies let them open and close them at once. */
let openedInVain = 0

export function noteJoin(): void {
  openedInVain = 0
}

const reconnectAfterMs = (): number =>
  RECONNECT_MS[openedInVain - 1] ?? (openedInVain < RARELY_FROM ? RECONNECT_LATER_MS : RECONNECT_RARELY_MS)

/** A socket that closes by itself if it does not open, also where the browser has none or refuses to make one. */
function openSocket(address: string | URL, protocols?: string | string[]): WebSocketLike {
  openedInVain += 1
  try {
    const socket = new WebSocket(address, protocols)
    const timer = setTimeout(() => {
      if (socket.readyState === WebSocket.CONNECTING) socket.close()
    }, MAX_OPENING_MS)
    socket.addEventListener('open', () => {
      clearTimeout(timer)
      watchIdleSocket(socket)
    })
    return socket
  } catch (error) {
    if (openedInVain === 1) console.warn('There are no WebSockets', error)
    return closedSocket(String(address))
  }
}

/**
 * A network may cut a socket without telling. While news is expected, the server is asked for a sign of life early: if
 * none comes, the page asks for the news as without a socket.
 */
function watchIdleSocket(socket: WebSocket): void {
  let heardAt = performance.now()
  let askedAt: number | undefined
  const setIdle = (isIdle: boolean): void => {
    setChannelJoined(!isIdle, watchIdleSocket)
  }
  const check = (): void => {
    const now = performance.now()
    if (askedAt === undefined && now - heardAt > IDLE_AFTER_MS && isNewsExpected()) {
      askedAt = now
      logFailure(current?.sendHeartbeat() ?? Promise.resolve())
    } else if (askedAt !== undefined && now - askedAt > DEAD_AFTER_MS) {
      // The client takes a second one without an answer to the first as the end of the socket, and opens another.
      clearInterval(timer)
      setIdle(false)
      logFailure(current?.sendHeartbeat() ?? Promise.resolve())
    } else if (askedAt !== undefined && now - askedAt > IDLE_AFTER_MS) setIdle(true)
  }
  const timer = setInterval(check, IDLE_CHECK_MS)
  socket.addEventListener('message', () => {
    heardAt = performance.now()
    if (askedAt !== undefined) setIdle(false)
    askedAt = undefined
  })
  socket.addEventListener('close', () => {
    clearInterval(timer)
    setIdle(false)
  })
}

function closedSocket(url: string): WebSocketLike {
  const socket: WebSocketLike = {
    ...{ CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3, readyState: 3 },
    ...{ url, protocol: '', onopen: null, onmessage: null, onclose: null, onerror: null },
    ...{ close: ignore, send: ignore, addEventListener: ignore, removeEventListener: ignore },
  }
  setTimeout(() => {
    socket.onclose?.(new CloseEvent('close'))
  })
  return socket
}

function ignore(): void {
  // The socket is closed.
}

let renewing: Promise<void> = Promise.resolve()

/** The page's one socket; a new one after a sign-out. */
export function realtimeClient(): RealtimeClient {
  if (current !== null) return current
  const address = new URL(`${config().supabaseUrl}/realtime/v1`, location.origin)
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:'
  const client = new RealtimeClient(address.href, {
    params: { apikey: anonKey() },
    accessToken,
    reconnectAfterMs,
    // The client calls it with `new`, which returns the object that a function returns.
    transport: openSocket as unknown as WebSocketLikeConstructor,
  })
  const unsubscribe = onSessionEvent((event) => {
    if (NEW_TOKEN_EVENTS.has(event)) logFailure(renewToken(client))
    if (event !== 'SIGNED_OUT') return
    // Leaving takes a while. The next person's channels need another client, or they close together with the old ones.
    unsubscribe()
    current = null
    logFailure(client.removeAllChannels())
  })
  current = client
  return client
}

/** Renews serially: of two overlapping calls the client drops one token, and a channel would join without any. */
export function renewToken(client: RealtimeClient): Promise<void> {
  const renew = (): Promise<void> => client.setAuth()
  renewing = renewing.then(renew, renew)
  return renewing
}
