import { Hono } from 'hono'
import type { ModelAvailability } from '#contract/model.ts'
import type { PersonClaims, SignedIn } from '#server/access/authenticate.ts'
import { LIST_BOUNDS, readJsonList, readJsonRows } from '#server/database/json-list.ts'
import type { Database } from '#server/database/scope.ts'
import type { ResolveProviders } from '#server/providers/provider-registry.ts'
import { jsonText } from './json-text.ts'

const FEWER_MODELS = 'Remove a provider that lists very many models.'

interface ModelRoutesParts {
  readonly database: Database
  readonly providersOf: ResolveProviders
  /** @throws AppError of an endpoint that fails. */
  readonly refresh: (person: PersonClaims, signal: AbortSignal) => Promise<void>
}

export function createModelRoutes({ database, providersOf, refresh }: ModelRoutesParts) {
  const routes = new Hono<SignedIn>()

  routes.get('/models/visible', async (context) => {
    const models = await database.asUser(context.get('claims'), (scope) =>
      readJsonList(
        scope,
        {
          text: `select id, name, version, model_identifier, provider, family, is_default, context_window
            from models where is_visible order by is_default desc, name`,
          values: [],
        },
        { ...LIST_BOUNDS, wayOut: FEWER_MODELS },
      ),
    )
    return jsonText(context, models)
  })

  routes.get('/models/availability', async (context) => {
    const claims = context.get('claims')
    const [providers, models] = await Promise.all([
      providersOf(claims.sub),
      database.asUser(claims, (scope) =>
        readJsonRows<{ model_identifier: string; provider: string }>(
          scope,
          { text: 'select model_identifier, provider from models where is_visible', values: [] },
          { ...LIST_BOUNDS, wayOut: FEWER_MODELS },
        ),
      ),
    ])
    return context.json(
      models.map(({ model_identifier, provider }): ModelAvailability => ({
        model_identifier,
        ...providers.availability(provider, model_identifier),
      })),
    )
  })

  routes.post('/models/refresh', async (context) => {
    await refresh(context.get('claims'), context.req.raw.signal)
    return context.body(null, 204)
  })

  return routes
}
