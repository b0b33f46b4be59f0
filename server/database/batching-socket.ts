import net from 'node:net'

type Done = (error?: Error | null) => void

/**
 * Creates a socket that sends all writes of one turn together: `pg` writes each statement separately, which costs a
 * system call and a wake-up of PostgreSQL each.
 */
export function createBatchingSocket(): net.Socket {
  const socket = new net.Socket()
  const write = socket.write.bind(socket)

  function writeBatched(chunk: Uint8Array | string, encoding?: BufferEncoding | Done, done?: Done): boolean {
    if (socket.writableCorked === 0) {
      socket.cork()
      process.nextTick(() => socket.uncork())
    }
    return typeof encoding === 'function' ? write(chunk, encoding) : write(chunk, encoding, done)
  }

  // Node resets `write` when a socket begins to connect.
  socket.once('connect', () => (socket.write = writeBatched))
  return socket
}
