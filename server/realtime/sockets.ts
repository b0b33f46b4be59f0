import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { chooseRequestId, logRequest } from '#server/access/access-log.ts'
import { WIDER_FACTOR, widerKey } from '#server/access/client-address.ts'
import type { TokenVerifier } from '#server/access/tokens.ts'
import { runAsCaller } from '#server/base/caller.ts'
import { messageOf } from '#server/base/errors.ts'
import { failScope } from '#server/base/failure-scope.ts'
import { guardEvents } from '#server/base/guard-events.ts'
import type { Log } from '#server/base/log.ts'
import { currentRequestId, runWithRequestId } from '#server/base/request-id.ts'
import { type AccessChange, isConcerned } from './access-changes.ts'
import type { Backpressure } from './backpressure.ts'
import type { Connection } from './channels.ts'
import { decodeFrame, type Vsn } from './frames.ts'
import { authorizeHandshake, HandshakeError, rejectHandshake, visitorAddressKey } from './handshake.ts'
import type { RealtimeLimits } from './limits.ts'
import type { Protocol } from './protocol.ts'

const UNSUPPORTED_DATA = 1003
const GOING_AWAY = 1001
const INTERNAL_ERROR = 1011
const CLOSE_TIMEOUT_MS = 500

export interface Sockets {
  readonly size: number
  /** Unsent bytes of all sockets. */
  readonly bufferedBytes: number
  /** Received bytes of all sockets that are not handled yet. */
  readonly unhandledBytes: number
  /** Replies 101, or an error as JSON. */
  readonly handleUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /** Closes idle sockets and channels with an expired token. */
  readonly sweep: () => void
  readonly endSession: (sessionId: string) => void
  /** Reads the rights to the channels that a change concerns again, and closes those that may no longer be read. */
  recheckAccess(change: AccessChange): Promise<void>
  /** Reads the sessions of all channels and the rights to them again, and closes those without. */
  recheckSessions(): Promise<void>
  /** Clients then reconnect. */
  disconnectAll(): void
  close(): void
}

export interface SocketOptions {
  readonly tokens: TokenVerifier
  readonly log: Log
  readonly limits: RealtimeLimits
  readonly trustProxy: number
  readonly protocol: Protocol
  readonly backpressure: Backpressure
}

