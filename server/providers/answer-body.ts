/** Tells a stream of events from other forms of an answer by its first characters, whatever its content type says. */
import { describeBody } from './answered-error.ts'
import { DONE, isArray, isJson, type Json, parseObject, type WireFormat, writeEvents } from './wire-format.ts'
import { toEvents } from './whole-answer.ts'

/** A whole answer is far smaller; a larger body is read no further. */
const MAX_HELD_CHARACTERS = 16 * 1024 * 1024

const EVENT_STREAM = /^(?:data|event|id|retry)\s*:|^:/

export interface BodyReader {
  /** Text of an event stream. @throws AnsweredError for an error, a page, or a text that is no answer. */
  readonly push: (text: string) => string
  readonly end: () => string
}

export function createBodyReader(format: WireFormat): BodyReader {
  let form: 'unknown' | 'events' | 'lines' | 'document' | 'other' = 'unknown'
  let held = ''
  let hasLines = false

  function push(text: string): string {
    if (form === 'events') return text
    held += text
    if (held.length > MAX_HELD_CHARACTERS) throw new Error('the answer is one endless document')
    if (form === 'unknown') form = formOf(held)
    if (form === 'events') return take()
    return form === 'lines' ? readLines() : ''
  }

  function take(): string {
    const taken = held
    held = ''
    return taken
  }

  /** If the first line is no document, the document has several lines. */
  function readLines(): string {
    let events = ''
    for (let end = held.indexOf('\n'); end !== -1; end = held.indexOf('\n')) {
      const line = held.slice(0, end)
      const document = parseObject(line)
      if (document) {
        hasLines = true
        events += writeEvents(toEvents(document, format))
      } else if (line.trim() !== '') {
        form = 'document'
        break
      }
      held = held.slice(end + 1)
    }
    return events
  }

  return {
    push,
    end() {
      const body = take()
      if (form === 'events') return body
      if (body.trim() === '') return ''
      if (form === 'other' || form === 'unknown') throw describeBody(body, undefined)
      const documents = parseDocuments(body)
      if (!documents) throw new Error('the document ends before the answer does')
      // A whole answer needs no reason to be one; lines that break off do.
      return writeEvents(documents.flatMap((one) => toEvents(one, format))) + (hasLines ? '' : DONE)
    },
  }
}

function formOf(text: string): 'unknown' | 'events' | 'lines' | 'document' | 'other' {
  const beginning = text.replace(/^\uFEFF/, '').trimStart()
  if (beginning === '') return 'unknown'
  if (beginning.startsWith('{')) return 'lines'
  if (/^\[\s*\{/.test(beginning)) return 'document'
  if (EVENT_STREAM.test(beginning)) return 'events'
  // A field's name, or the beginning of an array, may not have arrived as a whole.
  return /^(?:[a-z]{1,5}|\[\s*)$/.test(beginning) ? 'unknown' : 'other'
}

/** One document, or an array of them. */
function parseDocuments(text: string): readonly Json[] | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    if (isArray(parsed)) return parsed.filter(isJson)
    return isJson(parsed) ? [parsed] : undefined
  } catch {
    return undefined
  }
}
