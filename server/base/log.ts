import { type DestinationStream, pino, type Logger } from 'pino'
import { codeOf, isAborted } from './errors.ts'
import { currentRequestId } from './request-id.ts'

export type Log = Logger

const DELIMITERS = String.raw`\s@<>()[\]{}"\x60,;:=/\\`
/** Plain or URL-encoded. The look-behind keeps the search of a long text linear. */
const MAIL_ADDRESS = new RegExp(
  String.raw`(?<![^${DELIMITERS}])('?)([^${DELIMITERS}'])[^${DELIMITERS}]*((?:@|%40)(?:[\p{L}\p{N}-]+\.)+\p{L}[\p{L}\p{N}-]*)`,
  'gu',
)

const maskAddresses = (text: string): string => text.replace(MAIL_ADDRESS, '$1$2…$3')

/** Logs message, code and causes of an error, but no attached objects, which may hold private data. */
function serializeError(thrown: unknown): unknown {
  if (typeof thrown === 'string') return maskAddresses(thrown)
  if (!(thrown instanceof Error)) return thrown
  const { name, message, stack, cause } = thrown
  return {
    type: name,
    code: codeOf(thrown),
    message: maskAddresses(message),
    stack: stack === undefined ? undefined : maskAddresses(stack),
    cause: cause === undefined ? undefined : serializeError(cause),
  }
}

function nameRequest(): { requestId?: string } {
  const requestId = currentRequestId()
  return requestId === undefined ? {} : { requestId }
}

/** Each line names the request that caused it, also when that has been answered. */
export function createLog(
  level: string,
  destination: DestinationStream = pino.destination({ fd: 2, sync: false }),
): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: serializeError },
      mixin: nameRequest,
    },
    destination,
  )
}

export function logFailedRequest(log: Log, fields: Readonly<Record<string, unknown>>, sentence: string): void {
  log[isAborted(fields['err']) ? 'debug' : 'error'](fields, sentence)
}
