/** Sockets of this node: the handshake, frames in, silence and expired tokens. */
import { type IncomingMessage, STATUS_CODES } from 'node:http'
import { type Duplex } from 'node:stream'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { z } from 'zod'
import { addressKey, plainAddress, visitorAddress } from '#server/access/client-address.ts'
import { type TokenVerifier } from '#server/access/tokens.ts'
import { messageOf } from '#server/base/errors.ts'
import { type Log } from '#server/base/log.ts'
import { verifyToken } from './authorize.ts'
import { type Backpressure } from './backpressure.ts'
import { type Connection } from './channels.ts'
import { decodeFrame, type Vsn } from './frames.ts'
import { type RealtimeLimits } from './limits.ts'
import { type Protocol } from './protocol.ts'
import { Rejection } from './rejection.ts'

const PATH = '/realtime/v1/websocket'
const UNSUPPORTED_DATA = 1003
const GOING_AWAY = 1001
const CLOSE_TIMEOUT_MS = 500

const version = z.enum(['1.0.0', '2.0.0'])

export interface Sockets {
  readonly size: number
  /** What waits for readers, on all sockets together. */
  readonly bufferedBytes: number
  /** What was said and is not dealt with yet, on all sockets together. */
  readonly unhandledBytes: number
  /** Answers an upgrade request: 101, or why not, as JSON. */
  readonly handleUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /** Drops silent sockets and closes channels whose token has expired. */
  readonly sweep: () => void
  /** Closes the channels of a session that was signed out. */
  readonly endSession: (sessionId: string) => void
  /** Makes every client reconnect. */
  disconnectAll(): void
  close(): void
}

export interface SocketOptions {
  readonly tokens: TokenVerifier
  readonly log: Log
  readonly limits: RealtimeLimits
  readonly trustProxy: number
  readonly protocol: Protocol
  readonly intake: Backpressure
}

class HandshakeError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.name = 'HandshakeError'
    this.status = status
  }
}

export function createSockets({ tokens, log, limits, trustProxy, protocol, intake }: SocketOptions): Sockets {
  // Without compression: its buffers would cost more per idle socket than everything else.
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: limits.frameBytes,
    perMessageDeflate: false,
    clientTracking: false,
  })
  const connections = new Set<Connection>()
  const openByAddress = new Map<string, number>()
  let isClosed = false

  function handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const onError = (error: Error) => log.debug({ err: error }, 'a socket broke during its handshake')
    socket.on('error', onError)
    authorizeHandshake(request).then(
      ({ vsn, apiKey }) => {
        const from = visitorAddressKey(request)
        // Looked at and counted in one turn, so that many that come at once are all seen.
        if ((openByAddress.get(from) ?? 0) >= limits.socketsPerAddress) {
          log.warn({ from }, 'an address has too many sockets')
          return rejectHandshake(socket, new HandshakeError(429, 'Too many connections from this address'))
        }
        socket.off('error', onError)
        server.handleUpgrade(request, socket, head, (ws) => {
          countSocket(from, 1)
          ws.on('close', () => countSocket(from, -1))
          accept(ws, vsn, apiKey)
        })
      },
      (error: unknown) => {
        if (!(error instanceof HandshakeError)) log.error({ err: error }, 'a handshake failed')
        rejectHandshake(socket, error instanceof HandshakeError ? error : new HandshakeError(500, 'Internal server error'))
      },
    )
  }

  function visitorAddressKey({ socket, headers }: IncomingMessage): string {
    const peer = socket.remoteAddress === undefined ? undefined : plainAddress(socket.remoteAddress)
    return addressKey(visitorAddress(peer, headers['x-forwarded-for']?.toString(), trustProxy))
  }

  function countSocket(from: string, step: 1 | -1): void {
    const open = (openByAddress.get(from) ?? 0) + step
    if (open > 0) openByAddress.set(from, open)
    else openByAddress.delete(from)
  }

  async function authorizeHandshake(request: IncomingMessage): Promise<{ vsn: Vsn; apiKey: string }> {
    if (isClosed) throw new HandshakeError(503, 'The server is stopping')
    const url = URL.parse(request.url ?? '/', 'http://localhost')
    if (url?.pathname !== PATH) throw new HandshakeError(404, 'There is nothing at this address')
    const vsn = version.safeParse(url.searchParams.get('vsn') ?? '1.0.0')
    if (!vsn.success) throw new HandshakeError(400, 'Unsupported protocol version')
    const apiKey = url.searchParams.get('apikey') ?? request.headers['apikey']
    if (typeof apiKey !== 'string' || apiKey === '') throw new HandshakeError(401, 'No API key found in request')
    try {
      await verifyToken(tokens, apiKey)
    } catch (error) {
      if (error instanceof Rejection) throw new HandshakeError(401, error.message)
      throw error
    }
    return { vsn: vsn.data, apiKey }
  }

  function accept(ws: WebSocket, vsn: Vsn, apiKey: string): void {
    const connection: Connection = {
      ws,
      vsn,
      apiKey,
      channels: new Map(),
      lastReceivedAt: Date.now(),
      pendingWork: Promise.resolve(),
      unhandledBytes: 0,
      second: 0,
      events: 0,
      joins: 0,
    }
    connections.add(connection)
    ws.on('message', (data, isBinary) => receiveFrame(connection, data, isBinary))
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
      const release = intake.addUnhandled(connection, frame.length)
      void protocol.receive(connection, message).finally(release)
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
    handleUpgrade,
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
    disconnectAll,
    close() {
      isClosed = true
      disconnectAll()
      // A peer that does not answer the close must not hold up the stop.
      setTimeout(() => {
        for (const { ws } of connections) ws.terminate()
      }, CLOSE_TIMEOUT_MS).unref()
      server.close()
    },
  }
}

const sumOver = (connections: Iterable<Connection>, read: (connection: Connection) => number): number =>
  Iterator.from(connections).reduce((sum, connection) => sum + read(connection), 0)

function toBuffer(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data)
}

function rejectHandshake(socket: Duplex, { status, message }: HandshakeError): void {
  const body = JSON.stringify({ error: message })
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
}
