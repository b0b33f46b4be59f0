import { type Context, Hono } from 'hono'
import { z } from 'zod'
import type { ModelAvailability } from '#contract/model.ts'
import { chosenSpace } from '#contract/space.ts'
import type { PersonClaims, SignedIn } from '#server/access/authenticate.ts'
import { validate } from '#server/base/validate.ts'
import { LIST_BOUNDS, readJsonList, readJsonRows } from '#server/database/json-list.ts'
import type { Database } from '#server/database/scope.ts'
import type { Providers, ResolveProviders } from '#server/providers/provider-registry.ts'
import { jsonText } from './json-text.ts'

const FEWER_MODELS = 'Remove a provider that lists very many models.'

interface ModelRoutesParts {
  readonly database: Database
  readonly providersOf: ResolveProviders
  /** @throws AppError of an endpoint that fails. */
  readonly refresh: (person: PersonClaims, spaceId: string | null, signal: AbortSignal) => Promise<void>
}

const inSpace = z.object({ space: chosenSpace.default('personal') })

/** Null: outside of spaces. */
function namedSpace(context: Context): string | null {
  const { space } = validate(inSpace, context.req.query())
  return space === 'personal' ? null : space
}

/** Models that can be chosen in the space $1; null: outside of spaces. */
const CHOOSABLE = `is_visible and (space_id is null or (space_id = $1 and $1 = any ((select spaces_to('ask'))::uuid[])))`

/** The installation's models that are in no list: earlier ones of a vendor, and those that the operator withdrew. */
const UNLISTED = `
  select model_identifier, name, provider, coalesce(is_offered, true) as is_offered from models
  where owner is null and space_id is null and not is_default and not (is_visible and coalesce(is_offered, true))`

export function createModelRoutes({ database, providersOf, refresh }: ModelRoutesParts) {
  const routes = new Hono<SignedIn>()

  /** Their names are shown to people who have conversations with them. */
  async function listUnlisted(claims: PersonClaims, providers: Providers): Promise<ModelAvailability[]> {
    const { rows: unlisted } = await database.serviceStatement<{
      model_identifier: string
      name: string
      provider: string
      is_offered: boolean
    }>(UNLISTED)
    if (unlisted.length === 0) return []
    const { rows: used } = await database.asUser(
      claims,
      (scope) =>
        scope.query<{ model_name: string }>(
          'select distinct model_name from conversations where model_name = any ($1)',
          [unlisted.map(({ model_identifier: identifier }) => identifier)],
        ),
      { readOnly: true },
    )
    const named = new Set(used.map(({ model_name: identifier }) => identifier))
    return unlisted
      .filter(({ model_identifier: identifier }) => named.has(identifier))
      .map(({ model_identifier, name, provider, is_offered: isOffered }) => {
        const availability = providers.availability(provider, model_identifier)
        if (providers.isPersonal(provider, model_identifier) || (isOffered && availability.available))
          return { model_identifier, ...availability, name }
        const reason = 'This model is no longer offered.'
        return { ...availability, model_identifier, available: false, reason, name: `${name} (no longer offered)` }
      })
  }

  routes.get('/models/visible', async (context) => {
    const space = namedSpace(context)
    const models = await database.asUser(context.get('claims'), (scope) =>
      readJsonList(
        scope,
        {
          text: `select id, name, version, model_identifier, provider, family, is_default, context_window, space_id
            from models where ${CHOOSABLE} order by is_default desc, name`,
          values: [space],
        },
        { ...LIST_BOUNDS, wayOut: FEWER_MODELS },
      ),
    )
    return jsonText(context, models)
  })

  routes.get('/models/availability', async (context) => {
    const [claims, spaceId] = [context.get('claims'), namedSpace(context)]
    const [providers, models] = await Promise.all([
      providersOf(claims.sub, { spaceId }),
      database.asUser(claims, (scope) =>
        readJsonRows<{ model_identifier: string; provider: string; is_offered: boolean }>(
          scope,
          {
            text: `select model_identifier, provider, coalesce(is_offered, true) or is_default as is_offered from models where ${CHOOSABLE}`,
            values: [spaceId],
          },
          { ...LIST_BOUNDS, wayOut: FEWER_MODELS },
        ),
      ),
    ])
    const listed = models.map(({ model_identifier, provider, is_offered: isOffered }): ModelAvailability => {
      const availability = providers.availability(provider, model_identifier)
      // Another space has a key for it.
      if (!isOffered && !providers.isPersonal(provider, model_identifier))
        return { ...availability, model_identifier, available: false, reason: 'This model is not offered here.' }
      return { model_identifier, ...availability }
    })
    const identifiers = new Set(models.map(({ model_identifier: identifier }) => identifier))
    const unlisted = await listUnlisted(claims, providers)
    return context.json([
      ...listed,
      ...unlisted.filter(({ model_identifier: identifier }) => !identifiers.has(identifier)),
    ])
  })

  routes.post('/models/refresh', async (context) => {
    await refresh(context.get('claims'), namedSpace(context), context.req.raw.signal)
    return context.body(null, 204)
  })

  return routes
}
