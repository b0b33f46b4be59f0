/** Keys and endpoints that people connect for themselves: tested before they are stored, and stored encrypted. */
import { hkdfSync } from 'node:crypto'
import { type z } from 'zod'
import { type newPersonalProvider, type PersonalProvider } from '#contract/provider.ts'
import { decrypt, encrypt } from '#server/base/encrypt.ts'
import { AppError } from '#server/base/errors.ts'
import { type Log } from '#server/base/log.ts'
import { type Claims, type Database, type Scope } from '#server/database/scope.ts'
import {
  createProviders,
  DEFAULT_BASE_URLS,
  type PersonalEndpoint,
  personalIdentifier,
  type ProviderSettings,
  type ResolveProviders,
} from '#server/providers/provider-registry.ts'
import { type Embedder } from '#server/providers/embed.ts'
import { type Endpoint, type ListedModel, listModels } from '#server/providers/list-models.ts'
import { storeListedModels } from './models.ts'
import { choosePersonalEmbedder, createEndpointEmbedder, type EmbeddingsEndpoint } from './personal-embedders.ts'

type Person = Claims & { readonly sub: string }
type NewProvider = z.output<typeof newPersonalProvider>

export interface PersonalProviders {
  list(person: Person): Promise<PersonalProvider[]>
  /**
   * Tests the provider, then stores it. It replaces an earlier one of the same name.
   * @throws AppError as `listModels` does; `conflict` if there are too many.
   */
  connect(person: Person, given: NewProvider, signal: AbortSignal): Promise<PersonalProvider>
  /** Also removes its key and models. @throws AppError `not_found`. */
  disconnect(person: Person, id: string): Promise<void>
  /** Lists the models of the person's endpoints again. @throws AppError of the first that fails. */
  refresh(person: Person, signal: AbortSignal): Promise<void>
  readonly resolve: ResolveProviders
  /**
   * Tests a model with a short text, then makes it the person's only embeddings model. Null selects the operator's model.
   * @throws AppError `not_found`, `bad_request` if the provider has no embeddings, `unavailable` with its error.
   */
  chooseEmbeddings(person: Person, id: string, model: string | null, signal: AbortSignal): Promise<PersonalProvider>
  /** @param hasPersonal false skips the query, for callers that know that the person has connected no provider. */
  resolveEmbedder(owner: string, hasPersonal?: boolean): Promise<Embedder | null>
}

interface PersonalProvidersOptions {
  readonly database: Database
  /** 32 bytes, specific to the installation. */
  readonly encryptionKey: Buffer
  /** Configured by the environment, for people without personal keys. */
  readonly settings: ProviderSettings
  readonly guardedFetch: typeof fetch
  /** The operator's embedder; null if none is configured. */
  readonly embedder?: Embedder | null
  readonly log: Log
}

interface StoredProvider {
  id: string
  kind: PersonalProvider['kind']
  name: string
  base_url: string | null
  sealed_key: Buffer | null
  embeddings_model: string | null
}

const MAX_PROVIDERS = 20
const EMBED_TIMEOUT_MS = 10_000
const KEYED_NAMES = { anthropic: 'Anthropic', openai: 'OpenAI' } as const
const RESERVED_NAMES = new Set(['anthropic', 'openai', 'openai-compatible', 'alcove'])
const COLUMNS = `id, kind, name, base_url, last_four, embeddings_model, to_jsonb(created_at) #>> '{}' as created_at`

/** Shown to identify a key; at most half of it. */
const lastCharacters = (apiKey: string): string =>
  apiKey.slice(Math.max(apiKey.length - 4, Math.ceil(apiKey.length / 2)))

/** Binds the encrypted key to its owner, name and address. */
const encryptionContext = (owner: string, name: string, baseUrl: string | null) =>
  JSON.stringify([owner, name, baseUrl])

