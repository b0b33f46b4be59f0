/** Updates the `models` table from the connected endpoints. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '#server/base/log.ts'
import type { Database, Scope } from '#server/database/scope.ts'
import { COMPATIBLE_PREFIX, createProviders, type ProviderSettings } from '#server/providers/provider-registry.ts'
import { listModels } from '#server/providers/list-models.ts'
import { isNotOffered, lockChoices, type ModelChoices, storeChoices } from './offered-models.ts'

export interface CatalogueModel {
  readonly identifier: string
  readonly name: string
  readonly contextWindow: number
  readonly sees: boolean
}

/** Without a person and a space: models that everyone can use. */
interface ModelOwner {
  readonly provider: string
  readonly owner?: string
  readonly ownProvider?: string
  readonly spaceId?: string
  readonly spaceProvider?: string
}

const SHARED_MODELS: ModelOwner = { provider: 'OpenAI-compatible' }

/** An endpoint of a person may list other names each time; the most recent hidden ones keep their names in the page. */
const MAX_HIDDEN_MODELS = 1_000

/** Stores the models of one endpoint and hides those that it no longer lists. Runs as the service. */
export async function storeListedModels(
  scope: Scope,
  models: readonly CatalogueModel[],
  { provider, owner, ownProvider, spaceId, spaceProvider }: ModelOwner = SHARED_MODELS,
): Promise<void> {
  await scope.query(
    `insert into models (name, version, model_identifier, provider, family, context_window, sees, owner, own_provider, space_id,
       space_provider)
     select name, '1', identifier, $2, 'compatible', "contextWindow", sees, $3, $4, $5, $6
     from jsonb_to_recordset($1) as listed(identifier text, name text, "contextWindow" integer, sees boolean)
     on conflict (model_identifier) do update
     set name = excluded.name, context_window = excluded.context_window, sees = excluded.sees, is_visible = true, updated_at = now()
     where models.own_provider is not distinct from excluded.own_provider
       and models.space_provider is not distinct from excluded.space_provider
       and (models.name, models.context_window, models.sees, models.is_visible)
         is distinct from (excluded.name, excluded.context_window, excluded.sees, true)`,
    [JSON.stringify(models), provider, owner, ownProvider, spaceId, spaceProvider],
  )
  await scope.query(
    `update models set is_visible = false, updated_at = now()
     where provider = $2 and own_provider is not distinct from $3 and space_provider is not distinct from $4 and is_visible
       and not (model_identifier = any($1))`,
    [models.map(({ identifier }) => identifier), provider, ownProvider, spaceProvider],
  )
  await scope.query(
    `delete from models where id in (
       select id from models where (own_provider = $1 or space_provider = $2) and not is_visible
       order by updated_at desc, id offset $3)`,
    [ownProvider, spaceProvider, MAX_HIDDEN_MODELS],
  )
}

interface RefreshOptions {
  readonly database: Database
  readonly settings: ProviderSettings
  /** As they are in the transaction of the scope. */
  readonly readChoices: (scope: Scope) => Promise<ModelChoices>
  readonly log: Log
}

/** Keeps the models of an endpoint that does not respond. @returns whether every endpoint responded. */
export async function refreshModels({ database, settings, readChoices, log }: RefreshOptions): Promise<boolean> {
  const { baseUrl, apiKey } = settings.compatible
  const endpoint = { protocol: 'openai', name: 'OPENAI_COMPATIBLE_BASE_URL', baseUrl: baseUrl ?? '', apiKey } as const
  const listing = baseUrl === undefined ? Promise.resolve([]) : listModels(endpoint, new AbortController().signal)
  const listed = await listing.catch((error: unknown) => {
    log.warn({ err: error }, 'the OpenAI-compatible endpoint did not list its models')
    return undefined
  })
  const { configured } = createProviders(settings)
  await database.asService(async (scope) => {
    await lockChoices(scope)
    if (listed !== undefined)
      await storeListedModels(
        scope,
        listed.map(({ id, ...listedModel }) => ({ identifier: COMPATIBLE_PREFIX + id, name: id, ...listedModel })),
      )
    const choices = await readChoices(scope)
    await storeChoices(scope, configured, choices)
    const { defaultModel } = choices
    if (listed !== undefined && defaultModel !== undefined && (await isNotOffered(scope, configured, defaultModel)))
      log.warn(
        { model: defaultModel },
        'the model of new conversations (DEFAULT_MODEL) is not offered: another one is used',
      )
  })
  if (baseUrl !== undefined && listed !== undefined)
    log.info({ models: listed.length }, 'the endpoint listed its models')
  return listed !== undefined
}

/** Applies choices that were changed while no server ran, to the models that are known. */
export async function applyModelChoices({
  database,
  settings,
  readChoices,
}: Pick<RefreshOptions, 'database' | 'settings' | 'readChoices'>): Promise<void> {
  await database.asService(async (scope) => {
    await lockChoices(scope)
    await storeChoices(scope, createProviders(settings).configured, await readChoices(scope))
  })
}

/** A model server that starts at the same time may need about two minutes to load. */
const RETRY_DELAYS_MS = [2, 5, 10, 20, 30, 60].map((seconds) => 1000 * seconds)

export async function refreshModelsAtStart(
  options: RefreshOptions & { readonly retryDelaysMs?: readonly number[]; readonly signal: AbortSignal },
): Promise<void> {
  const { retryDelaysMs = RETRY_DELAYS_MS, signal, log } = options
  try {
    for (const waitMs of retryDelaysMs) {
      if (await refreshModels(options)) return
      await delay(waitMs, undefined, { signal })
    }
    await refreshModels(options)
  } catch (error) {
    if (!signal.aborted) log.warn({ err: error }, 'the list of models could not be refreshed')
  }
}
