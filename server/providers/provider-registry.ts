import type { ChatModel } from './chat.ts'
import { createChatModel } from './chat-model.ts'
import { DEFAULT_BASE_URLS } from './default-base-urls.ts'
import type { LoadModel } from './stream-chat.ts'
import { modelFetch } from './model-fetch.ts'
import { ProviderError } from './provider-error.ts'

export const COMPATIBLE_PREFIX = 'openai-compatible/'
const PERSONAL_PREFIX = 'endpoint:'

/** Identifier of a model of a personal endpoint, as stored in `models.model_identifier`. */
export const personalIdentifier = (endpointId: string, model: string): string =>
  `${PERSONAL_PREFIX}${endpointId}/${model}`

interface Account {
  readonly apiKey: string | undefined
  readonly baseUrl: string | undefined
  readonly fetch?: typeof fetch
}

export interface PersonalEndpoint {
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
  readonly personal?: readonly PersonalEndpoint[]
  /** Vendors whose key is the person's own. */
  readonly personalKeys?: readonly string[]
  readonly idleTimeoutMs: number
}

export interface Availability {
  readonly available: boolean
  /** One sentence for the person; null if the model is available. */
  readonly reason: string | null
  /** The host that receives the question and the passages; null if nothing leaves this machine. */
  readonly host: string | null
}

/** The providers that one person can use. */
export interface Providers {
  /** Values of `models.provider` in the order of the picker. */
  readonly configured: readonly string[]
  /** @throws ProviderError `not_configured` or `unknown_model`. */
  chatModel(provider: string | undefined, identifier: string): ChatModel
  availability(provider: string, identifier: string): Availability
  /** Whether the person's own account or server answers, which costs the installation nothing. */
  isPersonal(provider: string | undefined, identifier: string): boolean
}

export interface ProviderChoice {
  /** False skips the query for a person without any. */
  readonly hasPersonal?: boolean
  /** The space that a question is asked in, if it has keys. */
  readonly spaceId?: string | null
}

/** Keys of the space override personal ones, which override those of the environment. */
export type ResolveProviders = (owner: string, choice?: ProviderChoice) => Promise<Providers>

export function createProviders({
  anthropic,
  openai,
  compatible,
  personal = [],
  personalKeys = [],
  idleTimeoutMs,
}: ProviderSettings): Providers {
  const loaded = new Map<string, ReturnType<LoadModel>>()
  const keyed = { Anthropic: anthropic, OpenAI: openai } as const
  const isKeyed = (provider: string): provider is keyof typeof keyed => provider in keyed
  const findPersonal = (identifier: string) =>
    personal.find(({ id }) => identifier.startsWith(personalIdentifier(id, '')))
  const isConfigured = (provider: string) =>
    provider === 'OpenAI-compatible'
      ? compatible.baseUrl !== undefined
      : isKeyed(provider) && keyed[provider].apiKey !== undefined

  /** Cached because each SDK model compiles its own schemas, which costs more than the rest of a short answer. */
  const cached =
    (key: string, load: LoadModel): LoadModel =>
    () => {
      const model = loaded.get(key) ?? load()
      loaded.set(key, model)
      return model
    }

  function chatModel(provider: string | undefined, identifier: string): ChatModel {
    const endpoint = findPersonal(identifier)
    if (endpoint === undefined && identifier.startsWith(PERSONAL_PREFIX)) {
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
    const load = cached(`${provider} ${identifier}`, () => loadModel(provider, identifier, endpoint))
    return createChatModel({ identifier, providerName: provider, idleTimeoutMs, load })
  }

  async function loadModel(provider: string, identifier: string, endpoint: PersonalEndpoint | undefined) {
    if (provider === 'Anthropic')
      return (await import('@ai-sdk/anthropic')).createAnthropic(toSdkOptions(anthropic))(identifier)
    if (provider === 'OpenAI') return (await import('@ai-sdk/openai')).createOpenAI(toSdkOptions(openai))(identifier)
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
    const { apiKey, baseURL = '', fetch } = toSdkOptions(endpoint ?? compatible)
    const provided = createOpenAICompatible({
      name: 'openai-compatible',
      baseURL,
      includeUsage: true,
      ...(apiKey === undefined ? {} : { apiKey }),
      fetch,
    })
    const prefix = endpoint === undefined ? COMPATIBLE_PREFIX : personalIdentifier(endpoint.id, '')
    return provided(identifier.slice(prefix.length))
  }

  return {
    configured: [
      ...['Anthropic', 'OpenAI', 'OpenAI-compatible'].filter(isConfigured),
      ...personal.map(({ name }) => name).toSorted(),
    ],
    chatModel,
    isPersonal: (provider, identifier) =>
      findPersonal(identifier) !== undefined || (provider !== undefined && personalKeys.includes(provider)),
    availability(provider, identifier) {
      if (provider === 'Alcove') return { available: true, reason: null, host: null }
      const endpoint = findPersonal(identifier)
      const { baseUrl } = endpoint ?? (isKeyed(provider) ? keyed[provider] : compatible)
      const address = baseUrl ?? (isKeyed(provider) ? DEFAULT_BASE_URLS[provider] : undefined)
      const host = address === undefined ? 'no host' : new URL(address).host
      if (endpoint !== undefined || isConfigured(provider)) return { available: true, reason: null, host }
      return { available: false, reason: `No key is configured for ${provider}.`, host }
    },
  }
}

/** The AI SDK distinguishes absent options from undefined ones. */
function toSdkOptions({ apiKey, baseUrl, fetch = modelFetch }: Account) {
  return {
    fetch,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
  }
}
