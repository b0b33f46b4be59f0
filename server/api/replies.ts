import { Hono } from 'hono'
import { z } from 'zod'
import { newBranch, regeneration } from '#contract/conversation.ts'
import type { SignedIn } from '#server/access/authenticate.ts'
import { validate } from '#server/base/validate.ts'
import { readReplyInProgress, retryReply, stopReply } from '#server/conversations/reply-queries.ts'
import { branchConversation } from '#server/conversations/branch-queries.ts'
import { continueAnswer, rewriteAnswer } from '#server/conversations/rewrite-queries.ts'
import { requireConversation } from '#server/conversations/queries.ts'
import type { Database } from '#server/database/scope.ts'
import { parseId } from './parse-id.ts'
import { readBody } from './read-body.ts'

const wholeNumber = z.coerce
  .number()
  .int()
  .nonnegative()
  .max(2 ** 31 - 1)
/** Undefined unless all members are given. */
const knownPart = z
  .object({ replyId: z.uuid(), attempt: wholeNumber, seq: wholeNumber })
  .partial()
  .transform(({ replyId, attempt, seq }) =>
    replyId === undefined || attempt === undefined || seq === undefined ? undefined : { replyId, attempt, seq },
  )

export function createReplyRoutes({ database }: { database: Database }) {
  const routes = new Hono<SignedIn>()

  routes.get('/conversations/:id/reply', async (context) => {
    const id = parseId(context.req.param('id'), 'conversation')
    const known = validate(knownPart, context.req.query())
    const inProgress = await database.asUser(context.get('claims'), async (scope) => {
      await requireConversation(scope, id)
      return readReplyInProgress(scope, id, known)
    })
    return inProgress ? context.json(inProgress) : context.body(null, 204)
  })

  routes.post('/conversations/:id/retry', async (context) => {
    await retryReply(database, context.get('claims'), parseId(context.req.param('id'), 'conversation'))
    return context.body(null, 202)
  })

  routes.post('/conversations/:id/stop', async (context) => {
    await stopReply(database, context.get('claims'), parseId(context.req.param('id'), 'conversation'))
    return context.body(null, 202)
  })

  routes.post('/conversations/:id/messages/:messageId/regenerate', async (context) => {
    const { model_name: modelName = null } = await readBody(context, regeneration)
    const location = {
      conversationId: parseId(context.req.param('id'), 'conversation'),
      answerId: parseId(context.req.param('messageId'), 'answer'),
    }
    await rewriteAnswer(database, context.get('claims'), location, modelName)
    return context.body(null, 202)
  })

  routes.post('/conversations/:id/messages/:messageId/continue', async (context) => {
    const location = {
      conversationId: parseId(context.req.param('id'), 'conversation'),
      answerId: parseId(context.req.param('messageId'), 'answer'),
    }
    await continueAnswer(database, context.get('claims'), location)
    return context.body(null, 202)
  })

  routes.post('/conversations/:id/branch', async (context) => {
    const branch = await readBody(context, newBranch)
    const id = parseId(context.req.param('id'), 'conversation')
    const { row, isNew } = await branchConversation(database, context.get('claims'), id, branch)
    return context.json(row, isNew ? 201 : 200)
  })

  return routes
}
