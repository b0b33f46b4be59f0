/** Keys and endpoints that people connect for themselves: tested before they are stored, and stored encrypted. */
import { hkdfSync } from 'node:crypto'
import type { z } from 'zod'
import type { newPersonalProvider, PersonalProvider } from '#contract/provider.ts'
import { decrypt, encrypt } from '#server/base/encrypt.ts'
import { AppError } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import type { Claims, Database } from '#server/database/scope.ts'
import {
  createProviders,
  DEFAULT_BASE_URLS,
  type PersonalEndpoint,
  type ProviderSettings,
  type ResolveProviders,
} from '#server/providers/provider-registry.ts'
import type { Embedder } from '#server/providers/embed.ts'
import { type Endpoint, listModels } from '#server/providers/list-models.ts'
import { readConsent } from './embeddings-consents.ts'
import {
  choosePersonalEmbedder,
  createEndpointEmbedder,
  type EmbeddingsEndpoint,
  personalKeyPrefix,
  type ServerEndpoint,
  serverKeyPrefix,
} from './personal-embedders.ts'
import {
  listProviders,
  readStoredProviders,
  replaceProvider,
  type SealedProvider,
  setEmbeddingsModel,
  type StoredProvider,
  storeModels,
} from './personal-provider-store.ts'

type Person = Claims & { readonly sub: string }
type NewProvider = z.output<typeof newPersonalProvider>

export interface PersonalProviders {
  list(person: Person): Promise<PersonalProvider[]>
  /** Tests, then stores or replaces by name. @throws AppError as `listModels` does; `conflict` if too many. */
  connect(person: Person, given: NewProvider, signal: AbortSignal): Promise<PersonalProvider>
  /** Also removes its key and models. @throws AppError `not_found`. */
  disconnect(person: Person, id: string): Promise<void>
  /** Lists the models of the person's endpoints again. @throws AppError of the first that fails. */
  refresh(person: Person, signal: AbortSignal): Promise<void>
  readonly resolve: ResolveProviders
  /** Tests the model first; null selects the operator's. @throws AppError `not_found`, `bad_request`, `unavailable`. */
  chooseEmbeddings(person: Person, id: string, model: string | null, signal: AbortSignal): Promise<PersonalProvider>
  /** Providers of the person that may have embeddings models. */
  listEmbeddingsEndpoints(owner: string): Promise<EmbeddingsEndpoint[]>
  resolveEmbedder(owner: string, hasPersonal?: boolean): Promise<Embedder | null>
}

interface PersonalProvidersOptions {
  readonly database: Database
  /** 32 bytes, specific to the installation. */
  readonly encryptionKey: Buffer
  /** Configured by the environment, for people without personal keys. */
  readonly settings: ProviderSettings
  readonly guardedFetch: typeof fetch
  /** The operator's, for everybody. */
  readonly embedder?: Embedder | null
  /** Whose embeddings models people may choose. */
  readonly serverEndpoints?: readonly ServerEndpoint[]
  readonly log: Log
}

const EMBED_TIMEOUT_MS = 10_000
const KEYED_NAMES = { anthropic: 'Anthropic', openai: 'OpenAI' } as const
const RESERVED_NAMES = new Set(['anthropic', 'openai', 'openai-compatible', 'alcove'])

/** Binds the encrypted key to its owner, name and address. */
const encryptionContext = (owner: string, name: string, baseUrl: string | null) =>
  JSON.stringify([owner, name, baseUrl])

/** Shown to identify a key; at most half of it. */
const lastCharacters = (apiKey: string): string =>
  apiKey.slice(Math.max(apiKey.length - 4, Math.ceil(apiKey.length / 2)))

function sealProvider(key: Buffer, owner: string, given: NewProvider): SealedProvider {
  const { kind, apiKey } = given
  const name = kind === 'compatible' ? given.name : KEYED_NAMES[kind]
  const baseUrl = kind === 'compatible' ? given.baseUrl : null
  const sealedKey = apiKey === undefined ? null : encrypt(key, apiKey, encryptionContext(owner, name, baseUrl))
  return { kind, name, baseUrl, sealedKey, lastFour: apiKey === undefined ? null : lastCharacters(apiKey) }
}

/** @throws AppError `unavailable` */
export async function testEmbeddings(name: string, embedder: Embedder, signal: AbortSignal): Promise<void> {
  const ended = AbortSignal.any([signal, AbortSignal.timeout(EMBED_TIMEOUT_MS)])
  await embedder.embed(['A text.'], { signal: ended, retries: 0 }).catch((error: unknown) => {
    signal.throwIfAborted()
    if (error instanceof AppError) throw error
    throw new AppError('unavailable', `${name} did not answer within ${EMBED_TIMEOUT_MS / 1000} seconds.`)
  })
}

