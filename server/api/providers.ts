/** `/api/providers`: the keys and endpoints that a person has connected. A key comes in and never goes out. */
import { Hono } from 'hono'
import { z } from 'zod'
import { newOwnProvider, providerPatch } from '#contract/provider.ts'
import { type SignedIn } from '#server/access/authenticate.ts'
import { AppError } from '#server/base/errors.ts'
import { type OwnProviders } from '#server/connections/own-providers.ts'
import { readBody } from './read-body.ts'

function knownId(id: string): string {
  if (!z.uuid().safeParse(id).success) throw new AppError('not_found', 'There is no such provider.')
  return id
}

export function createProviderRoutes({ ownProviders }: { ownProviders: OwnProviders }) {
  const routes = new Hono<SignedIn>()

  routes.get('/providers', async (context) => context.json(await ownProviders.list(context.get('claims'))))

  routes.post('/providers', async (context) => {
    const given = await readBody(context, newOwnProvider)
    return context.json(await ownProviders.connect(context.get('claims'), given, context.req.raw.signal), 201)
  })

  routes.patch('/providers/:id', async (context) => {
    const id = knownId(context.req.param('id'))
    const { embeddings_model: model } = await readBody(context, providerPatch)
    return context.json(await ownProviders.chooseEmbeddings(context.get('claims'), id, model, context.req.raw.signal))
  })

  routes.delete('/providers/:id', async (context) => {
    const id = knownId(context.req.param('id'))
    await ownProviders.disconnect(context.get('claims'), id)
    return context.body(null, 204)
  })

  return routes
}
