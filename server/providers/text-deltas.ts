import { AsyncLocalStorage } from 'node:async_hooks'
import { createBodyReader } from './answer-body.ts'
import { AnsweredError } from './answered-error.ts'
import { createEventNormaliser } from './normalise-events.ts'
import {
  DONE,
  isArray,
  isJson,
  type Json,
  parseObject,
  type WireFormat,
  writeEvent,
  writeEvents,
} from './wire-format.ts'

/** Reads text deltas before the SDK: its dozen streams cost more for each token than the rest of an answer. */

type TextKind = 'text' | 'reasoning'

export interface TextListener {
  readonly onText: (kind: TextKind, text: string) => void
  /** Called for all received bytes, including keep-alive comments that the SDK drops. */
  readonly onActivity?: () => void
  readonly onPause?: () => Promise<void>
}

/** Names of the text in a delta, by provider format. */
const KINDS: Readonly<Record<string, TextKind>> = {
  content: 'text',
  text: 'text',
  reasoning: 'reasoning',
  reasoning_content: 'reasoning',
}

/** An event that contains text and nothing else. */
interface TextDelta {
  readonly kind: TextKind
  readonly text: string
}

const listeners = new AsyncLocalStorage<TextListener>()

/** Requests that `send` starts report their text to the listener. */
export const withTextListener = <T>(listener: TextListener, send: () => T): T => listeners.run(listener, send)

export const currentTextListener = (): TextListener | undefined => listeners.getStore()

export interface DeltaReader {
  /** Reports text to the listener. The SDK receives `remaining` once `paused` resolves. */
  readonly push: (bytes: Uint8Array) => {
    readonly remaining: Uint8Array | undefined
    readonly paused: Promise<void> | undefined
  }
  readonly end: () => Uint8Array | undefined
}

export function createDeltaReader({ onText, onActivity, onPause }: TextListener, format: WireFormat): DeltaReader {
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  const body = createBodyReader(format)
  const normaliser = createEventNormaliser(format)
  let buffered = ''
  let hasText = false
  let isDone = false

  function readEvents(text: string) {
    hasText ||= text !== ''
    buffered = buffered === '' ? text : buffered + text
    if (buffered.includes('\r')) buffered = withLineFeeds(buffered)
    let remaining = ''
    let from = 0
    let paused: Promise<void> | undefined
    for (let end = buffered.indexOf('\n\n'); end !== -1; end = buffered.indexOf('\n\n', from)) {
      const event = buffered.slice(from, end)
      from = end + 2
      const data = parseSimpleEvent(event) ?? readOtherEvent(event)
      if (data === 'end') {
        isDone = true
        remaining += writeEvents(normaliser.end()) + DONE
      } else if (data === 'broken') remaining += `${event}\n\n`
      else if (data) {
        const rest = takeText(data)
        if (!rest) continue
        remaining += writeEvent(rest, nameOf(event))
        if (endsText(rest)) paused = onPause?.()
      }
    }
    buffered = buffered.slice(from)
    return { remaining, paused }
  }

  /** Reports the text of an event, in order with all other text. Returns what the SDK has to read of it. */
  function takeText(data: Json): Json | undefined {
    const textDelta = parseDelta(data)
    if (textDelta) {
      onText(textDelta.kind, textDelta.text)
      return undefined
    }
    const event = normaliser.push(data)
    return event && takeChoiceText(event)
  }

  /** A chunk may contain text and more: the reason of the end, counts, probabilities, tool calls. */
  function takeChoiceText(event: Json): Json {
    const [choice, ...others] = isArray(event['choices']) ? event['choices'] : []
    if (!isJson(choice) || !isJson(choice['delta']) || others.length > 0) return event
    const rest: Record<string, unknown> = { ...choice['delta'] }
    const taken = new Set<TextKind>()
    for (const [key, kind] of Object.entries(KINDS)) {
      const text = rest[key]
      if (typeof text !== 'string') continue
      // Some servers send one thought under its old and its new name.
      if (text !== '' && !taken.has(kind)) {
        taken.add(kind)
        onText(kind, text)
      }
      rest[key] = null
    }
    return { ...event, choices: [{ ...choice, delta: rest }] }
  }

  function readEnd(): string {
    const { remaining } = readEvents(body.push(decoder.decode()) + body.end())
    // Some servers omit the empty line after the last event.
    const last = buffered.trim() === '' ? '' : readEvents('\n\n').remaining
    if (!hasText) throw new AnsweredError('', { status: undefined, isRetryable: true })
    if (isDone) return remaining + last
    if (!normaliser.isFinished()) throw new Error('the stream ended before the answer did')
    return remaining + last + writeEvents(normaliser.end())
  }

  const encodeText = (text: string) => (text === '' ? undefined : encoder.encode(text))
  return {
    push(bytes) {
      onActivity?.()
      const { remaining, paused } = readEvents(body.push(decoder.decode(bytes, { stream: true })))
      return { remaining: encodeText(remaining), paused }
    },
    end: () => encodeText(readEnd()),
  }
}

