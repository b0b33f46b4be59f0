/** Same rights and shapes as the direct calls to `/rest/v1`. */
import { Hono } from 'hono'
import { z } from 'zod'
import { conversationPatch, newConversation } from '#contract/conversation.ts'
import { newMessage } from '#contract/message.ts'
import { MAX_SEARCH_LENGTH } from '#contract/search.ts'
import { chosenSpace, spaceMove } from '#contract/space.ts'
import type { SignedIn } from '#server/access/authenticate.ts'
import { AppError } from '#server/base/errors.ts'
import { validate } from '#server/base/validate.ts'
import {
  addMessage,
  copyConversation,
  createConversation,
  deleteConversation,
  getConversation,
  listConversations,
  listMessages,
  listPinnedFirst,
  moveConversation,
  unshareConversation,
  requireConversation,
  requireMayAsk,
  updateConversation,
} from '#server/conversations/queries.ts'
import { retryDeadlock } from '#server/database/deadlocks.ts'
import type { Database, Scope } from '#server/database/scope.ts'
import { jsonText } from './json-text.ts'
import { parseId } from './parse-id.ts'
import { readBody } from './read-body.ts'

const limit = z.coerce.number().int().positive().max(1000).optional()
const messagePage = z.object({ before: z.coerce.number().int().positive().optional(), limit })
const conversationPage = z.object({
  after: z.uuid().optional(),
  limit,
  space: chosenSpace.optional(),
  /** Rows as lists show them, the pinned ones first. */
  listed: z.stringbool().optional(),
  search: z.string().max(MAX_SEARCH_LENGTH).optional(),
})

export function createConversationRoutes({ database }: { database: Database }) {
  const routes = new Hono<SignedIn>()

  routes.get('/users/:id/conversations', async (context) => {
    const ownerId = parseId(context.req.param('id'), 'conversation')
    const { listed = false, ...page } = validate(conversationPage, context.req.query())
    const list = listed || page.search !== undefined ? listPinnedFirst : listConversations
    return jsonText(context, await database.asUser(context.get('claims'), (scope) => list(scope, ownerId, page)))
  })

  routes.post('/conversations', async (context) => {
    const body = await readBody(context, newConversation)
    const claims = context.get('claims')
    if (body.uid !== undefined && body.uid !== claims.sub)
      throw new AppError('forbidden', 'A conversation belongs to the person who creates it.')
    return context.json(await database.asUser(claims, (scope) => createConversation(scope, body)), 201)
  })

  routes.get('/conversations/:id', async (context) => {
    const id = parseId(context.req.param('id'), 'conversation')
    return context.json(await database.asUser(context.get('claims'), (scope) => getConversation(scope, id)))
  })

  routes.patch('/conversations/:id', async (context) => {
    const id = parseId(context.req.param('id'), 'conversation')
    const patch = await readBody(context, conversationPatch)
    return context.json(await database.asUser(context.get('claims'), (scope) => updateConversation(scope, id, patch)))
  })

  routes.delete('/conversations/:id', async (context) => {
    const id = parseId(context.req.param('id'), 'conversation')
    await database.asUser(context.get('claims'), (scope) => deleteConversation(scope, id))
    return context.body(null, 204)
  })

  routes.post('/conversations/:id/move', async (context) => {
    const id = parseId(context.req.param('id'), 'conversation')
    const { space } = await readBody(context, spaceMove)
    const move = async (scope: Scope) => {
      await moveConversation(scope, id, space)
      return getConversation(scope, id)
    }
    return context.json(await retryDeadlock(() => database.asUser(context.get('claims'), move)))
  })

  routes.post('/conversations/:id/unshare', async (context) => {
    const id = parseId(context.req.param('id'), 'conversation')
    await retryDeadlock(() => database.asUser(context.get('claims'), (scope) => unshareConversation(scope, id)))
    return context.body(null, 204)
  })

  routes.post('/conversations/:id/copy', async (context) => {
    const id = parseId(context.req.param('id'), 'conversation')
    const { space } = await readBody(context, spaceMove)
    const copy = async (scope: Scope) => getConversation(scope, await copyConversation(scope, id, space))
    return context.json(await retryDeadlock(() => database.asUser(context.get('claims'), copy)), 201)
  })

  routes.get('/conversations/:id/messages', async (context) => {
    const id = parseId(context.req.param('id'), 'conversation')
    const page = validate(messagePage, context.req.query())
    const messages = await database.asUser(context.get('claims'), async (scope) => {
      await requireConversation(scope, id)
      return listMessages(scope, id, page)
    })
    return jsonText(context, messages)
  })

  routes.post('/conversations/:id/messages', async (context) => {
    const id = parseId(context.req.param('id'), 'conversation')
    const body = await readBody(context, newMessage)
    const add = async (scope: Scope) => {
      await requireMayAsk(scope, id)
      return addMessage(scope, id, body)
    }
    const { row, isNew } = await database.asUser(context.get('claims'), add, { groupFlush: true })
    return context.json(row, isNew ? 201 : 200)
  })

  return routes
}
