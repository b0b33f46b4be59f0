/** Which providers are configured, which of their models there are, and which one answers a conversation. */
import { z } from 'zod'
import { AppError } from '#server/base/errors.ts'
import { type ChatModel, createChatModel, ProviderError } from './chat.ts'

export const COMPATIBLE_PREFIX = 'openai-compatible/'

export interface ProviderSettings {
  readonly anthropic: { readonly apiKey: string | undefined; readonly baseUrl: string | undefined }
  readonly openai: { readonly apiKey: string | undefined; readonly baseUrl: string | undefined }
  readonly compatible: { readonly apiKey: string | undefined; readonly baseUrl: string | undefined }
  readonly silenceMs: number
}

/** A model as an OpenAI-compatible endpoint lists it. */
export interface ListedModel {
  readonly identifier: string
  readonly name: string
  readonly contextWindow: number
}

export interface Availability {
  readonly available: boolean
  /** What is missing, in a sentence; null where the model can be used. */
  readonly reason: string | null
  /** The host that receives the question and the passages; null: nothing leaves this machine. */
  readonly host: string | null
}

export interface Providers {
  /** Names, as in `models.provider`, of what can be used, in the order of the picker. */
  readonly configured: readonly string[]
  /** @throws ProviderError `not_configured` or `unknown_model`. */
  chatModel(provider: string | undefined, identifier: string): ChatModel
  availability(provider: string): Availability
  /** Asks the OpenAI-compatible endpoint for its chat models. Empty where none is configured. */
  listCompatibleModels(signal: AbortSignal): Promise<ListedModel[]>
}

const DEFAULT_HOSTS = { Anthropic: 'api.anthropic.com', OpenAI: 'api.openai.com' } as const
const DEFAULT_CONTEXT_WINDOW = 32_000
const NOT_FOR_CHAT = /embed|whisper|transcri|tts|speech|dall-e|image|rerank|moderation/i

const modelList = z.object({
  data: z.array(
    z.looseObject({
      id: z.string().min(1),
      context_length: z.int().positive().optional(),
      max_model_len: z.int().positive().optional(),
    }),
  ),
})

export function createProviders({ anthropic, openai, compatible, silenceMs }: ProviderSettings): Providers {
  const keyed = { Anthropic: anthropic, OpenAI: openai } as const
  const isConfigured = (provider: string) =>
    provider === 'OpenAI-compatible'
      ? compatible.baseUrl !== undefined
      : (provider === 'Anthropic' || provider === 'OpenAI') && keyed[provider].apiKey !== undefined
  const hostOf = (url: string | undefined, fallback: string) => (url === undefined ? fallback : new URL(url).host)

  function chatModel(provider: string | undefined, identifier: string): ChatModel {
    if (provider === undefined) {
      throw new ProviderError('unknown_model', `There is no model named "${identifier}". Choose another one.`, {
        retryable: false,
      })
    }
    if (!isConfigured(provider)) {
      throw new ProviderError(
        'not_configured',
        `No key is configured for ${provider}. Add one, or choose another model.`,
        { retryable: false },
      )
    }
    const shared = { identifier, providerName: provider, silenceMs }
    if (provider === 'Anthropic') {
      return createChatModel({
        ...shared,
        load: async () => (await import('@ai-sdk/anthropic')).createAnthropic(present(anthropic))(identifier),
      })
    }
    if (provider === 'OpenAI') {
      return createChatModel({
        ...shared,
        load: async () => (await import('@ai-sdk/openai')).createOpenAI(present(openai))(identifier),
      })
    }
    return createChatModel({
      ...shared,
      load: async () => {
        const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
        const { apiKey, baseURL = '' } = present(compatible)
        const provided = createOpenAICompatible({
          name: 'openai-compatible',
          baseURL,
          includeUsage: true,
          ...(apiKey === undefined ? {} : { apiKey }),
        })
        return provided(identifier.slice(COMPATIBLE_PREFIX.length))
      },
    })
  }

  return {
    configured: ['Anthropic', 'OpenAI', 'OpenAI-compatible'].filter(isConfigured),
    chatModel,
    availability(provider) {
      if (provider === 'Alcove') return { available: true, reason: null, host: null }
      const host =
        provider === 'Anthropic' || provider === 'OpenAI'
          ? hostOf(keyed[provider].baseUrl, DEFAULT_HOSTS[provider])
          : hostOf(compatible.baseUrl, 'no host')
      if (isConfigured(provider)) return { available: true, reason: null, host }
      return { available: false, reason: `No key is configured for ${provider}.`, host }
    },
    async listCompatibleModels(signal) {
      if (compatible.baseUrl === undefined) return []
      const headers = compatible.apiKey === undefined ? {} : { authorization: `Bearer ${compatible.apiKey}` }
      const response = await fetch(`${compatible.baseUrl}/models`, { headers, signal, redirect: 'error' })
      if (!response.ok)
        throw new AppError(
          'unavailable',
          `OPENAI_COMPATIBLE_BASE_URL answered ${response.status} when asked for its models.`,
        )
      const { data } = modelList.parse(await response.json())
      return data
        .filter(({ id }) => !NOT_FOR_CHAT.test(id))
        .map(({ id, context_length, max_model_len }) => ({
          identifier: COMPATIBLE_PREFIX + id,
          name: id,
          contextWindow: context_length ?? max_model_len ?? DEFAULT_CONTEXT_WINDOW,
        }))
    },
  }
}

/** The AI SDK tells an absent option from an undefined one, and spells the address its own way. */
function present({ apiKey, baseUrl }: { apiKey: string | undefined; baseUrl: string | undefined }) {
  return { ...(apiKey === undefined ? {} : { apiKey }), ...(baseUrl === undefined ? {} : { baseURL: baseUrl }) }
}
