/** No response contains a key. */
import { Hono } from 'hono'
import { newPersonalProvider, providerPatch } from '#contract/provider.ts'
import type { SignedIn } from '#server/access/authenticate.ts'
import type { PersonalProviders } from '#server/connections/personal-providers.ts'
import { parseId } from './parse-id.ts'
import { readBody } from './read-body.ts'

export function createProviderRoutes({ personalProviders }: { personalProviders: PersonalProviders }) {
  const routes = new Hono<SignedIn>()

  routes.get('/providers', async (context) => context.json(await personalProviders.list(context.get('claims'))))

  routes.post('/providers', async (context) => {
    const body = await readBody(context, newPersonalProvider)
    return context.json(await personalProviders.connect(context.get('claims'), body, context.req.raw.signal), 201)
  })

  routes.patch('/providers/:id', async (context) => {
    const id = parseId(context.req.param('id'), 'provider')
    const { embeddings_model: model } = await readBody(context, providerPatch)
    return context.json(
      await personalProviders.chooseEmbeddings(context.get('claims'), id, model, context.req.raw.signal),
    )
  })

  routes.delete('/providers/:id', async (context) => {
    const id = parseId(context.req.param('id'), 'provider')
    await personalProviders.disconnect(context.get('claims'), id)
    return context.body(null, 204)
  })

  return routes
}
