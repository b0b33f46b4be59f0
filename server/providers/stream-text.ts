import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Takes text out of a provider's stream ahead of the SDK that reads it: the SDK takes every event through a dozen streams,
 * which for each token costs more than all the rest of an answer. Everything else passes to it as it came.
 */

type TextKind = 'text' | 'reasoning'

export interface TextListener {
  readonly onText: (kind: TextKind, text: string) => void
  /** Bytes have come, whatever they say: also what the SDK keeps to itself, such as comments that keep a connection open. */
  readonly onSign?: () => void
  /**
   * The text has ended, for good or until the model goes on: the SDK says so only when the whole answer is read, which is
   * held back until this resolves.
   */
  readonly onPause?: () => Promise<void>
}

/** How the formats, and compatible servers of models that think, name the text in a delta. */
const KINDS: Readonly<Record<string, TextKind>> = {
  content: 'text',
  text: 'text',
  reasoning: 'reasoning',
  reasoning_content: 'reasoning',
}

type Json = Record<string, unknown>

/** What an event says that brings a piece of text and nothing else. */
interface Piece {
  readonly kind: TextKind
  readonly text: string
}

const listening = new AsyncLocalStorage<TextListener>()

/** The text of what is requested within goes to the listener. */
export const listenToText = <T>(listener: TextListener, send: () => T): T => listening.run(listener, send)

/** Who wants the text of what is requested now; undefined where nobody does. */
export const textListener = (): TextListener | undefined => listening.getStore()

/** What is between the bytes of an event stream and the SDK. */
export interface TextTap {
  /** Tells the text; returns what is left for the SDK, and until when it is held back. */
  readonly take: (bytes: Uint8Array) => {
    readonly left: Uint8Array | undefined
    readonly paused: Promise<void> | undefined
  }
  /** What was held back: the stream has ended. */
  readonly end: () => Uint8Array | undefined
}

export function createTextTap({ onText, onSign, onPause }: TextListener): TextTap {
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  let rest = ''
  let isVerbatim = false

  function takeText(text: string) {
    rest += text
    // Lines that end otherwise are left to the SDK.
    isVerbatim ||= rest.includes('\r')
    let left = ''
    let from = 0
    let paused: Promise<void> | undefined
    for (let end = rest.indexOf('\n\n'); end !== -1 && !isVerbatim; end = rest.indexOf('\n\n', from)) {
      const event = rest.slice(from, end)
      from = end + 2
      const data = readData(event)
      const piece = data && readPiece(data)
      if (piece) {
        onText(piece.kind, piece.text)
        continue
      }
      left += `${event}\n\n`
      if (data && endsText(data)) paused = onPause?.()
    }
    rest = rest.slice(from)
    if (isVerbatim) {
      left += rest
      rest = ''
    }
    return { left, paused }
  }

  const encoded = (text: string) => (text === '' ? undefined : encoder.encode(text))
  return {
    take(bytes) {
      onSign?.()
      const { left, paused } = takeText(decoder.decode(bytes, { stream: true }))
      return { left: encoded(left), paused }
    },
    end: () => encoded(takeText(decoder.decode()).left + rest),
  }
}

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const isList = (value: unknown): value is unknown[] => Array.isArray(value)

function readData(event: string): Json | undefined {
  const start = event.indexOf('data: {')
  // The event's name may stand before its data, which is one line.
  if (start === -1 || event.includes('\n', start) || (start > 0 && !event.startsWith('event: '))) return undefined
  return parse(event.slice(start + 'data: '.length))
}

const readPiece = (data: Json): Piece | undefined =>
  pieceOfResponse(data) ?? pieceOfContentBlock(data) ?? pieceOfChoice(data)

/** Whether it ends the text that came before it, and brings none itself. */
function endsText({ type, choices }: Json): boolean {
  if (type === 'response.output_text.done' || type === 'content_block_stop') return true
  if (!isList(choices) || choices.length !== 1) return false
  const [choice] = choices
  if (!isJson(choice) || typeof choice['finish_reason'] !== 'string') return false
  const { delta } = choice
  return !isJson(delta) || (delta['content'] ?? '') === ''
}

function parse(text: string): Json | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    return isJson(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}

/** OpenAI, responses: `{"type":"response.output_text.delta","delta":"…"}`. */
function pieceOfResponse({ type, delta, logprobs }: Json): Piece | undefined {
  if (type !== 'response.output_text.delta' || typeof delta !== 'string') return undefined
  return Array.isArray(logprobs) && logprobs.length > 0 ? undefined : { kind: 'text', text: delta }
}

/** Anthropic, messages: `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"…"}}`. */
const pieceOfContentBlock = ({ type, delta }: Json): Piece | undefined =>
  type === 'content_block_delta' && isJson(delta) ? pieceOfDelta(delta) : undefined

/** OpenAI and those like it, chat completions: `{"choices":[{"index":0,"delta":{"content":"…"}}]}`. */
function pieceOfChoice({ choices, usage }: Json): Piece | undefined {
  if (!isList(choices) || choices.length !== 1 || (usage ?? null) !== null) return undefined
  const [choice] = choices
  if (!isJson(choice) || !isJson(choice['delta'])) return undefined
  const hasMore = Object.keys(choice).some((key) => key !== 'index' && key !== 'delta' && choice[key] !== null)
  return hasMore ? undefined : pieceOfDelta(choice['delta'])
}

/** Where the text is all that a delta says. */
function pieceOfDelta(delta: Json): Piece | undefined {
  let piece: Piece | undefined
  for (const key of Object.keys(delta)) {
    const value = delta[key]
    if (key === 'type' || key === 'role' || value === null) continue
    const kind = KINDS[key]
    if (piece || kind === undefined || typeof value !== 'string') return undefined
    piece = { kind, text: value }
  }
  return piece
}
