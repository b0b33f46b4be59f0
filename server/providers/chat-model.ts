/** One interface to all language models over the AI SDK, which loads with the first question: that takes 100 ms. */
import { additions, traceOperation } from '#server/base/tracing.ts'
import type { ChatModel, ChatPart, ChatRequest, EmitPart, ShortAnswer } from './chat.ts'
import { streamChat, type LoadModel, NO_PROVIDER_STORAGE } from './stream-chat.ts'
import { MAX_IDLE_PERIODS, startIdleTimeout } from './idle-timeout.ts'
import { rejectsPictures, rejectsTools, toProviderError } from './provider-error.ts'
import { retryOnce } from './retry.ts'
import { createTextCleaner, toStorableText } from './storable-text.ts'
import { createThinkSplitter, type SplitText, withoutThoughts } from './think-tags.ts'

interface ChatModelOptions {
  readonly identifier: string
  readonly providerName: string
  readonly idleTimeoutMs: number
  readonly load: LoadModel
}

/** Enough for a page of notes by a model that thinks before it writes. */
const SHORT_ANSWER_TOKENS = 4_000
/** No model writes this much in one answer, so a longer stream never ends by itself. */
const MAX_CHARACTERS = 1_000_000

export function createChatModel({ identifier, providerName, idleTimeoutMs, load }: ChatModelOptions): ChatModel {
  async function stream(request: ChatRequest, emit: EmitPart): Promise<void> {
    let emitted = 0
    const emitAndCount = (part: ChatPart) => {
      emitted += 1
      emit(part)
    }
    try {
      await streamOnce(request, emitAndCount)
    } catch (error) {
      if (emitted > 0) throw error
      if (request.tools?.length && rejectsTools(error)) return stream({ ...request, tools: [] }, emit)
      if (!request.turns.some(({ pictures }) => pictures) || !rejectsPictures(error)) throw error
      emit({ type: 'pictures-refused' })
      return stream({ ...request, turns: request.turns.map(({ role, content }) => ({ role, content })) }, emit)
    }
  }

  async function streamOnce(request: ChatRequest, emit: EmitPart): Promise<void> {
    const idleTimeout = startIdleTimeout(idleTimeoutMs)
    const failed = new AbortController()
    const tooLong = new AbortController()
    const [text, reasoning] = [createTextCleaner(), createTextCleaner()]
    let thoughts = createThinkSplitter()
    // Separates the text before a tool call from the text after it.
    let [hasText, hasEarlierText, separator] = [false, false, '']
    const beginStep = () => {
      emitSplit(thoughts.end())
      thoughts = createThinkSplitter()
      hasEarlierText = hasText
      separator = hasText ? '\n\n' : ''
    }
    const signal = AbortSignal.any([request.signal, idleTimeout.signal, failed.signal, tooLong.signal])
    let characters = 0
    const emitText = (type: 'text' | 'reasoning', delta: string) => {
      if (delta === '' || tooLong.signal.aborted) return
      emit({ type, text: type === 'text' ? separator + delta : delta })
      if (type === 'text') [hasText, separator] = [true, '']
      characters += delta.length
      if (characters >= MAX_CHARACTERS) tooLong.abort()
    }
    const emitSplit = (split: SplitText) => {
      // The text of earlier steps was no thought.
      if (split.isThought === true && !hasEarlierText) {
        emit({ type: 'thought' })
        ;[hasText, separator] = [false, '']
      }
      emitText('reasoning', split.reasoning)
      emitText('text', split.text)
    }
    const emitClean = (part: ChatPart) => {
      if (part.type === 'text') emitSplit(thoughts.push(text.push(part.text)))
      else if (part.type === 'reasoning') emitText('reasoning', reasoning.push(part.text))
      else {
        if (part.type === 'finish') emitSplit(thoughts.end())
        emit(part)
      }
    }
    try {
      await streamChat(load, { ...request, signal }, { emit: emitClean, onStep: beginStep, idleTimeout })
    } catch (error) {
      if (tooLong.signal.aborted && !request.signal.aborted)
        return emit({ type: 'finish', tokensIn: null, tokensOut: null, isCut: true })
      // Close the connection if it is still open.
      failed.abort()
      if (request.signal.aborted) throw error
      throw toProviderError(error, providerName, idleTimeout.signal.aborted)
    } finally {
      idleTimeout.stop()
    }
  }

  async function complete({ system, turns, signal }: ChatRequest): Promise<ShortAnswer> {
    const { generateText } = await import('ai')
    const timeout = AbortSignal.timeout(MAX_IDLE_PERIODS * idleTimeoutMs)
    const abortSignal = AbortSignal.any([signal, timeout])
    const request = async () =>
      generateText({
        model: await load(),
        instructions: system,
        messages: turns.map(({ role, content }) => ({ role, content })),
        abortSignal,
        maxRetries: 0,
        maxOutputTokens: SHORT_ANSWER_TOKENS,
        providerOptions: NO_PROVIDER_STORAGE,
        telemetry: { isEnabled: false },
      })
    try {
      const { text, finishReason, usage } = await retryOnce(request, { signal: abortSignal, hasNoOutput: () => true })
      reportTokens(usage.inputTokens ?? 0, usage.outputTokens ?? 0)
      return {
        text: withoutThoughts(toStorableText(text)),
        isCut: finishReason === 'length',
        tokensIn: usage.inputTokens ?? null,
        tokensOut: usage.outputTokens ?? null,
      }
    } catch (error) {
      signal.throwIfAborted()
      throw toProviderError(error, providerName, timeout.aborted)
    }
  }

  return {
    identifier,
    stream: (request, emit) =>
      traceOperation('model', 'chat', () => stream(request, countingTokens(emit)), { model: identifier }),
    complete: (request) => traceOperation('model', 'short answer', () => complete(request), { model: identifier }),
  }
}

const countingTokens =
  (emit: EmitPart): EmitPart =>
  (part) => {
    if (part.type === 'finish') reportTokens(part.tokensIn ?? 0, part.tokensOut ?? 0)
    emit(part)
  }

function reportTokens(tokensIn: number, tokensOut: number): void {
  additions.publish({ name: 'model_tokens', labels: { direction: 'in' }, value: tokensIn })
  additions.publish({ name: 'model_tokens', labels: { direction: 'out' }, value: tokensOut })
}
