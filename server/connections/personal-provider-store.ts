import type { PersonalProvider } from '#contract/provider.ts'
import { AppError } from '#server/base/errors.ts'
import type { Database, Scope } from '#server/database/scope.ts'
import type { ListedModel } from '#server/providers/list-models.ts'
import { personalIdentifier } from '#server/providers/provider-registry.ts'
import type { EncryptedProvider, StoredProvider } from './encrypted-providers.ts'
import { type CatalogueModel, storeListedModels } from './models.ts'

export interface StoredPersonalProvider extends StoredProvider {
  readonly embeddings_model: string | null
}

const COLUMNS = `id, kind, name, base_url, last_four, embeddings_model, to_jsonb(created_at) #>> '{}' as created_at`

export async function readStoredProviders(database: Database, owner: string): Promise<StoredPersonalProvider[]> {
  const { rows } = await database.serviceStatement<StoredPersonalProvider & Record<string, unknown>>(
    'select id, kind, name, base_url, sealed_key, embeddings_model from own_providers where owner = $1 order by created_at, id',
    [owner],
  )
  return rows
}

export async function listProviders(scope: Scope): Promise<PersonalProvider[]> {
  const { rows } = await scope.query<PersonalProvider>(`select ${COLUMNS} from own_providers order by created_at, id`)
  return rows
}

export interface NewPersonalRow extends EncryptedProvider {
  readonly lastFour: string | null
}

/** Also replaces an earlier provider of the same name. A trigger rejects more than 20. */
export async function replaceProvider(scope: Scope, provider: NewPersonalRow): Promise<PersonalProvider> {
  const { kind, name, baseUrl, sealedKey, lastFour } = provider
  const { rows: replaced } = await scope.query<Pick<StoredPersonalProvider, 'id' | 'base_url' | 'embeddings_model'>>(
    'delete from own_providers where name = $1 returning id, base_url, embeddings_model',
    [name],
  )
  // A new key for the same address keeps the id, so existing vectors remain valid.
  const renewed = replaced.find((row) => row.base_url === baseUrl)
  const { rows } = await scope.query<PersonalProvider>(
    `insert into own_providers (kind, name, base_url, sealed_key, last_four, id, embeddings_model)
     values ($1, $2, $3, $4, $5, coalesce($6, gen_random_uuid()), $7) returning ${COLUMNS}`,
    [kind, name, baseUrl, sealedKey, lastFour, renewed?.id, renewed?.embeddings_model],
  )
  const [row] = rows
  if (!row) throw new AppError('unavailable', 'The provider could not be stored. Try again.')
  return row
}

/** Returns undefined if there is no such provider. A model deselects those of all other providers and of the server. */
export async function setEmbeddingsModel(
  scope: Scope,
  id: string,
  model: string | null,
): Promise<PersonalProvider | undefined> {
  if (model !== null) {
    await scope.query('update own_providers set embeddings_model = null where id <> $1', [id])
    await scope.query('delete from embeddings_consents')
  }
  const { rows } = await scope.query<PersonalProvider>(
    `update own_providers set embeddings_model = $2 where id = $1 returning ${COLUMNS}`,
    [id, model],
  )
  return rows[0]
}

export const toCatalogue = (endpointId: string, models: readonly ListedModel[]): CatalogueModel[] =>
  models.map(({ id, contextWindow, sees }) => ({
    identifier: personalIdentifier(endpointId, id),
    name: id,
    contextWindow,
    sees,
  }))

export const storeModels = (
  database: Database,
  owner: string,
  { id, name }: { id: string; name: string },
  models: readonly ListedModel[],
) =>
  database.asService((scope) =>
    storeListedModels(scope, toCatalogue(id, models), { provider: name, owner, ownProvider: id }),
  )
