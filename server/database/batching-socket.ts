import net from 'node:net'

type Done = (error?: Error | null) => void

/**
 * A socket that sends what is written in one turn in one piece. `pg` writes each statement by itself: those that are sent
 * one behind the other would each cost a call of the system, and wake PostgreSQL for each.
 */
export function createBatchingSocket(): net.Socket {
  const socket = new net.Socket()
  const write = socket.write.bind(socket)

  function gather(chunk: Uint8Array | string, encoding?: BufferEncoding | Done, done?: Done): boolean {
    if (socket.writableCorked === 0) {
      socket.cork()
      process.nextTick(() => socket.uncork())
    }
    return typeof encoding === 'function' ? write(chunk, encoding) : write(chunk, encoding, done)
  }

  // Not before: when it begins to connect, Node gives a socket back the `write` of all sockets.
  socket.once('connect', () => (socket.write = gather))
  return socket
}
