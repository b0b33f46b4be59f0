/** A socket that says more than can be dealt with is not read from until what it said is done: TCP then slows its sender. */
import { type Connection } from './channels.ts'

export interface Backpressure {
  /** Counts what was said; returns how to say that it is dealt with. */
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
        // It could not be heard, whatever it said.
        connection.lastReceivedAt = Date.now()
        connection.ws.resume()
      }
    },
  }
}
