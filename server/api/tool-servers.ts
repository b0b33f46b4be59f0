import { Hono } from 'hono'
import { newToolServer, toolAnswer, type ToolServers } from '#contract/tool-server.ts'
import type { SignedIn } from '#server/access/authenticate.ts'
import { answerToolRequest } from '#server/connections/tool-consent.ts'
import type { ToolServerConnections } from '#server/connections/tool-servers.ts'
import type { Database } from '#server/database/scope.ts'
import { parseId } from './parse-id.ts'
import { readBody } from './read-body.ts'

export function createToolServerRoutes({
  database,
  toolServers,
}: {
  database: Database
  toolServers: ToolServerConnections
}) {
  const routes = new Hono<SignedIn>()

  routes.get('/tool-servers', async (context) => {
    const servers = await toolServers.list(context.get('claims'))
    return context.json({ servers, commands: [...toolServers.commands] } satisfies ToolServers)
  })

  routes.post('/tool-servers', async (context) => {
    const body = await readBody(context, newToolServer)
    return context.json(await toolServers.connect(context.get('claims'), body, context.req.raw.signal), 201)
  })

  routes.post('/tool-servers/:id/refresh', async (context) => {
    const id = parseId(context.req.param('id'), 'tool server')
    return context.json(await toolServers.refresh(context.get('claims'), id, context.req.raw.signal))
  })

  routes.delete('/tool-servers/:id', async (context) => {
    await toolServers.disconnect(context.get('claims'), parseId(context.req.param('id'), 'tool server'))
    return context.body(null, 204)
  })

  routes.post('/tool-requests/:id', async (context) => {
    const id = parseId(context.req.param('id'), 'request')
    const { answer } = await readBody(context, toolAnswer)
    await answerToolRequest(database, context.get('claims'), id, answer)
    return context.body(null, 204)
  })

  return routes
}