/** Events with several lines of data, without JSON, or with the mark of the end. Nothing for signs of life. */
function readOtherEvent(event: string): Json | 'end' | 'broken' | undefined {
  const text = event
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length).trim())
    .join('\n')
  if (text === '[DONE]') return 'end'
  const data = parseObject(text)
  if (nameOf(event) === 'error') return { ...data, type: 'error', error: data?.['error'] ?? data ?? text }
  // The SDK reports data that breaks off.
  return data ?? (text.startsWith('{') ? 'broken' : undefined)
}

/** A carriage return at the end may be half of a line's end. */
const withLineFeeds = (text: string): string => text.replace(/\r\n|\r(?!$)/g, '\n')

const nameOf = (event: string): string | undefined => /^event: ?(.*)$/m.exec(event)?.[1]?.trim()

/** One line of data, after an optional line with the event's name: the only form in which text deltas arrive. */
function parseSimpleEvent(event: string): Json | undefined {
  const start = event.indexOf('data: {')
  if (start === -1 || event.includes('\n', start) || (start > 0 && !event.startsWith('event: '))) return undefined
  if (event.startsWith('event: error')) return undefined
  return parseObject(event.slice(start + 'data: '.length))
}

const parseDelta = (data: Json): TextDelta | undefined =>
  responsesDelta(data) ?? contentBlockDelta(data) ?? choiceDelta(data)

/** Whether the event ends a block of text and contains none itself. */
function endsText({ type, choices }: Json): boolean {
  if (type === 'response.output_text.done' || type === 'content_block_stop') return true
  if (!isArray(choices) || choices.length !== 1) return false
  const [choice] = choices
  if (!isJson(choice) || typeof choice['finish_reason'] !== 'string') return false
  const { delta } = choice
  return !isJson(delta) || (delta['content'] ?? '') === ''
}

/** OpenAI responses: `{"type":"response.output_text.delta","delta":"…"}`. */
function responsesDelta({ type, delta, logprobs }: Json): TextDelta | undefined {
  if (type !== 'response.output_text.delta' || typeof delta !== 'string') return undefined
  return Array.isArray(logprobs) && logprobs.length > 0 ? undefined : { kind: 'text', text: delta }
}

/** Anthropic messages: `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"…"}}`. */
const contentBlockDelta = ({ type, delta }: Json): TextDelta | undefined =>
  type === 'content_block_delta' && isJson(delta) ? textOnlyDelta(delta) : undefined

/** OpenAI chat completions: `{"choices":[{"index":0,"delta":{"content":"…"}}]}`. */
function choiceDelta({ choices, usage, error }: Json): TextDelta | undefined {
  if (!isArray(choices) || choices.length !== 1 || (usage ?? error ?? null) !== null) return undefined
  const [choice] = choices
  if (!isJson(choice) || !isJson(choice['delta'])) return undefined
  const hasMore = Object.keys(choice).some((key) => key !== 'index' && key !== 'delta' && choice[key] !== null)
  return hasMore ? undefined : textOnlyDelta(choice['delta'])
}

function textOnlyDelta(delta: Json): TextDelta | undefined {
  let textDelta: TextDelta | undefined
  for (const key of Object.keys(delta)) {
    const value = delta[key]
    if (key === 'type' || key === 'role' || value === null) continue
    const kind = KINDS[key]
    if (textDelta || kind === undefined || typeof value !== 'string') return undefined
    textDelta = { kind, text: value }
  }
  return textDelta
}
