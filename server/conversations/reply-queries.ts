import { conversationTopic, REPLY_EVENT, type ReplyInProgress, type ReplyPart } from '#contract/reply-events.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { AppError } from '#server/base/errors.ts'
import { requireTextRoom } from '#server/database/quotas.ts'
import type { Claims, Database, Scope } from '#server/database/scope.ts'
import { requireMayAsk } from './queries.ts'

export type KnownPart = Pick<ReplyPart, 'replyId' | 'attempt' | 'seq'>

export async function broadcastPart(scope: Scope, conversationId: string, part: ReplyPart): Promise<void> {
  await scope.prepared('select realtime.send($1::jsonb, $2, $3, true)', [
    JSON.stringify(part),
    REPLY_EVENT,
    conversationTopic(conversationId),
  ])
}

/** Blocks deletion of the conversation. To avoid deadlocks, lock it before replies and messages, as a deletion does. */
export async function lockConversation(scope: Scope, conversationId: string): Promise<void> {
  await scope.prepared('select from conversations where id = $1 for key share', [conversationId])
}

export async function lockForQueueing(scope: Scope, conversationId: string): Promise<void> {
  await scope.prepared('select from conversations where id = $1 for no key update', [conversationId])
}

interface ReplyRow {
  id: string
  conversation_id: string
  answer_id: string
  state: string
  attempt: number
}

/** @param known the last part that the caller has: of its attempt only later parts are returned */
export async function readReplyInProgress(
  scope: Scope,
  conversationId: string,
  known?: KnownPart,
): Promise<ReplyInProgress | null> {
  const { rows } = await scope.query<ReplyRow & { parts: ReplyPart[] }>(
    // A queued rewrite reports its next attempt, which distinguishes it from the existing answer.
    `select r.id, r.answer_id, r.attempt + (r.state = 'queued' and r.kind <> 'answer')::integer as attempt, coalesce(
       (select jsonb_agg(p.payload order by p.seq) from reply_parts p
        where p.reply_id = r.id and p.attempt = r.attempt and p.seq > case when (r.id, r.attempt) = ($2, $3) then $4 else -1 end
       ), '[]'
     ) as parts
     from replies r
     where r.conversation_id = $1 and r.state in ('queued', 'running')
     order by r.created_at, r.id limit 1`,
    [conversationId, known?.replyId, known?.attempt, known?.seq],
  )
  const [reply] = rows
  if (!reply) return null
  const { id, answer_id, attempt, parts } = reply
  const knownSeq = known?.replyId === id && known.attempt === attempt ? known.seq : 0
  return { replyId: id, messageId: answer_id, attempt, seq: parts.at(-1)?.seq ?? knownSeq, parts }
}

async function newestReply(scope: Scope, conversationId: string): Promise<ReplyRow> {
  const { rows } = await scope.query<ReplyRow>(
    `select r.id, r.conversation_id, r.answer_id, r.state, r.attempt from replies r
     join messages m on m.id = r.message_id
     where r.conversation_id = $1 order by m.position desc limit 1`,
    [conversationId],
  )
  const [reply] = rows
  if (!reply) throw new AppError('not_found', 'Nothing was asked in this conversation.')
  return reply
}

/** Queues the newest question again, with the rights of who repeats it. @throws AppError `not_found`, or `conflict` if the answer did not fail. */
export async function retryReply(
  database: Database,
  asPerson: Claims & { readonly sub: string },
  conversationId: string,
): Promise<void> {
  const reply = await database.asUser(asPerson, async (scope) => {
    await requireMayAsk(scope, conversationId)
    return newestReply(scope, conversationId)
  })
  await database.asService(async (scope) => {
    await requireTextRoom(scope, conversationId)
    await lockForQueueing(scope, conversationId)
    // An answer with several versions stays, as deleting it would delete them; the next version replaces a failed one.
    const { rows } = await scope.query<{ kind: string }>(
      `update replies set state = 'queued', owner = $2, tries = 0, stop_requested = false, finished_at = null,
         kind = case when exists (select from message_versions v where v.message_id = answer_id) then 'rewrite' else 'answer' end
       where id = $1 and state in ('failed', 'stopped') returning kind`,
      [reply.id, asPerson.sub],
    )
    if (!rows[0]) throw new AppError('conflict', 'The last answer did not fail, so there is nothing to try again.')
    if (rows[0].kind === 'answer') await scope.query('delete from messages where id = $1', [reply.answer_id])
    await scope.query(`select pg_notify('replies', $1)`, [conversationId])
  })
}

/** Notification that asks the process writing a reply to stop. */
export const STOP_CHANNEL = 'reply_stop'

/** Stops the running reply, keeping its text, and removes queued questions. @throws AppError `not_found`. */
export async function stopReply(database: Database, asPerson: Claims, conversationId: string): Promise<void> {
  await database.asUser(asPerson, async (scope) => {
    await requireMayAsk(scope, conversationId)
    await newestReply(scope, conversationId)
  })
  await database.asService(async (scope) => {
    await lockConversation(scope, conversationId)
    // The notification is fast but may be missed; the stored mark is seen at the next lease renewal or claim.
    await scope.query(
      `with running as (
         update replies set stop_requested = true where conversation_id = $1 and state = 'running' returning id
       )
       select pg_notify($2, id::text) from running`,
      [conversationId, STOP_CHANNEL],
    )
    const unstarted = await scope.query<ReplyRow>(
      `update replies set state = 'stopped', finished_at = now(), attempt = attempt + 1
       where conversation_id = $1 and state = 'queued'
       returning id, conversation_id, answer_id, state, attempt`,
      [conversationId],
    )
    for (const reply of unstarted.rows) await stopQueuedReply(scope, reply)
  })
}

async function stopQueuedReply(scope: Scope, reply: ReplyRow): Promise<void> {
  const { id: replyId, answer_id: messageId, conversation_id: conversationId, attempt } = reply
  await scope.query(
    `insert into messages as m (id, conversation_id, content, sender_role, metadata)
     values ($1, $2, '', ${SENDER_ROLES.assistant}, jsonb_build_object('stopped', true, 'attempt', $3::integer))
     on conflict (id) do update set metadata = m.metadata || jsonb_build_object('attempt', $3::integer)`,
    [messageId, conversationId, attempt],
  )
  // A worker that released the reply may have left parts.
  await scope.query('delete from reply_parts where reply_id = $1', [replyId])
  await broadcastPart(scope, conversationId, { replyId, messageId, attempt, seq: 1, type: 'stopped' })
}