export function createPersonalProviders(options: PersonalProvidersOptions): PersonalProviders {
  const { database, settings, guardedFetch, embedder: sharedEmbedder = null, log } = options
  const key = Buffer.from(hkdfSync('sha256', options.encryptionKey, 'alcove', 'keys of people', 32))
  const sharedProviders = createProviders(settings)

  function toEndpoint(given: NewProvider): Endpoint {
    if (given.kind === 'compatible')
      return { protocol: 'openai', name: given.name, baseUrl: given.baseUrl, apiKey: given.apiKey, fetch: guardedFetch }
    const name = KEYED_NAMES[given.kind]
    const baseUrl = settings[given.kind].baseUrl ?? DEFAULT_BASE_URLS[name]
    return { protocol: given.kind, name, baseUrl, apiKey: given.apiKey }
  }

  async function readStored(owner: string): Promise<StoredProvider[]> {
    const { rows } = await database.serviceStatement<StoredProvider & Record<string, unknown>>(
      'select id, kind, name, base_url, sealed_key, embeddings_model from own_providers where owner = $1 order by created_at, id',
      [owner],
    )
    return rows
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
    const { id, kind, embeddings_model: model } = row
    if (kind === 'anthropic') return []
    const [endpoint] = toPersonalEndpoints(owner, row)
    const baseUrl = endpoint?.baseUrl ?? settings.openai.baseUrl ?? DEFAULT_BASE_URLS.OpenAI
    return [{ id, baseUrl, apiKey: decryptKey(owner, row), fetch: endpoint?.fetch, model }]
  }

  const storeModels = (owner: string, { id, name }: { id: string; name: string }, models: readonly ListedModel[]) =>
    database.asService((scope) =>
      storeListedModels(
        scope,
        models.map((model) => ({
          identifier: personalIdentifier(id, model.id),
          name: model.id,
          contextWindow: model.contextWindow,
          sees: model.sees,
        })),
        { provider: name, owner, ownProvider: id },
      ),
    )

  /** For a deselected model. Removing a provider deletes its vectors in the database. */
  const deleteVectors = (owner: string, id: string) =>
    database.asService(async (scope) => {
      for (const table of ['embedded_documents', 'passage_vectors'])
        await scope.query(`delete from ${table} where owner = $1 and starts_with(model, $2)`, [
          owner,
          personalIdentifier(id, ''),
        ])
    })

  async function insertProvider(scope: Scope, owner: string, given: NewProvider): Promise<PersonalProvider> {
    const name = given.kind === 'compatible' ? given.name : KEYED_NAMES[given.kind]
    const baseUrl = given.kind === 'compatible' ? given.baseUrl : null
    const { apiKey } = given
    const { rows: replaced } = await scope.query<Pick<StoredProvider, 'id' | 'base_url' | 'embeddings_model'>>(
      'delete from own_providers where name = $1 returning id, base_url, embeddings_model',
      [name],
    )
    // A new key for the same address keeps the id, so existing vectors remain valid.
    const renewed = replaced.find((row) => row.base_url === baseUrl)
    const { rows: count } = await scope.query<{ count: number }>('select count(*) from own_providers')
    if ((count[0]?.count ?? 0) >= MAX_PROVIDERS)
      throw new AppError('conflict', `${MAX_PROVIDERS} providers are connected already. Remove one first.`)
    const { rows } = await scope.query<PersonalProvider>(
      `insert into own_providers (kind, name, base_url, sealed_key, last_four, id, embeddings_model)
       values ($1, $2, $3, $4, $5, coalesce($6, gen_random_uuid()), $7) returning ${COLUMNS}`,
      [
        given.kind,
        name,
        baseUrl,
        apiKey === undefined ? null : encrypt(key, apiKey, encryptionContext(owner, name, baseUrl)),
        apiKey === undefined ? null : lastCharacters(apiKey),
        renewed?.id,
        renewed?.embeddings_model,
      ],
    )
    const [row] = rows
    if (!row) throw new AppError('unavailable', 'The provider could not be stored. Try again.')
    return row
  }

  return {
    list: (person) =>
      database.asUser(person, async (scope) => {
        const { rows } = await scope.query<PersonalProvider>(
          `select ${COLUMNS} from own_providers order by created_at, id`,
        )
        return rows
      }),

    async connect(person, given, signal) {
      if (given.kind === 'compatible' && RESERVED_NAMES.has(given.name.toLowerCase()))
        throw new AppError('bad_request', `"${given.name}" is the name of another group. Choose a name of your own.`)
      const models = await listModels(toEndpoint(given), signal)
      const row = await database.asUser(person, (scope) => insertProvider(scope, person.sub, given))
      if (row.kind === 'compatible') await storeModels(person.sub, row, models)
      return row
    },

    async disconnect(person, id) {
      const { rowCount } = await database.asUser(person, (scope) =>
        scope.query('delete from own_providers where id = $1', [id]),
      )
      if (rowCount === 0) throw new AppError('not_found', 'There is no such provider.')
    },

    async chooseEmbeddings(person, id, model, signal) {
      const row = (await readStored(person.sub)).find((candidate) => candidate.id === id)
      if (!row) throw new AppError('not_found', 'There is no such provider.')
      const [endpoint] = toEmbeddingsEndpoints(person.sub, row)
      if (!endpoint) throw new AppError('bad_request', `${row.name} has no models that give texts vectors.`)
      if (model !== null) {
        const ended = AbortSignal.any([signal, AbortSignal.timeout(EMBED_TIMEOUT_MS)])
        await createEndpointEmbedder(endpoint, model)
          .embed(['A text.'], { signal: ended, retries: 0 })
          .catch((error: unknown) => {
            signal.throwIfAborted()
            if (error instanceof AppError) throw error
            throw new AppError('unavailable', `${row.name} did not answer within ${EMBED_TIMEOUT_MS / 1000} seconds.`)
          })
      }
      const chosen = await database.asUser(person, async (scope) => {
        if (model !== null) await scope.query('update own_providers set embeddings_model = null where id <> $1', [id])
        const { rows } = await scope.query<PersonalProvider>(
          `update own_providers set embeddings_model = $2 where id = $1 returning ${COLUMNS}`,
          [id, model],
        )
        return rows[0]
      })
      if (!chosen) throw new AppError('not_found', 'There is no such provider.')
      if (model === null) await deleteVectors(person.sub, id)
      return chosen
    },

    async resolveEmbedder(owner, hasPersonal = true) {
      const rows = hasPersonal ? await readStored(owner) : []
      return choosePersonalEmbedder(
        rows.flatMap((row) => toEmbeddingsEndpoints(owner, row)),
        sharedEmbedder,
      )
    },

    async refresh(person, signal) {
      const endpoints = (await readStored(person.sub)).flatMap((row) => toPersonalEndpoints(person.sub, row))
      await Promise.all(
        endpoints.map(async (endpoint) =>
          storeModels(person.sub, endpoint, await listModels({ protocol: 'openai', ...endpoint }, signal)),
        ),
      )
    },

    async resolve(owner, hasPersonal = true) {
      const rows = hasPersonal ? await readStored(owner) : []
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
      })
    },
  }
}
