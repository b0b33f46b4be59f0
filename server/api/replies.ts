/** What a person may do with a reply: join it while it is written, stop it, ask again after a failure. */
import { Hono } from 'hono'
import { z } from 'zod'
import { type SignedIn } from '#server/access/authenticate.ts'
import { readReplyInProgress, retryReply, stopReply } from '#server/conversations/reply-queries.ts'
import { AppError } from '#server/base/errors.ts'
import { getConversation } from '#server/conversations/queries.ts'
import { type Database } from '#server/database/scope.ts'

export function createReplyRoutes({ database }: { database: Database }) {
  const routes = new Hono<SignedIn>()
  const conversationIdOf = (value: string): string => {
    if (!z.uuid().safeParse(value).success) throw new AppError('not_found', 'There is no such conversation.')
    return value
  }

  routes.get('/conversations/:id/reply', async (context) => {
    const id = conversationIdOf(context.req.param('id'))
    const inProgress = await database.asUser(context.get('claims'), async (scope) => {
      await getConversation(scope, id)
      return readReplyInProgress(scope, id)
    })
    return inProgress ? context.json(inProgress) : context.body(null, 204)
  })

  routes.post('/conversations/:id/retry', async (context) => {
    await retryReply(database, context.get('claims'), conversationIdOf(context.req.param('id')))
    return context.body(null, 202)
  })

  routes.post('/conversations/:id/stop', async (context) => {
    await stopReply(database, context.get('claims'), conversationIdOf(context.req.param('id')))
    return context.body(null, 202)
  })

  return routes
}
