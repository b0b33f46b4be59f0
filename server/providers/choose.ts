/** Which providers are configured, which of their models there are, and which one answers a conversation. */
import { type ChatModel } from './chat.ts'
import { createChatModel } from './chat-model.ts'
import { type LoadModel } from './converse.ts'
import { modelFetch } from './model-fetch.ts'
import { ProviderError } from './provider-error.ts'

export const COMPATIBLE_PREFIX = 'openai-compatible/'
const OWN_PREFIX = 'endpoint:'

/** What names a model of a person's own endpoint in all of Alcove. */
export const ownIdentifier = (endpointId: string, model: string): string => `${OWN_PREFIX}${endpointId}/${model}`

interface Account {
  readonly apiKey: string | undefined
  readonly baseUrl: string | undefined
  readonly fetch?: typeof fetch
}

/** An endpoint that a person has connected. */
export interface OwnEndpoint {
  readonly id: string
  readonly name: string
  readonly baseUrl: string
  readonly apiKey: string | undefined
  readonly fetch: typeof fetch
}

export interface ProviderSettings {
  readonly anthropic: Account
  readonly openai: Account
  readonly compatible: Account
  readonly own?: readonly OwnEndpoint[]
  readonly silenceMs: number
}

export interface Availability {
  readonly available: boolean
  /** What is missing, in a sentence; null where the model can be used. */
  readonly reason: string | null
  /** The host that receives the question and the passages; null: nothing leaves this machine. */
  readonly host: string | null
}

/** The providers that one person can use. */
export interface Providers {
  /** Names, as in `models.provider`, of what can be used, in the order of the picker. */
  readonly configured: readonly string[]
  /** @throws ProviderError `not_configured` or `unknown_model`. */
  chatModel(provider: string | undefined, identifier: string): ChatModel
  availability(provider: string, identifier: string): Availability
}

/**
 * The providers of a person: own keys before those of the environment.
 * @param hasOwn false where it is known that the person has connected none, which spares the look.
 */
export type ProvidersOf = (owner: string, hasOwn?: boolean) => Promise<Providers>

export const DEFAULT_BASE_URLS = {
  Anthropic: 'https://api.anthropic.com/v1',
  OpenAI: 'https://api.openai.com/v1',
} as const

export function createProviders({ anthropic, openai, compatible, own = [], silenceMs }: ProviderSettings): Providers {
  const loaded = new Map<string, ReturnType<LoadModel>>()
  const keyed = { Anthropic: anthropic, OpenAI: openai } as const
  const isKeyed = (provider: string): provider is keyof typeof keyed => provider in keyed
  const ownOf = (identifier: string) => own.find(({ id }) => identifier.startsWith(ownIdentifier(id, '')))
  const isConfigured = (provider: string) =>
    provider === 'OpenAI-compatible'
      ? compatible.baseUrl !== undefined
      : isKeyed(provider) && keyed[provider].apiKey !== undefined

  /** Kept: each model that the SDK makes compiles schemas of its own, which is more work than the rest of a short answer. */
  const once =
    (key: string, load: LoadModel): LoadModel =>
    () => {
      const model = loaded.get(key) ?? load()
      loaded.set(key, model)
      return model
    }

  function chatModel(provider: string | undefined, identifier: string): ChatModel {
    const endpoint = ownOf(identifier)
    if (endpoint === undefined && identifier.startsWith(OWN_PREFIX)) {
      const name = identifier.slice(identifier.indexOf('/') + 1)
      throw new ProviderError(
        'unknown_model',
        `"${name}" belongs to a model server that is no longer connected. Choose another model.`,
        { retryable: false },
      )
    }
    if (provider === undefined) {
      throw new ProviderError('unknown_model', `There is no model named "${identifier}". Choose another one.`, {
        retryable: false,
      })
    }
    if (endpoint === undefined && !isConfigured(provider)) {
      throw new ProviderError(
        'not_configured',
        `No key is configured for ${provider}. Add one, or choose another model.`,
        { retryable: false },
      )
    }
    const load = once(`${provider} ${identifier}`, () => loadModel(provider, identifier, endpoint))
    return createChatModel({ identifier, providerName: provider, silenceMs, load })
  }

  async function loadModel(provider: string, identifier: string, endpoint: OwnEndpoint | undefined) {
    if (provider === 'Anthropic')
      return (await import('@ai-sdk/anthropic')).createAnthropic(present(anthropic))(identifier)
    if (provider === 'OpenAI') return (await import('@ai-sdk/openai')).createOpenAI(present(openai))(identifier)
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
    const { apiKey, baseURL = '', fetch } = present(endpoint ?? compatible)
    const provided = createOpenAICompatible({
      name: 'openai-compatible',
      baseURL,
      includeUsage: true,
      ...(apiKey === undefined ? {} : { apiKey }),
      fetch,
    })
    const prefix = endpoint === undefined ? COMPATIBLE_PREFIX : ownIdentifier(endpoint.id, '')
    return provided(identifier.slice(prefix.length))
  }

  return {
    configured: [
      ...['Anthropic', 'OpenAI', 'OpenAI-compatible'].filter(isConfigured),
      ...own.map(({ name }) => name).toSorted(),
    ],
    chatModel,
    availability(provider, identifier) {
      if (provider === 'Alcove') return { available: true, reason: null, host: null }
      const endpoint = ownOf(identifier)
      const { baseUrl } = endpoint ?? (isKeyed(provider) ? keyed[provider] : compatible)
      const address = baseUrl ?? (isKeyed(provider) ? DEFAULT_BASE_URLS[provider] : undefined)
      const host = address === undefined ? 'no host' : new URL(address).host
      if (endpoint !== undefined || isConfigured(provider)) return { available: true, reason: null, host }
      return { available: false, reason: `No key is configured for ${provider}.`, host }
    },
  }
}

/** The AI SDK tells an absent option from an undefined one, and spells the address its own way. */
function present({ apiKey, baseUrl, fetch = modelFetch }: Account) {
  return {
    fetch,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
  }
}
