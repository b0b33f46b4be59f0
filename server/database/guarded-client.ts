/** A connection whose received bytes are bounded, and whose failures end nothing but itself. */
import { Readable } from 'node:stream'
import pg from 'pg'
import { createMessageBounds } from './message-bounds.ts'

declare module 'pg' {
  interface Connection {
    /** Called by `pg` with the socket, or with the TLS socket once it is encrypted. */
    attachListeners(socket: Readable): void
  }
}

/**
 * `pg` parses in the socket's data handler, where an error would end the process. Here it destroys the socket, and `pg`
 * rejects the queries of this connection with it.
 */
function guardReceived(socket: Readable): Readable {
  // Emits without buffering: an error must be thrown to here.
  const received = new Readable({ read: () => undefined })
  const check = createMessageBounds()
  socket.on('data', (chunk: Buffer) => {
    if (socket.destroyed) return
    try {
      check(chunk)
      received.emit('data', chunk)
    } catch (error) {
      socket.destroy(error instanceof Error ? error : new Error(String(error)))
    }
  })
  socket.on('end', () => received.emit('end'))
  return received
}

export class GuardedClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config)
    const { connection } = this
    const attachListeners = connection.attachListeners.bind(connection)
    connection.attachListeners = (socket: Readable) => attachListeners(guardReceived(socket))
  }
}
