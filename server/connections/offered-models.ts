/** Which models of the installation are offered to everybody, and which is the default of new conversations. */
import type { OperatedModel } from '#contract/operation.ts'
import { READER_MODEL } from '#contract/product-names.ts'
import { AppError } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import type { Database, Scope } from '#server/database/scope.ts'
import { COMPATIBLE_PREFIX } from '#server/providers/provider-registry.ts'

const READER_PROVIDER = 'Alcove'

export interface ModelChoices {
  /** Identifiers that the environment names; undefined: the operator chooses in the page. */
  readonly offered: readonly string[] | undefined
  readonly offersNew: boolean
  readonly defaultModel: string | undefined
}

/** Waits for other servers that store choices, so that none stores those from before. Until the end of the transaction. */
export async function lockChoices(scope: Scope): Promise<void> {
  await scope.query(`select pg_advisory_xact_lock(hashtextextended('offered models', 0))`)
}

/** The environment may leave out the prefix of compatible models. */
const spelled = (named: readonly string[]): string[] => named.flatMap((name) => [name, COMPATIBLE_PREFIX + name])

const OF_INSTALLATION = 'owner is null and space_id is null'
/** $1: the configured providers. */
const USABLE = `is_visible and ${OF_INSTALLATION} and coalesce(is_offered, true) and (provider = any ($1) or model_identifier = '${READER_MODEL}')`

/**
 * A page receives changes of rows that it may read, and thus nothing about a model that is withdrawn from it. The default is
 * always readable: its change makes pages read the list again.
 */
const notifyPages = (scope: Scope) =>
  scope.query(`update models set updated_at = now() where is_default and ${OF_INSTALLATION}`)

/**
 * The default is the named model, else the first of the first configured provider, else Alcove Reader. As the default it answers
 * even where it is withdrawn, until another model can.
 */
async function storeDefault(scope: Scope, configured: readonly string[], named: readonly string[]): Promise<void> {
  await scope.query(
    `with preferred as (
       select id from models
       where is_visible and ${OF_INSTALLATION}
         and (coalesce(is_offered, true) and (model_identifier = any($2) or provider = any($1)) or model_identifier = $3)
       order by coalesce(is_offered, true) desc, coalesce(model_identifier = any($2), false) desc, coalesce(array_position($1, provider), 99), created_at, name
       limit 1
     )
     update models set is_default = (id = (select id from preferred)), updated_at = now()
     where is_default is distinct from (id = (select id from preferred))`,
    [configured, named, READER_MODEL],
  )
}

/**
 * Decides about models that are new, and chooses the default. Runs as the service, after `lockChoices`, which comes before any
 * change of the installation's models: the other order would deadlock.
 */
export async function storeChoices(
  scope: Scope,
  configured: readonly string[],
  { offered, offersNew, defaultModel }: ModelChoices,
): Promise<void> {
  const own = [...configured, READER_PROVIDER]
  const named = defaultModel === undefined ? [] : spelled([defaultModel])
  const decided =
    offered === undefined
      ? await scope.query(
          `update models set is_offered = $2 or provider = $3 or model_identifier = any ($4), updated_at = now()
           where is_offered is null and ${OF_INSTALLATION} and provider = any ($1)`,
          [own, offersNew, READER_PROVIDER, named],
        )
      : await scope.query(
          `update models set is_offered = model_identifier = any ($2), updated_at = now()
           where is_offered is distinct from (model_identifier = any ($2)) and ${OF_INSTALLATION} and provider = any ($1)`,
          [own, [...spelled(offered), ...named]],
        )
  await storeDefault(scope, configured, named)
  if ((decided.rowCount ?? 0) > 0) await notifyPages(scope)
}

/** A name of the environment may be misspelled, or its model withdrawn. @returns whether no offered model has this name */
export async function isNotOffered(scope: Scope, configured: readonly string[], named: string): Promise<boolean> {
  const { rows } = await scope.query(`select from models where ${USABLE} and model_identifier = any ($2) limit 1`, [
    configured,
    spelled([named]),
  ])
  return rows.length === 0
}

/** @throws AppError `conflict` */
export async function requireOffered(scope: Scope, configured: readonly string[], identifier: string): Promise<void> {
  const { rows } = await scope.query(`select from models where ${USABLE} and model_identifier = $2`, [
    configured,
    identifier,
  ])
  if (rows.length === 0) throw new AppError('conflict', 'This model is not offered.')
}

interface ModelOffersOptions {
  readonly database: Database
  /** Providers of the environment. */
  readonly configured: readonly string[]
  /** As they are in the transaction of the scope. */
  readonly readChoices: (scope: Scope) => Promise<ModelChoices>
  readonly areFixed: boolean
  readonly log: Log
}

export function createModelOffers({ database, configured, readChoices, areFixed, log }: ModelOffersOptions) {
  const own = [...configured, READER_PROVIDER]
  return {
    areFixed,

    /** Models of this installation's accounts and servers, and Alcove Reader. */
    async list(): Promise<OperatedModel[]> {
      const { rows } = await database.serviceStatement<OperatedModel & Record<string, unknown>>(
        // An earlier model of a vendor has left the picker, and still answers the conversations that use it.
        `select id, name, model_identifier, provider, coalesce(is_offered, true) as is_offered, is_default,
           is_visible as is_listed
         from models where ${OF_INSTALLATION} and provider = any ($1) and (is_visible or provider <> 'OpenAI-compatible')
         order by array_position($1, provider), is_visible desc, name, model_identifier`,
        [own],
      )
      return rows
    },

    /**
     * Offers the models, or withdraws them from everybody whose own key does not reach them.
     * @throws AppError `not_found`; `conflict` where the environment decides, for the chosen default and for the last one
     */
    async offer(ids: readonly string[], isOffered: boolean, operator: string): Promise<void> {
      if (areFixed) throw new AppError('conflict', 'OFFERED_MODELS is set in the environment of the server.')
      const changed = await database.asService(async (scope) => {
        await lockChoices(scope)
        const choices = await readChoices(scope)
        const { rows } = await scope.query<{ model_identifier: string }>(
          `select model_identifier from models where id = any ($1) and ${OF_INSTALLATION} and provider = any ($2)`,
          [ids, own],
        )
        if (rows.length !== new Set(ids).size) throw new AppError('not_found', 'There is no such model.')
        const named = choices.defaultModel === undefined ? [] : spelled([choices.defaultModel])
        const identifiers = rows.map(({ model_identifier: identifier }) => identifier)
        if (!isOffered && identifiers.some((identifier) => named.includes(identifier)))
          throw new AppError('conflict', 'It is chosen for new conversations. Choose another model for them first.')
        await scope.query(
          `update models set is_offered = $2, updated_at = now()
           where id = any ($1) and is_offered is distinct from $2`,
          [ids, isOffered],
        )
        const { rows: usable } = await scope.query(`select from models where ${USABLE} limit 1`, [configured])
        if (usable.length === 0) throw new AppError('conflict', 'At least one model has to be offered.')
        await storeChoices(scope, configured, choices)
        await notifyPages(scope)
        return identifiers
      })
      log.info({ models: changed, isOffered, operator }, 'an operator changed which models are offered')
    },
  }
}
