/** Connections to PostgreSQL whose received bytes are bounded, and whose failures end nothing but themselves. */
import net from 'node:net'
import { Readable } from 'node:stream'
import pg from 'pg'
import { toError } from '#server/base/errors.ts'
import { type Fail, runInFailureScope } from '#server/base/failure-scope.ts'
import { guardStream } from '#server/base/guard-events.ts'
import { createMessageBounds } from './message-bounds.ts'

declare module 'pg' {
  interface Connection {
    /** Called by `pg` with the socket, or with the TLS socket once it is encrypted. */
    attachListeners(socket: Readable): void
    connect(port: number | string, host?: string): void
  }
}

function boundReceived(socket: Readable): Readable {
  // Emits without buffering: what the parser throws must reach the guard of the socket.
  const received = new Readable({ read: () => undefined })
  const check = createMessageBounds()
  socket.on('data', (chunk: Buffer) => {
    if (socket.destroyed) return
    try {
      check(chunk)
    } catch (error) {
      socket.destroy(toError(error))
      return
    }
    received.emit('data', chunk)
  })
  socket.on('end', () => received.emit('end'))
  return received
}

export class GuardedClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config)
    const { connection } = this
    const { stream } = connection
    // `pg` parses in the socket's data handler. It rejects the queries of a connection with the error of its socket.
    guardStream(stream)
    const connect = connection.connect.bind(connection)
    const fail: Fail = (error) => connection.stream.destroy(toError(error))
    // Not in the scope of the request that happens to open it: the pool lends it to others.
    connection.connect = (port, host) => runInFailureScope(fail, () => connect(port, host))
    const attachListeners = connection.attachListeners.bind(connection)
    connection.attachListeners = (socket: Readable) => {
      // With TLS, `pg` replaces its stream.
      if (socket !== stream) guardStream(socket)
      attachListeners(boundReceived(socket))
    }
  }
}

/** For libraries that make their own clients of `pg`: the stream of their connections. */
export function createGuardedSocket(): net.Socket {
  const socket = new net.Socket()
  guardStream(socket)
  return socket
}
