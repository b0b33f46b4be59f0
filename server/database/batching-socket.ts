import net from 'node:net'

type Done = (error?: Error | null) => void

/** Sends all writes of one turn together: `pg` would make a system call and wake PostgreSQL for each statement. */
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