export function createSockets({ tokens, log, limits, trustProxy, protocol, backpressure }: SocketOptions): Sockets {
  // Compression buffers would dominate the memory of an idle socket.
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: limits.frameBytes,
    perMessageDeflate: false,
    clientTracking: false,
  })
  server.on('headers', (headers) => headers.push(`x-request-id: ${currentRequestId() ?? ''}`))
  const connections = new Set<Connection>()
  const openByAddress = new Map<string, number>()
  let isClosed = false

  function handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { method = '', url = '/' } = request
    const startedAt = performance.now()
    const logStatus = (status: number) => logRequest(log, { method, path: url.replace(/\?.*/s, ''), status, startedAt })
    const reject = (error: HandshakeError): void => {
      rejectHandshake(socket, error)
      logStatus(error.status)
    }
    const onError = (error: Error) => log.debug({ err: error }, 'a socket broke during its handshake')
    socket.on('error', onError)
    const admitted = admit(request).then(
      ({ vsn, apiKey }) => {
        const from = visitorAddressKey(request, trustProxy)
        // Check and count in one turn, so that concurrent handshakes are all counted.
        if (hasTooManySockets(openByAddress, from, limits)) {
          log.warn({ from }, 'an address has too many sockets')
          return reject(new HandshakeError(429, 'Too many connections from this address'))
        }
        socket.off('error', onError)
        server.handleUpgrade(request, socket, head, (ws) => {
          countSocket(openByAddress, from, 1)
          ws.on('close', () => countSocket(openByAddress, from, -1))
          accept(ws, { vsn, apiKey, address: from })
          logStatus(101)
        })
      },
      (error: unknown) => {
        if (!(error instanceof HandshakeError)) log.error({ err: error }, 'a handshake failed')
        reject(error instanceof HandshakeError ? error : new HandshakeError(500, 'Internal server error'))
      },
    )
    admitted.catch((error: unknown) => failScope(() => socket.destroy(), error))
  }

  async function admit(request: IncomingMessage): Promise<{ vsn: Vsn; apiKey: string }> {
    if (isClosed) throw new HandshakeError(503, 'The server is stopping')
    return authorizeHandshake(tokens, request)
  }

  function accept(ws: WebSocket, origin: Pick<Connection, 'vsn' | 'apiKey' | 'address'>): void {
    const connection = newConnection(ws, origin)
    connections.add(connection)
    guardEvents(ws, () => ws.terminate())
    ws.on('message', (data, isBinary) =>
      runAsCaller(connection.address, () => receiveFrame(connection, data, isBinary)),
    )
    ws.on('error', (error) => log.debug({ err: error }, 'a socket broke'))
    ws.on('close', () => {
      connections.delete(connection)
      protocol.removeChannels(connection)
    })
  }

  function receiveFrame(connection: Connection, data: RawData, isBinary: boolean): void {
    connection.lastReceivedAt = Date.now()
    const frame = toBuffer(data)
    try {
      const message = decodeFrame(connection.vsn, frame, isBinary)
      const release = backpressure.addUnhandled(connection, frame.length)
      protocol
        .receive(connection, message)
        .finally(release)
        .catch((error: unknown) => {
          log.error({ err: error }, 'a socket whose messages cannot be handled was closed')
          connection.ws.close(INTERNAL_ERROR, 'internal error')
        })
    } catch (error) {
      log.debug({ reason: messageOf(error) }, 'a frame that cannot be read')
      connection.ws.close(UNSUPPORTED_DATA, 'unreadable frame')
    }
  }

  function disconnectAll(): void {
    for (const { ws } of connections) ws.close(GOING_AWAY)
  }

  return {
    get size() {
      return connections.size
    },
    get bufferedBytes() {
      return sumOver(connections, ({ ws }) => ws.bufferedAmount)
    },
    get unhandledBytes() {
      return sumOver(connections, ({ unhandledBytes }) => unhandledBytes)
    },
    handleUpgrade(request, socket, head) {
      const requestId = chooseRequestId(request.headers['x-request-id'], trustProxy)
      runWithRequestId(requestId, () =>
        runAsCaller(visitorAddressKey(request, trustProxy), () => handleUpgrade(request, socket, head)),
      )
    },
    sweep() {
      const now = Date.now()
      for (const connection of connections) {
        if (!connection.ws.isPaused && now - connection.lastReceivedAt > limits.idleTimeoutMs) connection.ws.terminate()
        else protocol.closeExpired(connection, now)
      }
    },
    endSession(sessionId) {
      for (const connection of connections) protocol.closeSession(connection, sessionId)
    },
    recheckAccess(change) {
      const concerned = [...connections].flatMap(({ channels }) =>
        [...channels.values()].filter((channel) => isConcerned(channel, change)),
      )
      return protocol.recheckAccess(concerned)
    },
    recheckSessions: () => protocol.recheckSessions([...connections].flatMap(({ channels }) => [...channels.values()])),
    disconnectAll,
    close() {
      isClosed = true
      disconnectAll()
      // A peer that ignores the close must not delay the shutdown.
      setTimeout(() => {
        for (const { ws } of connections) ws.terminate()
      }, CLOSE_TIMEOUT_MS).unref()
      server.close()
    },
  }
}

function hasTooManySockets(
  openByAddress: ReadonlyMap<string, number>,
  from: string,
  { socketsPerAddress }: RealtimeLimits,
): boolean {
  const network = widerKey(from)
  const openInNetwork = network === undefined ? 0 : (openByAddress.get(network) ?? 0)
  return (openByAddress.get(from) ?? 0) >= socketsPerAddress || openInNetwork >= WIDER_FACTOR * socketsPerAddress
}

function countSocket(openByAddress: Map<string, number>, from: string, step: 1 | -1): void {
  for (const key of [from, widerKey(from)]) {
    if (key === undefined) continue
    const open = (openByAddress.get(key) ?? 0) + step
    if (open > 0) openByAddress.set(key, open)
    else openByAddress.delete(key)
  }
}

const newConnection = (ws: WebSocket, origin: Pick<Connection, 'vsn' | 'apiKey' | 'address'>): Connection => ({
  ...origin,
  ws,
  channels: new Map(),
  lastReceivedAt: Date.now(),
  pendingWork: Promise.resolve(),
  unhandledBytes: 0,
  second: 0,
  events: 0,
  joins: 0,
})

const sumOver = (connections: Iterable<Connection>, read: (connection: Connection) => number): number =>
  Iterator.from(connections).reduce((sum, connection) => sum + read(connection), 0)

function toBuffer(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data)
}
