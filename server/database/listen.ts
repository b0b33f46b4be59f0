import pg from 'pg'
import type { Log } from '#server/base/log.ts'
import { GuardedClient } from './guarded-client.ts'
import { announceServer, LISTENER_NAME } from './servers-lock.ts'

type Handler = (payload: string) => void

export interface Listener {
  /** Whether every notification arrives in commit order until `onReconnect` is called. */
  readonly isOrdered: boolean
  on(channel: string, handler: Handler): Promise<() => void>
  /** Calls `handler` after a reconnect: notifications may have been missed. */
  onReconnect(handler: () => void): void
  /**
   * Resolves once everything that was committed before the call has been handled. After two seconds, or when the connection
   * is lost, it resolves without that.
   */
  catchUp(): Promise<void>
  close(): Promise<void>
}

/** A handler that fails must not keep the notification from the others, nor end their connection. */
export function callHandlers(handlers: Iterable<Handler> = [], payload: string, log: Log): void {
  for (const handler of handlers) {
    try {
      handler(payload)
    } catch (error) {
      log.error({ err: error }, 'a notification could not be handled')
    }
  }
}

const CATCH_UP_LIMIT_MS = 2_000
/** For one attempt to connect: where packets are lost, it would wait for minutes. */
const CONNECT_LIMIT_MS = 15_000
const RECONNECT_DELAYS_MS = [50, 100, 250, 500, 1000, 2000]

export async function openListener(connection: pg.ClientConfig, log: Log): Promise<Listener> {
  const handlers = new Map<string, Set<Handler>>()
  const reconnectHandlers = new Set<() => void>()
  let isClosed = false
  let client = await connect()

  async function connect(): Promise<pg.Client> {
    const next = new GuardedClient({
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      // Several requests may catch up at a time.
      pipeline: true,
      ...connection,
      application_name: LISTENER_NAME,
    })
    let isListening = false
    next.on('notification', ({ channel, payload = '' }) => {
      callHandlers(handlers.get(channel), payload, log)
    })
    next.on('error', (error) => {
      if (isListening) log.warn({ err: error }, 'the listening database connection was lost')
    })
    next.on('end', () => {
      if (isListening && !isClosed) void reconnect()
    })
    const destroy = (error?: Error) => next.connection.stream.destroy(error)
    const limit = setTimeout(() => destroy(new Error('PostgreSQL did not answer in time')), CONNECT_LIMIT_MS)
    try {
      await next.connect()
      await announceServer(next)
      for (const channel of handlers.keys()) await next.query(`listen ${pg.escapeIdentifier(channel)}`)
    } catch (error) {
      destroy()
      throw error
    } finally {
      clearTimeout(limit)
    }
    isListening = true
    return next
  }

  async function onConnected(): Promise<void> {
    if (isClosed) await client.end()
    else callHandlers(reconnectHandlers, '', log)
  }

  async function reconnect(): Promise<void> {
    for (let attempt = 0; !isClosed; attempt += 1) {
      const delayMs = RECONNECT_DELAYS_MS[Math.min(attempt, RECONNECT_DELAYS_MS.length - 1)] ?? 2000
      await new Promise((resolve) => setTimeout(resolve, delayMs))
      try {
        client = await connect()
        await onConnected()
        return
      } catch (error) {
        log.warn({ err: error }, 'the listening connection could not be replaced yet')
      }
    }
  }

  return {
    isOrdered: true,
    async on(channel, handler) {
      const existing = handlers.get(channel)
      if (existing) existing.add(handler)
      else {
        handlers.set(channel, new Set([handler]))
        await client.query(`listen ${pg.escapeIdentifier(channel)}`)
      }
      return () => handlers.get(channel)?.delete(handler)
    },
    onReconnect: (handler) => reconnectHandlers.add(handler),
    // PostgreSQL sends what waits for a connection before it reports the end of a statement.
    async catchUp() {
      const asked = client.query('select').catch((error: unknown) => {
        if (!isClosed) log.warn({ err: error }, 'the listening connection was lost, what it missed is read again')
      })
      const { promise: isLate, resolve } = Promise.withResolvers<undefined>()
      const timer = setTimeout(resolve, CATCH_UP_LIMIT_MS, undefined)
      await Promise.race([asked, isLate])
      clearTimeout(timer)
    },
    async close() {
      isClosed = true
      await client.end()
    },
  }
}
