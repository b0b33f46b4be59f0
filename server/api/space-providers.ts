/** Keys of spaces, for their owners. No response contains a key. */
import { Hono } from 'hono'
import { newPersonalProvider } from '#contract/provider.ts'
import type { SignedIn } from '#server/access/authenticate.ts'
import type { SpaceProviders } from '#server/connections/space-providers.ts'
import { parseId } from './parse-id.ts'
import { readBody } from './read-body.ts'

export function createSpaceProviderRoutes({ spaceProviders }: { spaceProviders: SpaceProviders }) {
  const routes = new Hono<SignedIn>()

  routes.get('/spaces/:id/providers', async (context) => {
    const id = parseId(context.req.param('id'), 'space')
    return context.json(await spaceProviders.list(context.get('claims'), id))
  })

  routes.post('/spaces/:id/providers', async (context) => {
    const id = parseId(context.req.param('id'), 'space')
    const body = await readBody(context, newPersonalProvider)
    return context.json(await spaceProviders.connect(context.get('claims'), id, body, context.req.raw.signal), 201)
  })

  routes.delete('/spaces/:id/providers/:providerId', async (context) => {
    const id = parseId(context.req.param('id'), 'space')
    const providerId = parseId(context.req.param('providerId'), 'provider')
    await spaceProviders.disconnect(context.get('claims'), id, providerId)
    return context.body(null, 204)
  })

  return routes
}