export function createPersonalProviders(options: PersonalProvidersOptions): PersonalProviders {
  const { database, settings, guardedFetch, embedder: operatorEmbedder = null, serverEndpoints = [], log } = options
  const key = Buffer.from(hkdfSync('sha256', options.encryptionKey, 'alcove', 'keys of people', 32))
  const sharedProviders = createProviders(settings)

  function toEndpoint(given: NewProvider): Endpoint {
    if (given.kind === 'compatible')
      return { protocol: 'openai', name: given.name, baseUrl: given.baseUrl, apiKey: given.apiKey, fetch: guardedFetch }
    const name = KEYED_NAMES[given.kind]
    const baseUrl = settings[given.kind].baseUrl ?? DEFAULT_BASE_URLS[name]
    return { protocol: given.kind, name, baseUrl, apiKey: given.apiKey }
  }

  /** Returns undefined if decryption fails: the installation key was replaced, or the row was modified. */
  function decryptKey(owner: string, { id, name, base_url, sealed_key }: StoredProvider): string | undefined {
    if (sealed_key === null) return undefined
    try {
      return decrypt(key, sealed_key, encryptionContext(owner, name, base_url))
    } catch (error) {
      log.warn({ err: error, provider: id }, 'a personal key cannot be decrypted')
      return undefined
    }
  }

  function toPersonalEndpoints(owner: string, row: StoredProvider): PersonalEndpoint[] {
    if (row.base_url === null) return []
    return [{ id: row.id, name: row.name, baseUrl: row.base_url, apiKey: decryptKey(owner, row), fetch: guardedFetch }]
  }

  function toEmbeddingsEndpoints(owner: string, row: StoredProvider): EmbeddingsEndpoint[] {
    const { id, kind, name, embeddings_model: model } = row
    if (kind === 'anthropic') return []
    const [endpoint] = toPersonalEndpoints(owner, row)
    const baseUrl = endpoint?.baseUrl ?? settings.openai.baseUrl ?? DEFAULT_BASE_URLS.OpenAI
    const keyPrefix = personalKeyPrefix(id)
    return [{ id, name, baseUrl, apiKey: decryptKey(owner, row), fetch: endpoint?.fetch, model, keyPrefix }]
  }

  const listEmbeddingsEndpoints = async (owner: string) =>
    (await readStoredProviders(database, owner)).flatMap((row) => toEmbeddingsEndpoints(owner, row))

  /** Endpoints of the server, with the model that the person chose there. Without any there is nothing to read. */
  async function listServerEndpoints(owner: string): Promise<EmbeddingsEndpoint[]> {
    const consent = serverEndpoints.length === 0 ? undefined : await readConsent(database, owner)
    return serverEndpoints.map((endpoint) => ({
      ...endpoint,
      model: consent?.address === endpoint.baseUrl ? consent.model : null,
      keyPrefix: serverKeyPrefix(endpoint.baseUrl),
    }))
  }

  return {
    list: (person) => database.asUser(person, listProviders),

    async connect(person, given, signal) {
      if (given.kind === 'compatible' && RESERVED_NAMES.has(given.name.toLowerCase()))
        throw new AppError('bad_request', `"${given.name}" is the name of another group. Choose a name of your own.`)
      const models = await listModels(toEndpoint(given), signal)
      const row = await database.asUser(person, (scope) => replaceProvider(scope, sealProvider(key, person.sub, given)))
      if (row.kind === 'compatible') await storeModels(database, person.sub, row, models)
      return row
    },

    async disconnect(person, id) {
      const { rowCount } = await database.asUser(person, (scope) =>
        scope.query('delete from own_providers where id = $1', [id]),
      )
      if (rowCount === 0) throw new AppError('not_found', 'There is no such provider.')
    },

    async chooseEmbeddings(person, id, model, signal) {
      const row = (await readStoredProviders(database, person.sub)).find((candidate) => candidate.id === id)
      if (!row) throw new AppError('not_found', 'There is no such provider.')
      const [endpoint] = toEmbeddingsEndpoints(person.sub, row)
      if (!endpoint) throw new AppError('bad_request', `${row.name} has no models that give texts vectors.`)
      if (model !== null) await testEmbeddings(row.name, createEndpointEmbedder(endpoint, model), signal)
      const chosen = await database.asUser(person, (scope) => setEmbeddingsModel(scope, id, model))
      if (!chosen) throw new AppError('not_found', 'There is no such provider.')
      return chosen
    },

    listEmbeddingsEndpoints,

    async resolveEmbedder(owner, hasPersonal = true) {
      const [personal, server] = await Promise.all([
        hasPersonal ? listEmbeddingsEndpoints(owner) : [],
        listServerEndpoints(owner),
      ])
      return choosePersonalEmbedder({ personal, server }, operatorEmbedder)
    },

    async refresh(person, signal) {
      const endpoints = (await readStoredProviders(database, person.sub)).flatMap((row) =>
        toPersonalEndpoints(person.sub, row),
      )
      await Promise.all(
        endpoints.map(async (endpoint) =>
          storeModels(database, person.sub, endpoint, await listModels({ protocol: 'openai', ...endpoint }, signal)),
        ),
      )
    },

    async resolve(owner, hasPersonal = true) {
      const rows = hasPersonal ? await readStoredProviders(database, owner) : []
      if (rows.length === 0) return sharedProviders
      const keyOf = (kind: keyof typeof KEYED_NAMES): string | undefined => {
        const row = rows.find((candidate) => candidate.kind === kind)
        return (row && decryptKey(owner, row)) ?? settings[kind].apiKey
      }
      return createProviders({
        ...settings,
        anthropic: { ...settings.anthropic, apiKey: keyOf('anthropic') },
        openai: { ...settings.openai, apiKey: keyOf('openai') },
        personal: rows.flatMap((row) => toPersonalEndpoints(owner, row)),
        personalKeys: rows.flatMap((row) =>
          row.kind === 'compatible' || decryptKey(owner, row) === undefined ? [] : [KEYED_NAMES[row.kind]],
        ),
      })
    },
  }
}
