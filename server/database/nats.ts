/** Replaces NOTIFY, because PostgreSQL serialises the commits that use it. Messages may be lost or reordered. */
import { createHash, randomUUID } from 'node:crypto'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { decrypt, encrypt } from '#server/base/encrypt.ts'
import { AppError, messageOf } from '#server/base/errors.ts'
import { type Fail, runInFailureScope } from '#server/base/failure-scope.ts'
import type { Log } from '#server/base/log.ts'
import { callHandlers, type Listener } from './listen.ts'
import type { Notifier } from './notifications.ts'

type Handler = (payload: string) => void

export interface Nats extends Notifier {
  combineWith(notified: Listener): Listener
  close(): Promise<void>
}

export interface NatsOptions {
  readonly urls: readonly string[]
  readonly key: Buffer
  readonly log: Log
}

const TIMEOUT_MS = 5_000
const PING_MS = 5_000

/** @throws AppError `startup` with a sentence that names the server but no password */
export async function openNats({ urls, key, log }: NatsOptions): Promise<Nats> {
  const addresses = urls.map((url) => new URL(url))
  const names = addresses.map(({ host }) => host).join(', ')
  const handlers = new Map<string, Set<Handler>>()
  const reconnectHandlers = new Set<() => void>()
  const opened: { connection?: NatsConnection } = {}
  // An error may leave the client in any state, which ends with its connection; subscriptions are made again.
  const fail: Fail = () => {
    opened.connection
      ?.reconnect()
      .catch((error: unknown) => log.warn({ err: error }, 'NATS cannot be connected again yet'))
  }
  const connection = await runInFailureScope(fail, () => connectTo(addresses)).catch((error: unknown) => {
    throw new AppError(
      'startup',
      `NATS_URL names ${names}, but no NATS server lets us in there: ${messageOf(error)}.`,
      {
        cause: error,
      },
    )
  })
  opened.connection = connection
  let isOpen = true
  void followStatus(connection, names, log, (isConnected) => {
    isOpen = isConnected
    if (isConnected) callHandlers(reconnectHandlers, '', log)
  })
  // Several installations may share one NATS server.
  const prefix = `alcove.${createHash('sha256').update('nats').update(key).digest('hex').slice(0, 16)}`
  try {
    await verifyLoopback(connection, prefix)
  } catch (error) {
    await connection.close()
    throw new AppError(
      'startup',
      `NATS_URL names ${names}, but what is published there below "alcove." is not heard again. Its user must be allowed both.`,
      { cause: error },
    )
  }

  function subscribe(channel: string): void {
    const subject = `${prefix}.${channel}`
    connection.subscribe(subject, {
      callback(error, message) {
        if (error) return log.error({ err: error, channel }, 'NATS rejected a subscription')
        const payload = decryptPayload(key, subject, message.data)
        if (payload === undefined)
          return log.warn({ channel }, 'a NATS message was not encrypted by one of our servers')
        callHandlers(handlers.get(channel), payload, log)
      },
    })
  }

  function notify({ channel, payload }: { readonly channel: string; readonly payload: string }): boolean {
    if (!isOpen) return false
    const subject = `${prefix}.${channel}`
    connection.publish(subject, encrypt(key, payload, subject))
    return true
  }

  function addHandler(channel: string, handler: Handler): void {
    const existing = handlers.get(channel)
    if (existing) existing.add(handler)
    else {
      handlers.set(channel, new Set([handler]))
      subscribe(channel)
    }
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
        addHandler(channel, handler)
        // The flush confirms the subscription; while NATS is disconnected, the client subscribes on reconnect.
        await connection.flush().catch((error: unknown) => log.debug({ err: error }, 'NATS is disconnected'))
        return () => {
          stop()
          handlers.get(channel)?.delete(handler)
        }
      },
      onReconnect(handler) {
        notified.onReconnect(handler)
        reconnectHandlers.add(handler)
      },
      catchUp: () => notified.catchUp(),
      close: () => notified.close(),
    }),
    async close() {
      isOpen = false
      await connection.close()
    },
  }
}

async function followStatus(
  connection: NatsConnection,
  server: string,
  log: Log,
  report: (isConnected: boolean) => void,
): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === 'error') log.warn({ err: status.error }, 'NATS reported an error')
    if (status.type === 'disconnect') {
      report(false)
      log.warn({ server }, 'the connection to NATS was lost; until it is back, PostgreSQL notifies')
    }
    if (status.type === 'reconnect') {
      log.info({ server }, 'NATS is back')
      report(true)
    }
  }
}

function decryptPayload(key: Buffer, subject: string, encrypted: Uint8Array): string | undefined {
  try {
    return decrypt(key, Buffer.from(encrypted), subject)
  } catch {
    return undefined
  }
}

/** Throws unless a published message comes back. */
async function verifyLoopback(connection: NatsConnection, prefix: string): Promise<void> {
  const subject = `${prefix}.start-${randomUUID()}`
  const heard = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => heard.reject(new Error('no message came back')), TIMEOUT_MS)
  connection.subscribe(subject, {
    max: 1,
    callback: (error) => (error ? heard.reject(error) : heard.resolve(undefined)),
  })
  connection.publish(subject)
  await heard.promise.finally(() => clearTimeout(timer))
}

function connectTo(addresses: readonly URL[]): Promise<NatsConnection> {
  const [first] = addresses
  const user = decodeURIComponent(first?.username ?? '')
  const password = decodeURIComponent(first?.password ?? '')
  const isEncrypted = addresses.some(({ protocol }) => protocol === 'tls:')
  return connect({
    name: 'alcove',
    servers: addresses.map(({ host }) => host),
    ...(password ? { user, pass: password } : user ? { token: user } : {}),
    ...(isEncrypted ? { tls: {} } : {}),
    timeout: TIMEOUT_MS,
    pingInterval: PING_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    // A temporarily rejected password must not end the subscriptions for good.
    ignoreAuthErrorAbort: true,
    noAsyncTraces: true,
  })
}
