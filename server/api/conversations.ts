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
import { toAppError } from '#server/database/errors.ts'
import { type Database, type Scope } from '#server/database/scope.ts'
import { type PersonClaims } from '#server/access/authenticate.ts'

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
  const asPerson = <T>(claims: PersonClaims, run: (scope: Scope) => Promise<T>) =>
    database.asUser(claims, run).catch((error: unknown) => {
      throw toAppError(error)
    })

  routes.get('/users/:id/conversations', async (context) => {
    const ownerId = uuidOf(context.req.param('id'))
    return context.json(await asPerson(context.get('claims'), (scope) => listConversations(scope, ownerId)))
  })

  routes.post('/conversations', async (context) => {
    const given = validate(newConversation, await context.req.json().catch(() => undefined))
    const claims = context.get('claims')
    if (given.uid !== undefined && given.uid !== claims.sub)
      throw new AppError('forbidden', 'A conversation belongs to the person who creates it.')
    return context.json(await asPerson(claims, (scope) => createConversation(scope, given)), 201)
  })

  routes.get('/conversations/:id', async (context) => {
    const id = uuidOf(context.req.param('id'))
    return context.json(await asPerson(context.get('claims'), (scope) => getConversation(scope, id)))
  })

  routes.patch('/conversations/:id', async (context) => {
    const id = uuidOf(context.req.param('id'))
    const patch = validate(conversationPatch, await context.req.json().catch(() => undefined))
    return context.json(await asPerson(context.get('claims'), (scope) => updateConversation(scope, id, patch)))
  })

  routes.delete('/conversations/:id', async (context) => {
    const id = uuidOf(context.req.param('id'))
    await asPerson(context.get('claims'), (scope) => deleteConversation(scope, id))
    return context.body(null, 204)
  })

  routes.get('/conversations/:id/messages', async (context) => {
    const id = uuidOf(context.req.param('id'))
    const page = validate(pageQuery, context.req.query())
    const messages = await asPerson(context.get('claims'), async (scope) => {
      await getConversation(scope, id)
      return listMessages(scope, id, page)
    })
    return context.json(messages)
  })

  routes.post('/conversations/:id/messages', async (context) => {
    const id = uuidOf(context.req.param('id'))
    const given = validate(newMessage, await context.req.json().catch(() => undefined))
    const { row, isNew } = await asPerson(context.get('claims'), (scope) => addMessage(scope, id, given))
    return context.json(row, isNew ? 201 : 200)
  })

  return routes
}
