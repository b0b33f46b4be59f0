import { type DestinationStream, pino, type Logger } from 'pino'
import { codeOf, isBrokenOff } from './errors.ts'

export type Log = Logger

/** What no mail address has before its `@`. */
const AROUND = String.raw`\s@<>()[\]{}"\x60,;:=/\\`
/**
 * A mail address, also as a URL holds it: what may come before it, its first character, the domain. The look behind keeps
 * a long text from being searched again from each of its characters.
 */
const MAIL_ADDRESS = new RegExp(
  String.raw`(?<![^${AROUND}])('?)([^${AROUND}'])[^${AROUND}]*((?:@|%40)(?:[\p{L}\p{N}-]+\.)+\p{L}[\p{L}\p{N}-]*)`,
  'gu',
)

/** A refusing mail server, for one, repeats to whom the mail was to go. */
const maskAddresses = (text: string): string => text.replace(MAIL_ADDRESS, '$1$2…$3')

/** What a log line holds of an error: its own words and those of its causes, not the objects that hang on to it. */
function describe(thrown: unknown): unknown {
  if (typeof thrown === 'string') return maskAddresses(thrown)
  if (!(thrown instanceof Error)) return thrown
  const { name, message, stack, cause } = thrown
  return {
    type: name,
    code: codeOf(thrown),
    message: maskAddresses(message),
    stack: stack === undefined ? undefined : maskAddresses(stack),
    cause: cause === undefined ? undefined : describe(cause),
  }
}

/** A logger of JSON lines on standard error; standard output is kept for what a person or a script asked for. */
export function createLog(
  level: string,
  destination: DestinationStream = pino.destination({ fd: 2, sync: false }),
): Log {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: describe } },
    destination,
  )
}

/** Logs why a request failed (`err`): at `error`, unless whoever sent it went away before all of it had come. */
export function logFailedRequest(log: Log, fields: Readonly<Record<string, unknown>>, sentence: string): void {
  log[isBrokenOff(fields['err']) ? 'debug' : 'error'](fields, sentence)
}
