/** Keys and endpoints that people connect for themselves: tried before they are kept, sealed where they are kept. */
import { hkdfSync } from 'node:crypto'
import { type z } from 'zod'
import { type newOwnProvider, type OwnProvider } from '#contract/provider.ts'
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
import { choosePersonalEmbedder, embedderAt, type EmbeddingsEndpoint } from './own-embedders.ts'

type Person = Claims & { readonly sub: string }
type Given = z.output<typeof newOwnProvider>

export interface OwnProviders {
  list(person: Person): Promise<OwnProvider[]>
  /**
   * Tries it, then keeps it, in place of an earlier one of the same name.
   * @throws AppError that says what is wrong: see `listModels`; `conflict` where there are too many.
   */
  connect(person: Person, given: Given, signal: AbortSignal): Promise<OwnProvider>
  /** Removes it with its key and its models. @throws AppError `not_found`. */
  disconnect(person: Person, id: string): Promise<void>
  /** Asks the person's endpoints for their models again. @throws AppError of the first that does not answer. */
  refresh(person: Person, signal: AbortSignal): Promise<void>
  /** Everything that a person can use. */
  readonly of: ResolveProviders
  /**
   * Tries a model with a text of ours, then has it give the person's passages vectors, in place of any other; null has the
   * operator's do that, if there is one.
   * @throws AppError `not_found`, `bad_request` where the provider has no vectors, `unavailable` with what it said.
   */
  chooseEmbeddings(person: Person, id: string, model: string | null, signal: AbortSignal): Promise<OwnProvider>
  /**
   * Who gives that person's passages vectors; null: nobody.
   * @param hasOwn false where it is known that the person has connected no provider, which spares the look.
   */
  embedderOf(owner: string, hasOwn?: boolean): Promise<Embedder | null>
}

interface OwnProvidersOptions {
  readonly database: Database
  /** The installation's own, 32 bytes. */
  readonly encryptionKey: Buffer
  /** What the environment configures, for people without keys of their own. */
  readonly settings: ProviderSettings
  /** The way to addresses that people enter. */
  readonly guardedFetch: typeof fetch
  /** The operator's; null where none is configured. */
  readonly embedder?: Embedder | null
  readonly log: Log
}

interface StoredProvider {
  id: string
  kind: OwnProvider['kind']
  name: string
  base_url: string | null
  sealed_key: Buffer | null
  embeddings_model: string | null
}

const MOST_PROVIDERS = 20
const EMBED_TIMEOUT_MS = 10_000
const KEYED_NAMES = { anthropic: 'Anthropic', openai: 'OpenAI' } as const
const RESERVED = new Set(['anthropic', 'openai', 'openai-compatible', 'alcove'])
const COLUMNS = `id, kind, name, base_url, last_four, embeddings_model, to_jsonb(created_at) #>> '{}' as created_at`

/** How a key ends, by which its owner knows it: never more than half of it. */
const endOf = (apiKey: string): string => apiKey.slice(Math.max(apiKey.length - 4, Math.ceil(apiKey.length / 2)))

/** A key that is moved to another person, name or address does not open there. */
const contextOf = (owner: string, name: string, baseUrl: string | null) => JSON.stringify([owner, name, baseUrl])

