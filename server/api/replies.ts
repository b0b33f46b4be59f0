/** What a person may do with a reply: join it, stop it, ask again, have it written anew or continued, leave it by a branch. */
import { Hono } from 'hono'
import { z } from 'zod'
import { newBranch, regeneration } from '#contract/conversation.ts'
import { type SignedIn } from '#server/access/authenticate.ts'
import { readReplyInProgress, retryReply, stopReply } from '#server/conversations/reply-queries.ts'
import { branchConversation } from '#server/conversations/branch-queries.ts'
import { continueAnswer, rewriteAnswer } from '#server/conversations/rewrite-queries.ts'
import { AppError } from '#server/base/errors.ts'
import { getConversation } from '#server/conversations/queries.ts'
import { type Database } from '#server/database/scope.ts'
import { readBody } from './read-body.ts'

export function createReplyRoutes({ database }: { database: Database }) {
  const routes = new Hono<SignedIn>()
  const uuidOf = (value: string, what: string): string => {
    if (!z.uuid().safeParse(value).success) throw new AppError('not_found', `There is no such ${what}.`)
    return value
  }
  const conversationIdOf = (value: string): string => uuidOf(value, 'conversation')

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

  routes.post('/conversations/:id/messages/:messageId/regenerate', async (context) => {
    const { model_name: modelName = null } = await readBody(context, regeneration)
    const place = {
      conversationId: conversationIdOf(context.req.param('id')),
      answerId: uuidOf(context.req.param('messageId'), 'answer'),
    }
    await rewriteAnswer(database, context.get('claims'), place, modelName)
    return context.body(null, 202)
  })

  routes.post('/conversations/:id/messages/:messageId/continue', async (context) => {
    const place = {
      conversationId: conversationIdOf(context.req.param('id')),
      answerId: uuidOf(context.req.param('messageId'), 'answer'),
    }
    await continueAnswer(database, context.get('claims'), place)
    return context.body(null, 202)
  })

  routes.post('/conversations/:id/branch', async (context) => {
    const branch = await readBody(context, newBranch)
    const id = conversationIdOf(context.req.param('id'))
    const { row, isNew } = await branchConversation(database, context.get('claims'), id, branch)
    return context.json(row, isNew ? 201 : 200)
  })

  return routes
}
