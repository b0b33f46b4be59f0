/** Pauses reading from a socket while too many of its bytes are unhandled, so that TCP slows the sender. */
import type { Connection } from './channels.ts'

export interface Backpressure {
  /** Call the returned function once the bytes are handled. */
  addUnhandled(connection: Connection, bytes: number): () => void
}

export function createBackpressure(unhandledBytes: number): Backpressure {
  return {
    addUnhandled(connection, bytes) {
      connection.unhandledBytes += bytes
      if (connection.unhandledBytes > unhandledBytes) connection.ws.pause()
      return () => {
        connection.unhandledBytes -= bytes
        if (!connection.ws.isPaused || connection.unhandledBytes > unhandledBytes) return
        // A paused socket could not deliver heartbeats, so its idle time starts again.
        connection.lastReceivedAt = Date.now()
        connection.ws.resume()
      }
    },
  }
}
