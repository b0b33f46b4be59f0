/**
 * One interface to every language model, over the AI SDK. The SDK is loaded with the first question: it is a tenth of a
 * second that a start need not wait for.
 */
import { type ChatModel, type ChatPart, type ChatRequest } from './chat.ts'
import { converse, type LoadModel } from './converse.ts'
import { createPartQueue } from './part-queue.ts'
import { refusesPictures, refusesTools, toProviderError } from './provider-error.ts'
import { watchSilence } from './silence.ts'
import { createTextCleaner, toStorableText } from './storable-text.ts'

interface ChatModelOptions {
  readonly identifier: string
  readonly providerName: string
  /** Longest silence of the provider, before and between its parts. */
  readonly silenceMs: number
  readonly load: LoadModel
}

/** Of `complete`: enough for a model that thinks before it writes a line. */
const SHORT_ANSWER_TOKENS = 1_000

export function createChatModel({ identifier, providerName, silenceMs, load }: ChatModelOptions): ChatModel {
  async function* stream(request: ChatRequest): AsyncGenerator<ChatPart> {
    let hasPart = false
    try {
      for await (const part of streamOnce(request)) {
        hasPart = true
        yield part
      }
    } catch (error) {
      if (hasPart) throw error
      if (request.tools?.length && refusesTools(error)) yield* stream({ ...request, tools: [] })
      else if (request.turns.some(({ pictures }) => pictures) && refusesPictures(error)) {
        yield { type: 'pictures-refused' }
        yield* stream({ ...request, turns: request.turns.map(({ role, content }) => ({ role, content })) })
      } else throw error
    }
  }

  async function* streamOnce(request: ChatRequest): AsyncGenerator<ChatPart> {
    const silence = watchSilence(silenceMs)
    const left = new AbortController()
    let isOver = false
    const parts = createPartQueue()
    const [text, reasoning] = [createTextCleaner(), createTextCleaner()]
    const signal = AbortSignal.any([request.signal, silence.signal, left.signal])
    const give = (part: ChatPart) => {
      if (part.type === 'text') parts.push({ type: 'text', text: text.push(part.text) })
      else if (part.type === 'reasoning') parts.push({ type: 'reasoning', text: reasoning.push(part.text) })
      else parts.push(part)
    }
    converse(load, { ...request, signal }, { give, silence }).then(parts.end, parts.fail)
    try {
      yield* parts.read()
      isOver = true
    } catch (error) {
      if (request.signal.aborted) throw error
      throw toProviderError(error, providerName, silence.signal.aborted)
    } finally {
      silence.end()
      if (!isOver) left.abort()
    }
  }

  async function complete({ system, turns, signal }: ChatRequest): Promise<string> {
    const { generateText } = await import('ai')
    try {
      const { text } = await generateText({
        model: await load(),
        instructions: system,
        messages: turns.map(({ role, content }) => ({ role, content })),
        abortSignal: signal,
        maxRetries: 0,
        maxOutputTokens: SHORT_ANSWER_TOKENS,
        telemetry: { isEnabled: false },
      })
      return toStorableText(text)
    } catch (error) {
      signal.throwIfAborted()
      throw toProviderError(error, providerName, false)
    }
  }
  return { identifier, stream, complete }
}
