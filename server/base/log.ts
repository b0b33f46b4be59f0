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

/** Longer texts repeat what was sent rather than say what went wrong. */
export const MAX_MESSAGE_CHARACTERS = 500
const MAX_STACK_CHARACTERS = 4_000
/** Limit for an error that holds others. */
const MAX_ERRORS = 4
/** Levels of errors in errors, and of causes: an error may hold itself. */
const MAX_DEPTH = 2
const MAX_CAUSES = 8
const LONG_QUOTATION = /(?<!\w)([\"'`])(?:(?!\1)[^]){60,}(?:\1|$)/g
/** From the first quotation mark to the last: a value may hold quotation marks itself. */
const QUOTED = /["'`][^]*["'`]/

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}… (${text.length} characters)` : text
}

/** Bounded and without mail addresses or long quotations. Cut first: the rest is not worth searching. */
export const maskText = (text: string): string =>
  maskAddresses(cut(text, MAX_MESSAGE_CHARACTERS).replace(LONG_QUOTATION, '$1…$1'))

/** Errors of PostgreSQL that quote a value: data, constraints, syntax, and those that functions raise. */
const QUOTES_VALUE = /^(22|23|P0|42601)/
/** Answers of model providers that are about the account, not about what was sent. */
const ABOUT_ACCOUNT = new Set([401, 402, 403, 404, 408, 409, 429])

const isDatabaseError = (error: Error): boolean => 'severity' in error && 'routine' in error

function maskMessage(error: Error): string {
  const { name, message } = error
  if (isDatabaseError(error))
    return maskText(QUOTES_VALUE.test(codeOf(error) ?? '') ? message.replace(QUOTED, '"…"') : message)
  // The message of a parser of JSON quotes the text.
  if (name === 'SyntaxError') return maskText(message.replace(QUOTED, '"…"'))
  if (!name.startsWith('AI_')) return maskText(message)
  const status = 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 0
  return ABOUT_ACCOUNT.has(status) || status >= 500
    ? maskText(message)
    : 'may repeat what was sent, so it is not logged'
}

/** Fields of an error that name no value. */
function listPlainFields(error: Error): Record<string, unknown> {
  const names = isDatabaseError(error)
    ? ['schema', 'table', 'column', 'constraint', 'routine']
    : ['statusCode', 'syscall']
  return Object.fromEntries(
    Object.entries(error).filter(([name, value]) => names.includes(name) && value !== undefined),
  )
}

/** Frames without the message, which V8 repeats above them. */
function framesOf({ stack, message }: Error): string {
  const frames = stack?.includes(message) ? stack.slice(stack.indexOf(message) + message.length) : stack
  return cut(frames?.slice(Math.max(0, frames.search(/\n\s+at /))) ?? '', MAX_STACK_CHARACTERS)
}

/** Logs message, code and causes of an error, but no attached objects, which may hold private data. */
const serializeThrown = (thrown: unknown): unknown => serializeError(thrown, 0, 0)

function serializeError(thrown: unknown, depth: number, causes: number): unknown {
  if (typeof thrown === 'string') return maskText(thrown)
  if (!(thrown instanceof Error)) return thrown
  const cause = thrown.cause ?? ('lastError' in thrown ? thrown.lastError : undefined)
  const message = maskMessage(thrown)
  return {
    type: thrown.name,
    code: codeOf(thrown),
    ...listPlainFields(thrown),
    message,
    stack: thrown.stack === undefined ? undefined : `${thrown.name}: ${message}${maskAddresses(framesOf(thrown))}`,
    cause: cause === undefined || causes === MAX_CAUSES ? undefined : serializeError(cause, depth, causes + 1),
    errors:
      thrown instanceof AggregateError && depth < MAX_DEPTH
        ? thrown.errors.slice(0, MAX_ERRORS).map((error) => serializeError(error, depth + 1, causes))
        : undefined,
  }
}

/** Paths below the storage service name files of people, and those of links hold their secrets. */
const maskPath = (path: unknown): unknown =>
  typeof path === 'string'
    ? cut(path.replace(/^(\/storage\/v1\/[^/]+|\/api\/links)\/.*/s, '$1/…'), MAX_MESSAGE_CHARACTERS)
    : path

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
      serializers: { err: serializeThrown, cause: serializeThrown, reason: serializeThrown, path: maskPath },
      mixin: nameRequest,
    },
    destination,
  )
}

export function logFailedRequest(log: Log, fields: Readonly<Record<string, unknown>>, sentence: string): void {
  log[isAborted(fields['err']) ? 'debug' : 'error'](fields, sentence)
}
