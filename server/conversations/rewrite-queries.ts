import { READER_MODEL } from '#contract/product-names.ts'
import { AppError } from '#server/base/errors.ts'
import { requireTextRoom } from '#server/database/quotas.ts'
import type { Claims, Database, Scope } from '#server/database/scope.ts'
import { requireMayAsk } from './queries.ts'
import { lockForQueueing } from './reply-queries.ts'

interface KnownAnswer {
  replyId: string
  modelName: string | null
  isUnfinished: boolean
}

export interface AnswerLocation {
  readonly conversationId: string
  readonly answerId: string
}

async function findAnswer(scope: Scope, { conversationId, answerId }: AnswerLocation): Promise<KnownAnswer> {
  await requireMayAsk(scope, conversationId)
  const { rows } = await scope.query<KnownAnswer & Record<string, unknown>>(
    // An extractive answer is always complete.
    `select r.id as "replyId", m.metadata ->> 'model' as "modelName",
       m.content <> '' and coalesce(m.metadata ?| '{stopped,cut,error}' and m.metadata ->> 'model' <> $3, false) as "isUnfinished"
     from messages m join replies r on r.answer_id = m.id
     where m.id = $1 and m.conversation_id = $2`,
    [answerId, conversationId, READER_MODEL],
  )
  if (!rows[0]) throw new AppError('not_found', 'There is no such answer.')
  return rows[0]
}

async function queueAgain(
  database: Database,
  owner: string,
  conversationId: string,
  replyId: string,
  kind: 'rewrite' | 'continue',
  modelName: string | null,
): Promise<void> {
  await database.asService(async (scope) => {
    await requireTextRoom(scope, conversationId)
    await lockForQueueing(scope, conversationId)
    const { rowCount } = await scope.query(
      `update replies set state = 'queued', owner = $4, kind = $2, model_name = $3, tries = 0, stop_requested = false,
         finished_at = null, created_at = now()
       where id = $1 and state in ('done', 'failed', 'stopped')`,
      [replyId, kind, modelName, owner],
    )
    if (rowCount === 0) throw new AppError('conflict', 'This answer is being written already.')
    await scope.query(`select pg_notify('replies', $1)`, [conversationId])
  })
}

/** Keeps the current version. A null model is the conversation's. @throws AppError `not_found`, `conflict` if busy. */
export async function rewriteAnswer(
  database: Database,
  asPerson: Claims & { readonly sub: string },
  place: AnswerLocation,
  modelName: string | null,
): Promise<void> {
  const { replyId } = await database.asUser(asPerson, (scope) => findAnswer(scope, place))
  await queueAgain(database, asPerson.sub, place.conversationId, replyId, 'rewrite', modelName)
}

/** The model that began it continues. @throws AppError `not_found`, `conflict` if complete or in progress. */
export async function continueAnswer(
  database: Database,
  asPerson: Claims & { readonly sub: string },
  place: AnswerLocation,
): Promise<void> {
  const { replyId, modelName, isUnfinished } = await database.asUser(asPerson, (scope) => findAnswer(scope, place))
  if (!isUnfinished) throw new AppError('conflict', 'This answer is whole, so there is nothing to continue.')
  await queueAgain(database, asPerson.sub, place.conversationId, replyId, 'continue', modelName)
}
