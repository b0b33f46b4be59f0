import { pino, type Logger } from 'pino'

export type Log = Logger

/** A logger of JSON lines on standard error; standard output is kept for what a person or a script asked for. */
export function createLog(level: string): Log {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ fd: 2, sync: false }))
}
