/** `/api/conversations` and `/api/users/{id}/conversations`: the fallback of the direct calls, same rights, same shapes. */
import { Hono } from 'hono'
import { z } from 'zod'
import { conversationPatch, newConversation } from '#contract/conversation.ts'
import { newMessage } from '#contract/message.ts'
import { type SignedIn } from '#server/access/authenticate.ts'
import { AppError } from '#server/base/errors.ts'
import { validate } from '#server/base/validate.ts'
import {
  addMessage,
  createConversation,
  deleteConversation,
  getConversation,
  listConversations,
  listMessages,
  updateConversation,
} from '#server/conversations/queries.ts'
import { type Database } from '#server/database/scope.ts'
import { readBody } from './read-body.ts'

const pageQuery = z.object({
  before: z.coerce.number().int().positive().optional(),
  limit: z.coerce.number().int().positive().max(1000).optional(),
})

/** Ids that are no uuid belong to nothing, which is what a stranger's id answers as well. */
function uuidOf(value: string): string {
  if (!z.uuid().safeParse(value).success) throw new AppError('not_found', 'There is no such conversation.')
  return value
}

export function createConversationRoutes({ database }: { database: Database }) {
  const routes = new Hono<SignedIn>()

  routes.get('/users/:id/conversations', async (context) => {
    const ownerId = uuidOf(context.req.param('id'))
    return context.json(await database.asUser(context.get('claims'), (scope) => listConversations(scope, ownerId)))
  })

  routes.post('/conversations', async (context) => {
    const given = await readBody(context, newConversation)
    const claims = context.get('claims')
    if (given.uid !== undefined && given.uid !== claims.sub)
      throw new AppError('forbidden', 'A conversation belongs to the person who creates it.')
    return context.json(await database.asUser(claims, (scope) => createConversation(scope, given)), 201)
  })

  routes.get('/conversations/:id', async (context) => {
    const id = uuidOf(context.req.param('id'))
    return context.json(await database.asUser(context.get('claims'), (scope) => getConversation(scope, id)))
  })

  routes.patch('/conversations/:id', async (context) => {
    const id = uuidOf(context.req.param('id'))
    const patch = await readBody(context, conversationPatch)
    return context.json(await database.asUser(context.get('claims'), (scope) => updateConversation(scope, id, patch)))
  })

  routes.delete('/conversations/:id', async (context) => {
    const id = uuidOf(context.req.param('id'))
    await database.asUser(context.get('claims'), (scope) => deleteConversation(scope, id))
    return context.body(null, 204)
  })

  routes.get('/conversations/:id/messages', async (context) => {
    const id = uuidOf(context.req.param('id'))
    const page = validate(pageQuery, context.req.query())
    const messages = await database.asUser(context.get('claims'), async (scope) => {
      await getConversation(scope, id)
      return listMessages(scope, id, page)
    })
    return context.json(messages)
  })

  routes.post('/conversations/:id/messages', async (context) => {
    const id = uuidOf(context.req.param('id'))
    const given = await readBody(context, newMessage)
    const { row, isNew } = await database.asUser(context.get('claims'), (scope) => addMessage(scope, id, given), {
      groupFlush: true,
    })
    return context.json(row, isNew ? 201 : 200)
  })

  return routes
}
