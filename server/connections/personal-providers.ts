/** Keys and endpoints that people connect for themselves: tested before they are stored, and stored encrypted. */
import type { PersonalProvider } from '#contract/provider.ts'
import { AppError } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import type { Claims, Database } from '#server/database/scope.ts'
import { DEFAULT_BASE_URLS } from '#server/providers/default-base-urls.ts'
import { createProviders, type ProviderSettings, type ResolveProviders } from '#server/providers/provider-registry.ts'
import type { Embedder } from '#server/providers/embed.ts'
import { listModels } from '#server/providers/list-models.ts'
import { readConsent } from './embeddings-consents.ts'
import { createProviderEncryption, KEYED_NAMES, type NewProvider, requireFreeName } from './encrypted-providers.ts'
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
  setEmbeddingsModel,
  storeModels,
  type StoredPersonalProvider,
} from './personal-provider-store.ts'
import type { SpaceKeys } from './space-providers.ts'

type Person = Claims & { readonly sub: string }

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
  /** Keys that come before those of the person in questions asked in a space. */
  readonly keysOfSpace?: (asker: string, spaceId: string) => Promise<SpaceKeys | undefined>
  readonly log: Log
}

const EMBED_TIMEOUT_MS = 10_000
/** Shown to identify a key; at most half of it. */
const lastCharacters = (apiKey: string): string =>
  apiKey.slice(Math.max(apiKey.length - 4, Math.ceil(apiKey.length / 2)))

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
  const { database, settings, embedder: operatorEmbedder = null, serverEndpoints = [], keysOfSpace } = options
  const encryption = createProviderEncryption('keys of people', options)
  const sharedProviders = createProviders(settings)

  function toEmbeddingsEndpoints(owner: string, row: StoredPersonalProvider): EmbeddingsEndpoint[] {
    const { id, kind, name, embeddings_model: model } = row
    if (kind === 'anthropic') return []
    const [endpoint] = encryption.toPersonalEndpoints(owner, row)
    const baseUrl = endpoint?.baseUrl ?? settings.openai.baseUrl ?? DEFAULT_BASE_URLS.OpenAI
    const keyPrefix = personalKeyPrefix(id)
    return [{ id, name, baseUrl, apiKey: encryption.decryptKey(owner, row), fetch: endpoint?.fetch, model, keyPrefix }]
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
      requireFreeName(given)
      const models = await listModels(encryption.toEndpoint(given), signal)
      const { apiKey } = given
      const provider = {
        ...encryption.encrypt(person.sub, given),
        lastFour: apiKey === undefined ? null : lastCharacters(apiKey),
      }
      const row = await database.asUser(person, (scope) => replaceProvider(scope, provider))
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
        encryption.toPersonalEndpoints(person.sub, row),
      )
      await Promise.all(
        endpoints.map(async (endpoint) =>
          storeModels(database, person.sub, endpoint, await listModels({ protocol: 'openai', ...endpoint }, signal)),
        ),
      )
    },

    async resolve(owner, { hasPersonal = true, spaceId = null } = {}) {
      const [rows, ofSpace] = await Promise.all([
        hasPersonal ? readStoredProviders(database, owner) : [],
        spaceId === null ? undefined : keysOfSpace?.(owner, spaceId),
      ])
      if (rows.length === 0 && !ofSpace) return sharedProviders
      /** The key of the space or the person, whom the operator does not pay for. */
      const ownKeyOf = (kind: keyof typeof KEYED_NAMES): string | undefined => {
        const row = rows.find((candidate) => candidate.kind === kind)
        return ofSpace?.keys[kind] ?? (row && encryption.decryptKey(owner, row))
      }
      return createProviders({
        ...settings,
        anthropic: { ...settings.anthropic, apiKey: ownKeyOf('anthropic') ?? settings.anthropic.apiKey },
        openai: { ...settings.openai, apiKey: ownKeyOf('openai') ?? settings.openai.apiKey },
        personal: [...rows.flatMap((row) => encryption.toPersonalEndpoints(owner, row)), ...(ofSpace?.endpoints ?? [])],
        personalKeys: (['anthropic', 'openai'] as const)
          .filter((kind) => ownKeyOf(kind) !== undefined)
          .map((kind) => KEYED_NAMES[kind]),
      })
    },
  }
}
