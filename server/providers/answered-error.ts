/** Errors that a model server, or a proxy in front of it, sends in the body of its answer. */
import { decodeHTML } from 'entities'
import { isArray, isJson, type Json, parseObject, textOf } from './wire-format.ts'

interface AnsweredErrorOptions {
  readonly status: number | undefined
  readonly isRetryable: boolean
  /** The answer is a page for people, so a proxy or another web server sent it. */
  readonly isPage?: boolean
}

/** Its message is the server's own; empty if the server gave none. */
export class AnsweredError extends Error {
  /** The status that the error names or implies; undefined if it tells neither. */
  readonly status: number | undefined
  readonly isRetryable: boolean
  readonly isPage: boolean

  constructor(message: string, { status, isRetryable, isPage = false }: AnsweredErrorOptions) {
    super(message)
    this.name = 'AnsweredError'
    this.status = status
    this.isRetryable = isRetryable
    this.isPage = isPage
  }
}

/** Servers send the status of a rate limit for it, although no retry helps. */
const QUOTA_USED_UP = 402

/** Words in the code, type or message of an error, with the status that they mean, the most specific first. */
const MEANINGS: readonly (readonly [words: RegExp, status: number])[] = [
  [/insufficient.?(?:quota|balance|credit)|billing|payment.?required/i, QUOTA_USED_UP],
  [/rate.?limit|too.?many.?requests|resource.?exhausted|throttl/i, 429],
  [/context.?length|maximum.?context|too.?(?:long|large|many.?tokens)|context.?window|longer.?than/i, 400],
  [/invalid.?api.?key|authenticat|unauthori[sz]ed|api.?key/i, 401],
  [/permission|forbidden/i, 403],
  [/model.?not.?found|not_found|no.?such.?model|does.?not.?exist|unknown.?model/i, 404],
  [/overload|capacity|unavailable|loading.?model|model.?is.?loading|warming/i, 503],
  [/time.?out|timed.?out|deadline/i, 504],
  [/invalid|bad.?request|unsupported|not.?support|unprocessable/i, 400],
  [/server.?error|internal|api_error|try.?again|out.?of.?memory/i, 500],
]

const toStatus = (value: unknown): number | undefined => {
  const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599 ? status : undefined
}

const isRetryableStatus = (status: number): boolean => status === 408 || status === 429 || status >= 500

/** Also for documents that are neither an answer nor marked as an error, such as `{"detail": "…"}`. */
export function toAnsweredError(error: unknown): AnsweredError {
  const fields: Json = isJson(error) ? error : { message: error }
  const { message, detail, code, type, status: given } = fields
  const words = textOf(message) || textOf(detail) || textOf(fields['error']) || describeDetails(fields)
  const kinds = [code, type, given].filter((kind) => typeof kind === 'string')
  const named = [code, given, fields['status_code']].map(toStatus).find((status) => status)
  const implied = [kinds.join(' '), words]
    .flatMap((text) => MEANINGS.find(([meaning]) => meaning.test(text))?.[1] ?? [])
    .at(0)
  const status = implied === QUOTA_USED_UP ? implied : (named ?? implied)
  return new AnsweredError(words, { status, isRetryable: status !== undefined && isRetryableStatus(status) })
}

/** Validation errors of FastAPI: `[{"loc": ["body", "model"], "msg": "…"}]`. */
function describeDetails({ detail, errors }: Json): string {
  const details = isArray(detail) ? detail : isArray(errors) ? errors : []
  return details.map((one) => (isJson(one) ? textOf(one['msg']) || textOf(one['message']) : textOf(one))).join('; ')
}

/** The error that an event or a whole answer contains; undefined if it contains none. */
export function findAnsweredError(data: Json): AnsweredError | undefined {
  const { error, type, object, choices, response } = data
  if (error !== undefined && error !== null && error !== false && error !== '') {
    // Some name the status outside of the error.
    const outer = isJson(error) ? { ...data, ...error } : { ...data, message: error, error: undefined }
    return toAnsweredError({ ...outer, type: isJson(error) ? error['type'] : undefined })
  }
  if (type === 'error' || object === 'error') return toAnsweredError(data)
  if (type === 'response.failed') return toAnsweredError(isJson(response) ? response['error'] : undefined)
  if (isArray(choices)) {
    const failed = choices.find((choice) => isJson(choice) && choice['finish_reason'] === 'error')
    return isJson(failed) ? toAnsweredError(failed['error'] ?? failed['message']) : undefined
  }
  return undefined
}

/** Characters of a page or a text that are read in search of what it says. */
const MAX_READ_LENGTH = 20_000
const MAX_TITLE_LENGTH = 200

const isPage = (body: string): boolean =>
  /^<(?:!doctype|\?xml|[a-z])/i.test(
    body
      .slice(0, MAX_READ_LENGTH)
      .replaceAll(/<!--[^]*?-->/g, '')
      .trimStart(),
  )

/** The title or the first heading of a page, or else its first words. */
function readPageTitle(page: string): string {
  const beginning = page.slice(0, MAX_READ_LENGTH)
  const titled = /<title[^>]*>([^<]{1,400})</i.exec(beginning)?.[1] ?? /<h1[^>]*>([^<]{1,400})</i.exec(beginning)?.[1]
  const words = titled ?? beginning.replace(/<(style|script)\b[^]*?(?:<\/\1>|$)/gi, ' ').replace(/<[^>]*>/g, ' ')
  return decodeHTML(words).replace(/\s+/g, ' ').trim().slice(0, MAX_TITLE_LENGTH)
}

/**
 * Reads a body without an answer: a page for people, an error, or any other text. `status` is that of the response.
 */
export function describeBody(body: string, status: number | undefined): AnsweredError {
  const text = body.trim()
  const isRetryable = status !== undefined && isRetryableStatus(status)
  if (isPage(text)) return new AnsweredError(readPageTitle(text), { status, isRetryable, isPage: true })
  const document = parseObject(text)
  if (!document) return new AnsweredError(text.slice(0, MAX_TITLE_LENGTH), { status, isRetryable })
  const error = findAnsweredError(document) ?? toAnsweredError(document)
  return status === undefined || error.status === QUOTA_USED_UP
    ? error
    : new AnsweredError(error.message, { status, isRetryable })
}
