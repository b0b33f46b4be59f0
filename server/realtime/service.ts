import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Hono, MiddlewareHandler } from 'hono'
import { parseAccessChange } from './access-changes.ts'
import type { TokenVerifier } from '#server/access/tokens.ts'
import type { Log } from '#server/base/log.ts'
import { repeat } from '#server/base/repeat.ts'
import type { BatchReader } from '#server/database/batch-reader.ts'
import { isConnectionFailure } from '#server/database/errors.ts'
import type { Listener } from '#server/database/listen.ts'
import type { Database } from '#server/database/scope.ts'
import { createBackpressure } from './backpressure.ts'
import { createBroadcastRoutes } from './broadcast-routes.ts'
import { type EarlyBroadcast, createBroadcasts } from './broadcast.ts'
import { createCatalogue } from './catalogue.ts'
import { createChannels } from './channels.ts'
import { createDelivery } from './delivery.ts'
import { createFilterCounts } from './filter-counts.ts'
import { createFilterWork } from './filter-work.ts'
import { DEFAULT_LIMITS, type RealtimeLimits } from './limits.ts'
import { followOutbox } from './outbox-follow.ts'
import { scanOutbox } from './outbox-scan.ts'
import { createPresences } from './presence.ts'
import { createProtocol } from './protocol.ts'
import { createRetry } from './retry.ts'
import { createSender } from './sender.ts'
import { createSockets } from './sockets.ts'
import { createTraffic } from './traffic.ts'

const SOCKET_SWEEP_MS = 1_000

export interface RealtimeOptions {
  readonly database: Database
  /** For what all sockets share. */
  readonly background: Database
  readonly batchReader: BatchReader
  readonly listener: Listener
  readonly tokens: TokenVerifier
  readonly log: Log
  readonly limits?: Partial<RealtimeLimits>
  readonly trustProxy?: number
  /** Whether anyone with a key may talk on channels that no policy guards. */
  readonly allowsPublicChannels?: boolean
  /** Limits the requests of each caller by HTTP; undefined: does not. */
  readonly takeTurn?: MiddlewareHandler | undefined
  /** Interval of the node's heartbeat and of clearing delivered rows. */
  readonly databaseSweepMs?: number
}

export interface RealtimeStats {
  readonly sockets: number
  readonly channels: number
  readonly bindings: number
  readonly presenceRooms: number
  readonly bufferedBytes: number
  readonly unhandledBytes: number
}

export interface Realtime {
  /** Handles the `upgrade` event; 404 for paths other than `/realtime/v1/websocket`. */
  readonly handleUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /** Mounted at `/realtime/v1`. */
  readonly routes: Hono
  /** Delivers a broadcast of this node's SQL to local members of a private topic before its commit. */
  readonly deliverEarly: (broadcast: EarlyBroadcast) => void
  stats(): RealtimeStats
  /** Finishes pending work. Call it before closing the listener and the database. */
  close(): Promise<void>
}

/** Resolves once every later commit will be delivered. */
export async function createRealtime(options: RealtimeOptions): Promise<Realtime> {
  const {
    database,
    background,
    batchReader,
    listener,
    tokens,
    log,
    limits: limitOverrides,
    trustProxy = 0,
    allowsPublicChannels = true,
    databaseSweepMs = 10_000,
    takeTurn,
  } = options
  const limits = { ...DEFAULT_LIMITS, ...limitOverrides }
  let isClosed = false
  const retry = createRetry(log, () => isClosed)
  const channels = createChannels()
  const sender = createSender(limits.bufferedBytes)
  const catalogue = createCatalogue(background)
  const filterWork = createFilterWork(limits)
  const shared = { database: background, listener, log, channels, sender, retry }
  const broadcasts = await createBroadcasts(shared)
  const presences = await createPresences({ ...shared, database })
  const traffic = createTraffic(limits.traffic)
  const filterCounts = createFilterCounts(limits)
  const policed = { database, tokens, log, limits, traffic, broadcasts, allowsPublicChannels }
  const backpressure = createBackpressure(limits.unhandledBytes)
  const protocol = createProtocol({
    ...policed,
    sender,
    catalogue,
    channels,
    filterCounts,
    filterWork,
    presences,
    backpressure,
  })
  const sockets = createSockets({ tokens, log, limits, backpressure, trustProxy, protocol })
  const stopSessions = await listener.on('realtime_session_end', sockets.endSession)
  const logFailure = (error: unknown) =>
    log.error({ err: error }, 'channels that may have to be closed could not be checked')
  const stopAccessChanges = await listener.on('realtime_access_change', (payload) => {
    sockets.recheckAccess(parseAccessChange(payload)).catch(logFailure)
  })
  // Ends of sessions and changes of rights may have been missed.
  listener.onReconnect(() => void sockets.recheckSessions().catch(logFailure))
  const outbox = await (listener.isOrdered ? followOutbox : scanOutbox)({
    database: background,
    listener,
    log,
    retry,
    deliver: createDelivery({ batchReader, catalogue, channels, sender, filterWork, retry }),
    onSchemaChange: () => catalogue.invalidate(),
    // The outbox is unlogged, so clients reconnect and fetch their data again.
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
  const sweepMemory = () => {
    sockets.sweep()
    traffic.sweep()
    filterWork.sweep()
  }
  const timers = [repeat(sweepMemory, SOCKET_SWEEP_MS), repeat(sweepDatabase, databaseSweepMs)]
  for (const timer of timers) timer.unref()

  return {
    handleUpgrade: sockets.handleUpgrade,
    routes: createBroadcastRoutes({ ...policed, trustProxy, takeTurn }),
    deliverEarly: broadcasts.deliverEarly,
    stats: () => ({
      sockets: sockets.size,
      channels: channels.size,
      bindings: channels.bindingCount,
      presenceRooms: presences.roomCount,
      bufferedBytes: sockets.bufferedBytes,
      unhandledBytes: sockets.unhandledBytes,
    }),
    async close() {
      for (const timer of timers) clearInterval(timer)
      sockets.close()
      stopSessions()
      stopAccessChanges()
      isClosed = true
      await outbox.close()
      await broadcasts.close()
      await presences.close()
    },
  }
}
