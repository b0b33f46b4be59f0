import { Hono } from 'hono'
import { embeddingsChoice, type EmbeddingsState } from '#contract/embeddings.ts'
import type { SignedIn } from '#server/access/authenticate.ts'
import type { EmbeddingsChoices } from '#server/connections/embeddings-choice.ts'
import { type Database, onlyLibrary } from '#server/database/scope.ts'
import { readEmbeddingProgress } from '#server/search/vectors/vector-store.ts'
import { readBody } from './read-body.ts'

interface EmbeddingsRoutesParts {
  readonly database: Database
  readonly embeddingsChoices: EmbeddingsChoices
}

export function createEmbeddingsRoutes({ database, embeddingsChoices }: EmbeddingsRoutesParts) {
  const routes = new Hono<SignedIn>()

  routes.get('/embeddings', async (context) => {
    const claims = context.get('claims')
    const inUse = await embeddingsChoices.read(claims)
    if (inUse === null) return context.json<EmbeddingsState>({ chosen: null })
    const { key, ...chosen } = inUse
    const progress = await database.asUser(claims, (scope) => readEmbeddingProgress(scope, key), {
      readOnly: true,
      settings: onlyLibrary(claims.sub),
    })
    return context.json<EmbeddingsState>({ chosen: { ...chosen, ...progress } })
  })

  routes.get('/embeddings/offers', async (context) =>
    context.json(await embeddingsChoices.listOffers(context.get('claims'), context.req.raw.signal)),
  )

  routes.put('/embeddings', async (context) => {
    const choice = await readBody(context, embeddingsChoice)
    await embeddingsChoices.choose(context.get('claims'), choice, context.req.raw.signal)
    return context.body(null, 204)
  })

  routes.delete('/embeddings', async (context) => {
    await embeddingsChoices.stop(context.get('claims'))
    return context.body(null, 204)
  })

  return routes
}
