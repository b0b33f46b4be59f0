/**
 * Rings by NATS in place of NOTIFY, for which PostgreSQL lets one transaction commit at a time. What travels is sealed with
 * the key that all servers of an installation have: who can reach the bus reads nothing and rings nothing. It may be lost
 * and comes in any order; whoever needs more reads the outbox.
 */
import { createHash, randomUUID } from 'node:crypto'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { decrypt, encrypt } from '#server/base/encrypt.ts'
import { AppError, messageOf } from '#server/base/errors.ts'
import { type Log } from '#server/base/log.ts'
import { type Listener } from './listen.ts'
import { type Notifier } from './notifications.ts'

type Handler = (payload: string) => void

export interface Nats extends Notifier {
  /** Hears what is rung by NATS as well as what `notified` hears: other programs notify, and so do we while NATS is away. */
  combineWith(notified: Listener): Listener
  close(): Promise<void>
}

export interface NatsOptions {
  /** Addresses with their credentials; the first that answers is used. */
  readonly urls: readonly string[]
  /** 32 bytes, the same on every server. */
  readonly key: Buffer
  readonly log: Log
}

const ANSWERS_WITHIN_MS = 5_000
/** Two of them without an answer, and the connection is given up. */
const PING_MS = 5_000

/**
 * Connects, and makes sure that what is rung is heard.
 * @throws AppError `startup`, one sentence that names the server and no password.
 */
export async function openNats({ urls, key, log }: NatsOptions): Promise<Nats> {
  const addresses = urls.map((url) => new URL(url))
  const names = addresses.map(({ host }) => host).join(', ')
  const handlers = new Map<string, Set<Handler>>()
  const reconnectHandlers = new Set<() => void>()
  const connection = await connectTo(addresses).catch((error: unknown) => {
    throw new AppError(
      'startup',
      `NATS_URL names ${names}, but no NATS server lets us in there: ${messageOf(error)}.`,
      {
        cause: error,
      },
    )
  })
  let isOpen = true
  void followStatus()
  // Several installations may share one NATS.
  const prefix = `alcove.${createHash('sha256').update('nats').update(key).digest('hex').slice(0, 16)}`
  try {
    await hearOneself()
  } catch (error) {
    await connection.close()
    throw new AppError(
      'startup',
      `NATS_URL names ${names}, but what is published there below "alcove." is not heard again. Its user must be allowed both.`,
      { cause: error },
    )
  }

  async function followStatus(): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type === 'error') log.warn({ err: status.error }, 'NATS has refused something')
      if (status.type === 'disconnect') {
        isOpen = false
        log.warn({ server: names }, 'the connection to NATS was lost; until it is back, PostgreSQL notifies')
      }
      if (status.type === 'reconnect') {
        isOpen = true
        log.info({ server: names }, 'NATS is back')
        for (const handler of reconnectHandlers) handler()
      }
    }
  }

  function subscribe(channel: string): void {
    const subject = `${prefix}.${channel}`
    connection.subscribe(subject, {
      callback(error, message) {
        if (error) return log.error({ err: error, channel }, 'NATS lets us hear nothing of a channel')
        const payload = open(subject, message.data)
        if (payload === undefined)
          return log.warn({ channel }, 'something on NATS was not sealed by one of our servers')
        for (const handler of handlers.get(channel) ?? []) handler(payload)
      },
    })
  }

  function open(subject: string, sealed: Uint8Array): string | undefined {
    try {
      return decrypt(key, Buffer.from(sealed), subject)
    } catch {
      return undefined
    }
  }

  function notify({ channel, payload }: { readonly channel: string; readonly payload: string }): boolean {
    if (!isOpen) return false
    const subject = `${prefix}.${channel}`
    connection.publish(subject, encrypt(key, payload, subject))
    return true
  }

  function hear(channel: string, handler: Handler): void {
    const existing = handlers.get(channel)
    if (existing) existing.add(handler)
    else {
      handlers.set(channel, new Set([handler]))
      subscribe(channel)
    }
  }

  async function hearOneself(): Promise<void> {
    const subject = `${prefix}.start-${randomUUID()}`
    const heard = Promise.withResolvers<undefined>()
    const timer = setTimeout(() => heard.reject(new Error('nothing was heard')), ANSWERS_WITHIN_MS)
    connection.subscribe(subject, {
      max: 1,
      callback: (error) => (error ? heard.reject(error) : heard.resolve(undefined)),
    })
    connection.publish(subject)
    await heard.promise.finally(() => clearTimeout(timer))
  }

  return {
    get isOpen() {
      return isOpen
    },
    notify,
    combineWith: (notified) => ({
      isOrdered: false,
      async on(channel, handler) {
        const stop = await notified.on(channel, handler)
        hear(channel, handler)
        // NATS has it when it has answered; where it is away, it is told when it is back.
        await connection.flush().catch((error: unknown) => log.debug({ err: error }, 'NATS is away'))
        return () => {
          stop()
          handlers.get(channel)?.delete(handler)
        }
      },
      onReconnect(handler) {
        notified.onReconnect(handler)
        reconnectHandlers.add(handler)
      },
      close: () => notified.close(),
    }),
    async close() {
      isOpen = false
      await connection.close()
    },
  }
}

function connectTo(addresses: readonly URL[]): Promise<NatsConnection> {
  const [first] = addresses
  const user = decodeURIComponent(first?.username ?? '')
  const password = decodeURIComponent(first?.password ?? '')
  const isEncrypted = addresses.some(({ protocol }) => protocol === 'tls:')
  return connect({
    name: 'alcove',
    servers: addresses.map(({ host }) => host),
    // A name without a password is a token.
    ...(password ? { user, pass: password } : user ? { token: user } : {}),
    // Otherwise it is what the server demands.
    ...(isEncrypted ? { tls: {} } : {}),
    timeout: ANSWERS_WITHIN_MS,
    pingInterval: PING_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    // A password that is refused for a while must not end the process' hearing for good.
    ignoreAuthErrorAbort: true,
    noAsyncTraces: true,
  })
}
