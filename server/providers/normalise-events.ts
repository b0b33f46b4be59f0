/** Makes events of model servers that differ a little from the format valid for the SDK, which rejects them. */
import { findAnsweredError } from './answered-error.ts'
import { isArray, isJson, type Json, textOf, type WireFormat } from './wire-format.ts'

export interface EventNormaliser {
  /** Returns the event itself if it needs no change, or nothing to drop it. @throws AnsweredError if it is an error. */
  readonly push: (event: Json) => Json | undefined
  /** Whether the answer has ended with a reason. */
  readonly isFinished: () => boolean
  /** Events at the end that the SDK waits for and the server did not send. */
  readonly end: () => readonly Json[]
}

export function createEventNormaliser(format: WireFormat): EventNormaliser {
  const normaliser = NORMALISERS[format]()
  return {
    ...normaliser,
    push(event) {
      const error = findAnsweredError(event)
      if (error) throw error
      return normaliser.push(event)
    },
  }
}

/** An object with none of them is a ping or the like. */
const CHUNK_KEYS = ['choices', 'usage', 'message']

function createChatNormaliser(): EventNormaliser {
  const calls = createToolCallNormaliser()
  let hasFinished = false

  function normaliseChoice(choice: unknown): readonly Json[] {
    if (!isJson(choice)) return []
    // Whole answers name it `message`, completions of a text have neither.
    const { delta, message, text, finish_reason: reason, ...rest } = choice
    const content = isJson(delta) ? delta : isJson(message) ? message : { content: textOf(text) }
    // Some servers send an empty reason in every chunk.
    const ended = textOf(reason) || null
    hasFinished ||= ended !== null
    const { role: _, tool_calls: called, function_call: calledBefore, ...words } = content
    const given = isArray(called) ? called : isJson(calledBefore) ? [{ index: 0, function: calledBefore }] : []
    const toolCalls = given.flatMap(calls.push)
    return [
      {
        ...rest,
        delta: { ...words, ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }) },
        finish_reason: ended,
      },
    ]
  }

  return {
    push(event) {
      if (!CHUNK_KEYS.some((key) => isJson(event[key]) || isArray(event[key]))) return undefined
      const { choices, usage } = event
      return {
        ...event,
        choices: isArray(choices) ? choices.flatMap(normaliseChoice) : [],
        usage: isJson(usage) ? usage : null,
      }
    },
    isFinished: () => hasFinished,
    end: () => (hasFinished ? [] : [{ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }]),
  }
}

/** Drops empty entries, and holds an entry back until its name arrives: without one there is no tool to call. */
function createToolCallNormaliser() {
  const held = new Map<unknown, { readonly id: unknown; readonly arguments: string }>()
  const named = new Set<unknown>()
  let last: unknown

  function push(entry: unknown): readonly Json[] {
    if (!isJson(entry)) return []
    const { id } = entry
    const called = isJson(entry['function']) ? entry['function'] : {}
    const written = called['arguments']
    const text = isJson(written) || isArray(written) ? JSON.stringify(written) : textOf(written)
    const name = textOf(called['name'])
    // A piece without index and id continues the call before it.
    const key = entry['index'] ?? id ?? (name === '' ? last : undefined)
    last = key
    if (named.has(key) && name === '')
      return text === '' ? [] : [{ ...entry, function: { ...called, name: null, arguments: text } }]
    const earlier = held.get(key)
    const merged = { id: id ?? earlier?.id, arguments: (earlier?.arguments ?? '') + text }
    if (name === '') {
      held.set(key, merged)
      return []
    }
    held.delete(key)
    named.add(key)
    return [{ ...entry, id: merged.id ?? null, function: { ...called, arguments: merged.arguments } }]
  }
  return { push }
}

const MESSAGE_EVENTS = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
])
const NO_USAGE = { input_tokens: 0, output_tokens: 0 }

function createMessagesNormaliser(): EventNormaliser {
  const dropped = new Set<unknown>()
  let [hasReason, hasStopped] = [false, false]

  return {
    push(event) {
      const { type, index, content_block: block, message, delta, usage } = event
      if (!MESSAGE_EVENTS.has(textOf(type))) return undefined
      if (type === 'message_start') {
        const begun = isJson(message) ? message : {}
        return { ...event, message: { ...begun, usage: isJson(begun['usage']) ? begun['usage'] : NO_USAGE } }
      }
      if (type === 'message_stop') hasStopped = true
      if (type === 'message_delta') {
        const ended = isJson(delta) ? delta : {}
        hasReason ||= typeof ended['stop_reason'] === 'string'
        return {
          ...event,
          delta: ended,
          usage: isJson(usage) ? { ...usage, output_tokens: usage['output_tokens'] ?? 0 } : { output_tokens: 0 },
        }
      }
      if (isJson(block) && block['type'] === 'tool_use' && textOf(block['name']) === '') dropped.add(index)
      return dropped.has(index) && type !== 'message_stop' ? undefined : event
    },
    isFinished: () => hasReason || hasStopped,
    end() {
      const reason = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 0 } }
      return hasStopped ? [] : [...(hasReason ? [] : [reason]), { type: 'message_stop' }]
    },
  }
}

function createResponsesNormaliser(): EventNormaliser {
  const dropped = new Set<unknown>()
  let hasEnded = false

  return {
    push(event) {
      const { type, item, output_index: index, response } = event
      if (typeof type !== 'string') return undefined
      if (isJson(item) && item['type'] === 'function_call' && textOf(item['name']) === '') dropped.add(index)
      if (index !== undefined && dropped.has(index)) return undefined
      if (type !== 'response.completed' && type !== 'response.incomplete') return event
      hasEnded = true
      const { usage, ...rest } = isJson(response) ? response : {}
      const isCounted =
        isJson(usage) && typeof usage['input_tokens'] === 'number' && typeof usage['output_tokens'] === 'number'
      return { ...event, response: { ...rest, ...(isCounted ? { usage } : {}) } }
    },
    isFinished: () => hasEnded,
    end: () => (hasEnded ? [] : [{ type: 'response.completed', response: {} }]),
  }
}

const NORMALISERS: Readonly<Record<WireFormat, () => EventNormaliser>> = {
  chat: createChatNormaliser,
  messages: createMessagesNormaliser,
  responses: createResponsesNormaliser,
}
