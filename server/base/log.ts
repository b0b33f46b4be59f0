import { pino, type Logger } from 'pino'
import { codeOf } from './errors.ts'

export type Log = Logger

/** What a log line holds of an error: its own words and those of its causes, not the objects that hang on to it. */
function describe(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown
  const { name, message, stack, cause } = thrown
  return { type: name, code: codeOf(thrown), message, stack, cause: cause === undefined ? undefined : describe(cause) }
}

/** A logger of JSON lines on standard error; standard output is kept for what a person or a script asked for. */
export function createLog(level: string): Log {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: describe } },
    pino.destination({ fd: 2, sync: false }),
  )
}
