/**
 * Errors that no handler of a request, socket or job has caught. Each place that runs code of a connection catches its
 * errors itself; this is the last resort for what a library throws in between.
 *
 * A rejected promise has unwound through all its `finally` blocks, so nothing is half done: the process goes on. The
 * same holds for a broken connection that has no listener for its error. Any other exception has left unknown code in
 * its middle: the server drains, which returns running replies and jobs to their queues, and ends.
 */
import { codeOf } from './errors.ts'
import type { Log } from './log.ts'

const BROKEN_CONNECTION_CODES = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ETIMEDOUT', 'ENOTCONN'])

let uncaughtErrors = 0

export const countUncaughtErrors = (): number => uncaughtErrors

export const isBrokenConnection = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && BROKEN_CONNECTION_CODES.has(codeOf(error) ?? '')

/** @param stop is called for an error that may have left a broken state. */
export function containUncaughtErrors(log: Log, stop: () => void): void {
  process.on('unhandledRejection', (reason) => {
    uncaughtErrors += 1
    log.error({ err: reason }, 'a promise was rejected and nothing waited for it')
  })
  process.on('uncaughtException', (error) => {
    uncaughtErrors += 1
    if (isBrokenConnection(error)) return log.error({ err: error }, 'a connection broke and nothing listened')
    log.fatal({ err: error }, 'an error was not caught; the server stops')
    stop()
  })
}
