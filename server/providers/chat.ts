/**
 * One interface to every language model, over the AI SDK. The SDK is loaded with the first question: it is a tenth of a
 * second that a start need not wait for.
 */
import { type LanguageModel } from 'ai'
import { codeOf, messageOf } from '#server/base/errors.ts'
import { createTextCleaner, toStorableText } from './storable-text.ts'

export interface ChatTurn {
  readonly role: 'user' | 'assistant'
  readonly content: string
}

export interface ChatRequest {
  readonly system: string
  readonly turns: readonly ChatTurn[]
  /** Aborting closes the provider's connection. */
  readonly signal: AbortSignal
}

/** `finish` comes last, with the provider's own token counts where it gave any. */
export type ChatPart =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  | { readonly type: 'finish'; readonly tokensIn: number | null; readonly tokensOut: number | null }

export type ProviderErrorCode =
  | 'not_configured'
  | 'unknown_model'
  | 'provider_refused_key'
  | 'provider_rate_limited'
  | 'provider_rejected'
  | 'provider_failed'
  | 'provider_timed_out'
  | 'provider_cut_off'
  | 'provider_empty'

/** Why a model gave no (whole) answer, in a sentence for the person who asked. */
export class ProviderError extends Error {
  readonly code: ProviderErrorCode
  readonly retryable: boolean

  constructor(code: ProviderErrorCode, message: string, { retryable, cause }: { retryable: boolean; cause?: unknown }) {
    super(message, { cause })
    this.name = 'ProviderError'
    this.code = code
    this.retryable = retryable
  }
}

export interface ChatModel {
  readonly identifier: string
  /** @throws ProviderError while it is read. */
  stream(request: ChatRequest): AsyncIterable<ChatPart>
  /** A short answer as a whole, asked for once and never again. @throws ProviderError, or the reason of an aborted signal. */
  complete(request: ChatRequest): Promise<string>
}

interface ChatModelOptions {
  readonly identifier: string
  readonly providerName: string
  /** Longest silence of the provider, before and between its parts. */
  readonly silenceMs: number
  readonly load: () => Promise<LanguageModel>
}

const LARGEST_COUNT = 2 ** 31 - 1
const LONGEST_QUOTED_ERROR = 300
/** Of `complete`: enough for a model that thinks before it writes a line. */
const SHORT_ANSWER_TOKENS = 1_000

/** Servers that only resemble the protocol count in fractions, or not at all. */
const countOf = (tokens: number | undefined): number | null =>
  tokens !== undefined && Number.isInteger(tokens) && tokens >= 0 && tokens <= LARGEST_COUNT ? tokens : null

export function createChatModel({ identifier, providerName, silenceMs, load }: ChatModelOptions): ChatModel {
  async function* stream({ system, turns, signal }: ChatRequest): AsyncGenerator<ChatPart> {
    const { streamText } = await import('ai')
    const silence = new AbortController()
    let timer = setTimeout(() => silence.abort(), silenceMs)
    try {
      const result = streamText({
        model: await load(),
        instructions: system,
        messages: turns.map(({ role, content }) => ({ role, content })),
        abortSignal: AbortSignal.any([signal, silence.signal]),
        maxRetries: 1,
        telemetry: { isEnabled: false },
        // Errors reach us as parts of the stream; without this the SDK also prints them.
        onError: () => undefined,
      })
      let hasFinished = false
      const [text, reasoning] = [createTextCleaner(), createTextCleaner()]
      for await (const part of result.stream) {
        clearTimeout(timer)
        timer = setTimeout(() => silence.abort(), silenceMs)
        if (part.type === 'text-delta') yield { type: 'text', text: text.push(part.text) }
        else if (part.type === 'reasoning-delta') yield { type: 'reasoning', text: reasoning.push(part.text) }
        else if (part.type === 'error') throw part.error
        else if (part.type === 'abort') throw new DOMException('aborted', 'AbortError')
        else if (part.type === 'finish') {
          hasFinished = true
          const { inputTokens, outputTokens } = part.totalUsage
          yield { type: 'finish', tokensIn: countOf(inputTokens), tokensOut: countOf(outputTokens) }
        }
      }
      if (!hasFinished) throw new Error('the stream ended before it was finished')
    } catch (error) {
      if (signal.aborted) throw error
      throw toProviderError(error, providerName, silence.signal.aborted)
    } finally {
      clearTimeout(timer)
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

/** The HTTP status in an AI SDK error, which may wrap the last of several tries. */
function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  if ('statusCode' in error && typeof error.statusCode === 'number') return error.statusCode
  return 'lastError' in error ? statusOf(error.lastError) : undefined
}

const CONNECTION_CODES = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

function isUnreachable(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (CONNECTION_CODES.has(codeOf(current) ?? '')) return true
    if ('lastError' in current && isUnreachable(current.lastError)) return true
  }
  return false
}

function toProviderError(error: unknown, provider: string, wasSilent: boolean): ProviderError {
  if (error instanceof ProviderError) return error
  if (wasSilent)
    return new ProviderError(
      'provider_timed_out',
      `${provider} stopped answering. Nothing of your question was lost: try again.`,
      { retryable: true, cause: error },
    )
  const answered = statusOf(error)
  // A stream that breaks carries the status it began with.
  const status = answered !== undefined && answered >= 400 ? answered : undefined
  if (status === 401 || status === 403)
    return new ProviderError('provider_refused_key', `${provider} refused the key that is configured for it.`, {
      retryable: false,
      cause: error,
    })
  if (status === 429)
    return new ProviderError(
      'provider_rate_limited',
      `${provider} is receiving too many requests. Wait a moment, then try again.`,
      { retryable: true, cause: error },
    )
  if (status === 404)
    return new ProviderError('unknown_model', `${provider} does not offer this model. Choose another one.`, {
      retryable: false,
      cause: error,
    })
  if (status !== undefined && status < 500)
    return new ProviderError(
      'provider_rejected',
      `${provider} rejected the request: ${toStorableText(messageOf(error).slice(0, LONGEST_QUOTED_ERROR))}`,
      { retryable: false, cause: error },
    )
  if (status !== undefined)
    return new ProviderError('provider_failed', `${provider} had an error of its own (${status}). Try again.`, {
      retryable: true,
      cause: error,
    })
  if (isUnreachable(error))
    return new ProviderError('provider_failed', `${provider} cannot be reached. Try again when it is up.`, {
      retryable: true,
      cause: error,
    })
  return new ProviderError('provider_cut_off', `${provider} broke off in the middle of the answer. Try again.`, {
    retryable: true,
    cause: error,
  })
}
