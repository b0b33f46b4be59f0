import { type EventEmitter, errorMonitor } from 'node:events'
import { toError } from './errors.ts'
import { type Fail, failScope, runInFailureScope } from './failure-scope.ts'

type FailEvent = (error: unknown, values: readonly unknown[]) => void

/**
 * Calls `fail` with what a listener of `emitter` throws and the values of its event, and still calls the other listeners,
 * which may free what the emitter holds. Node emits the events of sockets from its event loop, where an error would end
 * the process.
 */
export function guardEvents(emitter: EventEmitter, fail: FailEvent): void {
  const emit = emitter.emit.bind(emitter)

  function callListeners(event: string | symbol, values: unknown[], failEvent: Fail): boolean {
    const listeners = emitter.rawListeners(event)
    for (const listener of listeners) {
      try {
        Reflect.apply(listener, emitter, values)
      } catch (error) {
        failScope(failEvent, error)
      }
    }
    return listeners.length > 0
  }

  function emitError(values: unknown[], failEvent: Fail): boolean {
    if (emitter.listenerCount('error') > 0) {
      callListeners(errorMonitor, values, failEvent)
      return callListeners('error', values, failEvent)
    }
    // Node has its own rules for an error that has no listener.
    try {
      return emit('error', ...values)
    } catch (error) {
      failScope(failEvent, error)
      return false
    }
  }

  emitter.emit = function emitGuarded(event: string | symbol, ...values: unknown[]): boolean {
    const failEvent: Fail = (error) => fail(error, values)
    return runInFailureScope(failEvent, () =>
      event === 'error' ? emitError(values, failEvent) : callListeners(event, values, failEvent),
    )
  }
}

/** An error that a listener of the stream throws destroys it. */
export const guardStream = (stream: EventEmitter & { destroy(error: Error): unknown }): void =>
  guardEvents(stream, (error) => stream.destroy(toError(error)))
