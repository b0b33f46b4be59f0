/**
 * One interface to every language model, over the AI SDK. The SDK is loaded with the first question: it is a tenth of a
 * second that a start need not wait for.
 */
import { type ChatModel, type ChatPart, type ChatRequest, type GivePart } from './chat.ts'
import { converse, type LoadModel } from './converse.ts'
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
  async function stream(request: ChatRequest, give: GivePart): Promise<void> {
    let given = 0
    const giveOn = (part: ChatPart) => {
      given += 1
      give(part)
    }
    try {
      await streamOnce(request, giveOn)
    } catch (error) {
      if (given > 0) throw error
      if (request.tools?.length && refusesTools(error)) return stream({ ...request, tools: [] }, give)
      if (!request.turns.some(({ pictures }) => pictures) || !refusesPictures(error)) throw error
      give({ type: 'pictures-refused' })
      return stream({ ...request, turns: request.turns.map(({ role, content }) => ({ role, content })) }, give)
    }
  }

  async function streamOnce(request: ChatRequest, give: GivePart): Promise<void> {
    const silence = watchSilence(silenceMs)
    const failed = new AbortController()
    const [text, reasoning] = [createTextCleaner(), createTextCleaner()]
    const signal = AbortSignal.any([request.signal, silence.signal, failed.signal])
    const giveClean = (part: ChatPart) => {
      if (part.type === 'text') give({ type: 'text', text: text.push(part.text) })
      else if (part.type === 'reasoning') give({ type: 'reasoning', text: reasoning.push(part.text) })
      else give(part)
    }
    try {
      await converse(load, { ...request, signal }, { give: giveClean, silence })
    } catch (error) {
      // Closes the connection, where what failed is not the connection.
      failed.abort()
      if (request.signal.aborted) throw error
      throw toProviderError(error, providerName, silence.signal.aborted)
    } finally {
      silence.end()
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
