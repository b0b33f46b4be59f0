/**
 * Attributes an error that nothing caught to the request, socket, connection or process that it belongs to. Sockets,
 * streams, timers and child processes carry the scope in which they were created, also into their event handlers, where
 * an error has no caller.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { toError } from './errors.ts'

/** Ends one unit of work, whose waiting callers then see the error. Called again after the end, it does nothing. */
export type Fail = (error: unknown) => void

const scopes = new AsyncLocalStorage<Fail>()
let report: Fail = (error) => console.error(error)
let failures = 0

/** Errors that ended their unit, and those that belonged to none. */
export const countUncaughtErrors = (): number => failures

export const currentFailureScope = (): Fail | undefined => scopes.getStore()

export const runInFailureScope = <T>(fail: Fail, run: () => T): T => scopes.run(fail, run)

/** Counts the error and reports it once. */
export function reportFailure(error: unknown): void {
  failures += 1
  report(error)
}

export function onFailure(listener: Fail): void {
  report = listener
}

/** Reports the error and ends the unit that it belongs to. */
export function failScope(fail: Fail, error: unknown): void {
  reportFailure(error)
  fail(error)
}

/** Rejects with an error that something in the scope of `run` throws later, and then aborts the signal. */
export function rejectOnFailure<T>(run: (failed: AbortSignal) => Promise<T>): Promise<T> {
  const failed = new AbortController()
  const thrown = Promise.withResolvers<never>()
  const fail: Fail = (error) => {
    failed.abort(error)
    thrown.reject(toError(error))
  }
  return Promise.race([runInFailureScope(fail, () => run(failed.signal)), thrown.promise])
}
