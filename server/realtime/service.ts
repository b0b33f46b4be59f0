/** The realtime service of one node: builds its parts and keeps their clock. */
import { type IncomingMessage } from 'node:http'
import { type Duplex } from 'node:stream'
import { type Hono } from 'hono'
import { type TokenVerifier } from '#server/access/tokens.ts'
import { type Log } from '#server/base/log.ts'
import { type BatchReader } from '#server/database/batch-reader.ts'
import { isConnectionFailure } from '#server/database/errors.ts'
import { type Listener } from '#server/database/listen.ts'
import { type Database } from '#server/database/scope.ts'
import { createBackpressure } from './backpressure.ts'
import { type EarlyBroadcast, createBroadcasts } from './broadcast.ts'
import { createCatalogue } from './catalogue.ts'
import { createChannels } from './channels.ts'
import { createDelivery } from './delivery.ts'
import { DEFAULT_LIMITS, type RealtimeLimits } from './limits.ts'
import { scanOutbox } from './outbox-scan.ts'
import { followOutbox } from './outbox.ts'
import { createPresences } from './presence.ts'
import { createProtocol } from './protocol.ts'
import { createBroadcastRoutes } from './broadcast-routes.ts'
import { createRetry } from './retry.ts'
import { createSender } from './sender.ts'
import { createSockets } from './sockets.ts'

const SOCKET_SWEEP_MS = 1_000

export interface RealtimeOptions {
  readonly database: Database
  readonly batchReader: BatchReader
  readonly listener: Listener
  readonly tokens: TokenVerifier
  readonly log: Log
  readonly limits?: Partial<RealtimeLimits>
  /** How many proxies in front are believed about the address of a visitor. */
  readonly trustProxy?: number
  /** How often this node shows itself alive to the others and clears what was delivered long ago. */
  readonly databaseSweepMs?: number
}

export interface RealtimeStats {
  readonly sockets: number
  readonly channels: number
  readonly bindings: number
  /** What waits for readers. */
  readonly bufferedBytes: number
  /** What clients said that is not dealt with yet. */
  readonly unhandledBytes: number
}

export interface Realtime {
  /** For the HTTP server's `upgrade` event; answers `/realtime/v1/websocket`, and 404 elsewhere. */
  readonly handleUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /** Below `/realtime/v1`. */
  readonly routes: Hono
  /** Tells those on this node at once what a statement of its own is about to send to a private topic. */
  readonly deliverEarly: (broadcast: EarlyBroadcast) => void
  stats(): RealtimeStats
  /** Sends every client away and finishes what is under way; before the listener and the database are closed. */
  close(): Promise<void>
}

/** Starts following changes and broadcasts of the database; resolves when nothing that commits from now on is missed. */
export async function createRealtime(options: RealtimeOptions): Promise<Realtime> {
  const {
    database,
    batchReader,
    listener,
    tokens,
    log,
    limits: given,
    trustProxy = 0,
    databaseSweepMs = 10_000,
  } = options
  const limits = { ...DEFAULT_LIMITS, ...given }
  let isClosed = false
  const persevere = createRetry(log, () => isClosed)
  const channels = createChannels()
  const sender = createSender(limits.bufferedBytes)
  const catalogue = createCatalogue(database)
  const shared = { database, listener, log, channels, sender, persevere }
  const broadcasts = await createBroadcasts(shared)
  const presences = await createPresences(shared)
  const connected = { tokens, log, limits, intake: createBackpressure(limits.unhandledBytes) }
  const protocol = createProtocol({ ...connected, database, sender, catalogue, channels, broadcasts, presences })
  const sockets = createSockets({ ...connected, trustProxy, protocol })
  const stopSessions = await listener.on('realtime_session_end', sockets.endSession)
  const outbox = await (listener.isOrdered ? followOutbox : scanOutbox)({
    database,
    listener,
    log,
    persevere,
    deliver: createDelivery({ database, catalogue, channels, sender, persevere }),
    onSchemaChange: () => catalogue.invalidate(),
    // The outbox is not logged: pages join again and fetch what they show.
    onRestart: () => sockets.disconnectAll(),
  })

  async function sweepDatabase(): Promise<void> {
    try {
      await outbox.sweep()
      await broadcasts.sweep()
      await presences.heartbeat()
    } catch (error) {
      if (!isClosed)
        log[isConnectionFailure(error) ? 'debug' : 'error']({ err: error }, 'the realtime tables could not be swept')
    }
  }
  const timers = [setInterval(sockets.sweep, SOCKET_SWEEP_MS), setInterval(() => void sweepDatabase(), databaseSweepMs)]
  for (const timer of timers) timer.unref()

  return {
    handleUpgrade: sockets.handleUpgrade,
    routes: createBroadcastRoutes({ database, tokens, log, broadcasts, limits }),
    deliverEarly: broadcasts.deliverEarly,
    stats: () => ({
      sockets: sockets.size,
      channels: channels.size,
      bindings: channels.bindingCount,
      bufferedBytes: sockets.bufferedBytes,
      unhandledBytes: sockets.unhandledBytes,
    }),
    async close() {
      for (const timer of timers) clearInterval(timer)
      sockets.close()
      stopSessions()
      isClosed = true
      await outbox.close()
      await broadcasts.close()
      await presences.close()
    },
  }
}