export function createOwnProviders(options: OwnProvidersOptions): OwnProviders {
  const { database, settings, guardedFetch, embedder: everyonesEmbedder = null, log } = options
  const key = Buffer.from(hkdfSync('sha256', options.encryptionKey, 'alcove', 'keys of people', 32))
  const everyones = createProviders(settings)

  function endpointOf(given: Given): Endpoint {
    if (given.kind === 'compatible')
      return { protocol: 'openai', name: given.name, baseUrl: given.baseUrl, apiKey: given.apiKey, fetch: guardedFetch }
    const name = KEYED_NAMES[given.kind]
    const baseUrl = settings[given.kind].baseUrl ?? DEFAULT_BASE_URLS[name]
    return { protocol: given.kind, name, baseUrl, apiKey: given.apiKey }
  }

  async function stored(owner: string): Promise<StoredProvider[]> {
    const { rows } = await database.serviceStatement<StoredProvider & Record<string, unknown>>(
      'select id, kind, name, base_url, sealed_key, embeddings_model from own_providers where owner = $1 order by created_at, id',
      [owner],
    )
    return rows
  }

  /** Undefined where it does not open: the secrets of the installation were replaced, or somebody else wrote the row. */
  function openKey(owner: string, { id, name, base_url, sealed_key }: StoredProvider): string | undefined {
    if (sealed_key === null) return undefined
    try {
      return decrypt(key, sealed_key, contextOf(owner, name, base_url))
    } catch (error) {
      log.warn({ err: error, provider: id }, 'a key that a person entered cannot be opened')
      return undefined
    }
  }

  function ownEndpoint(owner: string, row: StoredProvider): PersonalEndpoint[] {
    if (row.base_url === null) return []
    return [{ id: row.id, name: row.name, baseUrl: row.base_url, apiKey: openKey(owner, row), fetch: guardedFetch }]
  }

  function embeddingsEndpoint(owner: string, row: StoredProvider): EmbeddingsEndpoint[] {
    const { id, kind, embeddings_model: model } = row
    if (kind === 'anthropic') return []
    const [own] = ownEndpoint(owner, row)
    const baseUrl = own?.baseUrl ?? settings.openai.baseUrl ?? DEFAULT_BASE_URLS.OpenAI
    return [{ id, baseUrl, apiKey: openKey(owner, row), fetch: own?.fetch, model }]
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

  /** Nobody will ask a question of them any more. A provider that is removed takes its own along. */
  const forgetVectors = (owner: string, id: string) =>
    database.asService(async (scope) => {
      for (const table of ['embedded_documents', 'passage_vectors'])
        await scope.query(`delete from ${table} where owner = $1 and starts_with(model, $2)`, [
          owner,
          personalIdentifier(id, ''),
        ])
    })

  async function keep(scope: Scope, owner: string, given: Given): Promise<OwnProvider> {
    const name = given.kind === 'compatible' ? given.name : KEYED_NAMES[given.kind]
    const baseUrl = given.kind === 'compatible' ? given.baseUrl : null
    const { apiKey } = given
    const { rows: replaced } = await scope.query<Pick<StoredProvider, 'id' | 'base_url' | 'embeddings_model'>>(
      'delete from own_providers where name = $1 returning id, base_url, embeddings_model',
      [name],
    )
    // With another key it is the same provider, and vectors that it made stay good.
    const renewed = replaced.find((row) => row.base_url === baseUrl)
    const { rows: count } = await scope.query<{ count: number }>('select count(*) from own_providers')
    if ((count[0]?.count ?? 0) >= MOST_PROVIDERS)
      throw new AppError('conflict', `${MOST_PROVIDERS} providers are connected already. Remove one first.`)
    const { rows } = await scope.query<OwnProvider>(
      `insert into own_providers (kind, name, base_url, sealed_key, last_four, id, embeddings_model)
       values ($1, $2, $3, $4, $5, coalesce($6, gen_random_uuid()), $7) returning ${COLUMNS}`,
      [
        given.kind,
        name,
        baseUrl,
        apiKey === undefined ? null : encrypt(key, apiKey, contextOf(owner, name, baseUrl)),
        apiKey === undefined ? null : endOf(apiKey),
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
        const { rows } = await scope.query<OwnProvider>(`select ${COLUMNS} from own_providers order by created_at, id`)
        return rows
      }),

    async connect(person, given, signal) {
      if (given.kind === 'compatible' && RESERVED.has(given.name.toLowerCase()))
        throw new AppError('bad_request', `"${given.name}" is the name of another group. Choose a name of your own.`)
      const models = await listModels(endpointOf(given), signal)
      const row = await database.asUser(person, (scope) => keep(scope, person.sub, given))
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
      const row = (await stored(person.sub)).find((known) => known.id === id)
      if (!row) throw new AppError('not_found', 'There is no such provider.')
      const [endpoint] = embeddingsEndpoint(person.sub, row)
      if (!endpoint) throw new AppError('bad_request', `${row.name} has no models that give texts vectors.`)
      if (model !== null) {
        const ended = AbortSignal.any([signal, AbortSignal.timeout(EMBED_TIMEOUT_MS)])
        await embedderAt(endpoint, model)
          .embed(['A text.'], { signal: ended, retries: 0 })
          .catch((error: unknown) => {
            signal.throwIfAborted()
            if (error instanceof AppError) throw error
            throw new AppError('unavailable', `${row.name} did not answer within ${EMBED_TIMEOUT_MS / 1000} seconds.`)
          })
      }
      const chosen = await database.asUser(person, async (scope) => {
        if (model !== null) await scope.query('update own_providers set embeddings_model = null where id <> $1', [id])
        const { rows } = await scope.query<OwnProvider>(
          `update own_providers set embeddings_model = $2 where id = $1 returning ${COLUMNS}`,
          [id, model],
        )
        return rows[0]
      })
      if (!chosen) throw new AppError('not_found', 'There is no such provider.')
      if (model === null) await forgetVectors(person.sub, id)
      return chosen
    },

    async embedderOf(owner, hasOwn = true) {
      const rows = hasOwn ? await stored(owner) : []
      return choosePersonalEmbedder(
        rows.flatMap((row) => embeddingsEndpoint(owner, row)),
        everyonesEmbedder,
      )
    },

    async refresh(person, signal) {
      const endpoints = (await stored(person.sub)).flatMap((row) => ownEndpoint(person.sub, row))
      await Promise.all(
        endpoints.map(async (endpoint) =>
          storeModels(person.sub, endpoint, await listModels({ protocol: 'openai', ...endpoint }, signal)),
        ),
      )
    },

    async of(owner, hasOwn = true) {
      const rows = hasOwn ? await stored(owner) : []
      if (rows.length === 0) return everyones
      const keyOf = (kind: keyof typeof KEYED_NAMES): string | undefined => {
        const row = rows.find((candidate) => candidate.kind === kind)
        return (row && openKey(owner, row)) ?? settings[kind].apiKey
      }
      return createProviders({
        ...settings,
        anthropic: { ...settings.anthropic, apiKey: keyOf('anthropic') },
        openai: { ...settings.openai, apiKey: keyOf('openai') },
        personal: rows.flatMap((row) => ownEndpoint(owner, row)),
      })
    },
  }
}
