import { AsyncLocalStorage } from 'node:async_hooks'

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

type Json = Record<string, unknown>

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

export function createDeltaReader({ onText, onActivity, onPause }: TextListener): DeltaReader {
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  let buffered = ''
  let isPassThrough = false

  function readEvents(text: string) {
    buffered += text
    // Streams with other line endings go to the SDK unchanged.
    isPassThrough ||= buffered.includes('\r')
    let remaining = ''
    let from = 0
    let paused: Promise<void> | undefined
    for (let end = buffered.indexOf('\n\n'); end !== -1 && !isPassThrough; end = buffered.indexOf('\n\n', from)) {
      const event = buffered.slice(from, end)
      from = end + 2
      const data = parseEventData(event)
      const textDelta = data && parseDelta(data)
      if (textDelta) {
        onText(textDelta.kind, textDelta.text)
        continue
      }
      remaining += `${event}\n\n`
      if (data && endsText(data)) paused = onPause?.()
    }
    buffered = buffered.slice(from)
    if (isPassThrough) {
      remaining += buffered
      buffered = ''
    }
    return { remaining, paused }
  }

  const encodeText = (text: string) => (text === '' ? undefined : encoder.encode(text))
  return {
    push(bytes) {
      onActivity?.()
      const { remaining, paused } = readEvents(decoder.decode(bytes, { stream: true }))
      return { remaining: encodeText(remaining), paused }
    },
    end: () => encodeText(readEvents(decoder.decode()).remaining + buffered),
  }
}

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const isArray = (value: unknown): value is unknown[] => Array.isArray(value)

function parseEventData(event: string): Json | undefined {
  const start = event.indexOf('data: {')
  // An optional `event:` line precedes one line of data.
  if (start === -1 || event.includes('\n', start) || (start > 0 && !event.startsWith('event: '))) return undefined
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

function parseObject(text: string): Json | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    return isJson(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
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
function choiceDelta({ choices, usage }: Json): TextDelta | undefined {
  if (!isArray(choices) || choices.length !== 1 || (usage ?? null) !== null) return undefined
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
