import { type Context, Hono } from 'hono'
import { z } from 'zod'
import type { ModelAvailability } from '#contract/model.ts'
import { chosenSpace } from '#contract/space.ts'
import type { PersonClaims, SignedIn } from '#server/access/authenticate.ts'
import { validate } from '#server/base/validate.ts'
import { LIST_BOUNDS, readJsonList, readJsonRows } from '#server/database/json-list.ts'
import type { Database } from '#server/database/scope.ts'
import type { ResolveProviders } from '#server/providers/provider-registry.ts'
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

export function createModelRoutes({ database, providersOf, refresh }: ModelRoutesParts) {
  const routes = new Hono<SignedIn>()

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
    return context.json(
      models.map(({ model_identifier, provider, is_offered: isOffered }): ModelAvailability => {
        const availability = providers.availability(provider, model_identifier)
        // Another space has a key for it.
        if (!isOffered && !providers.isPersonal(provider, model_identifier))
          return { ...availability, model_identifier, available: false, reason: 'This model is not offered here.' }
        return { model_identifier, ...availability }
      }),
    )
  })

  routes.post('/models/refresh', async (context) => {
    await refresh(context.get('claims'), namedSpace(context), context.req.raw.signal)
    return context.body(null, 204)
  })

  return routes
}
