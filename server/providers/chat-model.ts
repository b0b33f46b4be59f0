/**
 * One interface to every language model, over the AI SDK. The SDK is loaded with the first question: it is a tenth of a
 * second that a start need not wait for.
 */
import { type ChatModel, type ChatPart, type ChatRequest, type GivePart, type ShortAnswer } from './chat.ts'
import { converse, type LoadModel, NOTHING_KEPT } from './converse.ts'
import { MOST_SILENCES, watchSilence } from './idle-timeout.ts'
import { refusesPictures, refusesTools, toProviderError } from './provider-error.ts'
import { sendAgain } from './retry.ts'
import { createTextCleaner, toStorableText } from './storable-text.ts'
import { createThinkSplitter, type Said, withoutThoughts } from './think-tags.ts'

interface ChatModelOptions {
  readonly identifier: string
  readonly providerName: string
  /** Longest silence of the provider, before and between its parts. */
  readonly silenceMs: number
  readonly load: LoadModel
}

/** Of `complete`: enough for a page of notes by a model that thinks before it writes. */
const SHORT_ANSWER_TOKENS = 4_000
/** No model writes as much at a time: what goes on beyond it would go on for ever. */
const MOST_CHARACTERS = 1_000_000

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
    const endless = new AbortController()
    const [text, reasoning, thoughts] = [createTextCleaner(), createTextCleaner(), createThinkSplitter()]
    const signal = AbortSignal.any([request.signal, silence.signal, failed.signal, endless.signal])
    let characters = 0
    const giveSaid = (type: 'text' | 'reasoning', said: string) => {
      if (said === '' || endless.signal.aborted) return
      give({ type, text: said })
      characters += said.length
      if (characters >= MOST_CHARACTERS) endless.abort()
    }
    const giveSplit = (said: Said) => {
      giveSaid('reasoning', said.reasoning)
      giveSaid('text', said.text)
    }
    const giveClean = (part: ChatPart) => {
      if (part.type === 'text') giveSplit(thoughts.push(text.push(part.text)))
      else if (part.type === 'reasoning') giveSaid('reasoning', reasoning.push(part.text))
      else {
        if (part.type === 'finish') giveSplit(thoughts.end())
        give(part)
      }
    }
    try {
      await converse(load, { ...request, signal }, { give: giveClean, silence })
    } catch (error) {
      if (endless.signal.aborted && !request.signal.aborted)
        return give({ type: 'finish', tokensIn: null, tokensOut: null, isCut: true })
      // Closes the connection, where what failed is not the connection.
      failed.abort()
      if (request.signal.aborted) throw error
      throw toProviderError(error, providerName, silence.signal.aborted)
    } finally {
      silence.end()
    }
  }

  async function complete({ system, turns, signal }: ChatRequest): Promise<ShortAnswer> {
    const { generateText } = await import('ai')
    const silence = AbortSignal.timeout(MOST_SILENCES * silenceMs)
    const abortSignal = AbortSignal.any([signal, silence])
    const ask = async () =>
      generateText({
        model: await load(),
        instructions: system,
        messages: turns.map(({ role, content }) => ({ role, content })),
        abortSignal,
        maxRetries: 0,
        maxOutputTokens: SHORT_ANSWER_TOKENS,
        providerOptions: NOTHING_KEPT,
        telemetry: { isEnabled: false },
      })
    try {
      const { text, finishReason } = await sendAgain(ask, { signal: abortSignal, isUnheard: () => true })
      return { text: withoutThoughts(toStorableText(text)), isCut: finishReason === 'length' }
    } catch (error) {
      signal.throwIfAborted()
      throw toProviderError(error, providerName, silence.aborted)
    }
  }
  return { identifier, stream, complete }
}
