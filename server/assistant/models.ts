/** Keeps the `models` table in step with what is configured: the endpoint's own models, and which one is the default. */
import { READER_MODEL } from '#contract/limits.ts'
import { type Log } from '#server/base/log.ts'
import { type Database, type Scope } from '#server/database/scope.ts'
import { COMPATIBLE_PREFIX, type ListedModel, type Providers } from '#server/providers/choose.ts'

const LIST_TIMEOUT_MS = 10_000

async function storeListedModels(scope: Scope, models: readonly ListedModel[]): Promise<void> {
  await scope.query(
    `insert into models (name, version, model_identifier, provider, family, context_window)
     select name, '1', identifier, 'OpenAI-compatible', 'compatible', "contextWindow"
     from jsonb_to_recordset($1) as listed(identifier text, name text, "contextWindow" integer)
     on conflict (model_identifier) do update
     set name = excluded.name, context_window = excluded.context_window, is_visible = true, updated_at = now()
     where (models.name, models.context_window, models.is_visible) is distinct from (excluded.name, excluded.context_window, true)`,
    [JSON.stringify(models)],
  )
  await scope.query(
    `update models set is_visible = false, updated_at = now()
     where provider = 'OpenAI-compatible' and is_visible and not (model_identifier = any($1))`,
    [models.map(({ identifier }) => identifier)],
  )
}

/** The default is the named model, else the first of the first configured provider, else the Reader. */
async function storeDefault(scope: Scope, configured: readonly string[], named: string | undefined): Promise<void> {
  await scope.query(
    `with preferred as (
       select id from models
       where is_visible and (model_identifier = any($2) or provider = any($1) or model_identifier = $3)
       order by coalesce(model_identifier = any($2), false) desc, coalesce(array_position($1, provider), 99), created_at, name
       limit 1
     )
     update models set is_default = (id = (select id from preferred)), updated_at = now()
     where is_default is distinct from (id = (select id from preferred))`,
    [configured, named === undefined ? [] : [named, COMPATIBLE_PREFIX + named], READER_MODEL],
  )
}

/**
 * Brings the table up to date. What an endpoint that does not answer listed earlier stays, greyed by its failures alone.
 */
export async function refreshModels(
  database: Database,
  providers: Providers,
  defaultModel: string | undefined,
  log: Log,
): Promise<void> {
  const listed = await providers.listCompatibleModels(AbortSignal.timeout(LIST_TIMEOUT_MS)).catch((error: unknown) => {
    log.warn({ err: error }, 'the OpenAI-compatible endpoint did not list its models')
    return undefined
  })
  await database.asService(async (scope) => {
    if (listed !== undefined) await storeListedModels(scope, listed)
    await storeDefault(scope, providers.configured, defaultModel)
  })
}
