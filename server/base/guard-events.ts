import type { EventEmitter } from 'node:events'

/**
 * Calls `onError` with what a listener of `emitter` throws. Node emits the events of sockets from its event loop, where
 * an error would end the process instead of the one connection.
 */
export function guardEvents(emitter: EventEmitter, onError: (error: unknown) => void): void {
  const emit = emitter.emit.bind(emitter)
  emitter.emit = function emitGuarded(event: string | symbol, ...values: unknown[]): boolean {
    try {
      return emit(event, ...values)
    } catch (error) {
      onError(error)
      return true
    }
  }
}
