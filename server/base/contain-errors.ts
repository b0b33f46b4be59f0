/**
 * Errors that nothing caught. Which of them end the process:
 *
 * - An error that belongs to a unit (`failure-scope.ts`: a request, a WebSocket, a connection to the database or to NATS,
 *   a request to a model, tool server or S3, a parser process, a reply, a job, a repeated task) ends that unit. Its
 *   state goes with it: connections are closed, a reply or job is repeated, a transaction is rolled back.
 * - A rejected promise has unwound through all its `finally` blocks, so nothing is half done: the process goes on.
 * - A broken connection whose error has no listener is closed already: the process goes on.
 * - Any other error left code in its middle that nothing can name. The server drains, which returns running replies and
 *   jobs to their queues, and ends with code 1; its supervisor starts it again. To go on could serve wrong data or hold
 *   a lock for ever.
 */
import { codeOf } from './errors.ts'
import { currentFailureScope, onFailure, reportFailure } from './failure-scope.ts'
import type { Log } from './log.ts'

const BROKEN_CONNECTION_CODES = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ETIMEDOUT', 'ENOTCONN'])

const isBrokenConnection = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && BROKEN_CONNECTION_CODES.has(codeOf(error) ?? '')

/** @param stop is called for an error that may have left a broken state. */
export function containUncaughtErrors(log: Log, stop: () => void): void {
  onFailure((error) => log.error({ err: error }, 'an error was not caught; it ended no more than what it belongs to'))
  process.on('unhandledRejection', reportFailure)
  process.on('uncaughtException', (error) => {
    const fail = currentFailureScope()
    if (!fail && !isBrokenConnection(error)) {
      log.fatal({ err: error }, 'an error was not caught and belongs to nothing; the server stops')
      stop()
      return
    }
    reportFailure(error)
    try {
      fail?.(error)
    } catch (failure) {
      log.fatal({ err: failure }, 'what an error belongs to could not be ended; the server stops')
      stop()
    }
  })
}
