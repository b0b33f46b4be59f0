/** Statements on conversations and messages. Rows are PostgreSQL's JSON, so that all APIs answer with equal shapes. */
import type { ConversationPatch, ConversationRow, NewConversation } from '#contract/conversation.ts'
import { DEFAULT_TITLES } from '#contract/product-names.ts'
import type { MessageRow, NewMessage } from '#contract/message.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { AppError } from '#server/base/errors.ts'
import type { Scope } from '#server/database/scope.ts'

interface Json<Row> {
  row: Row
}

export async function listConversations(scope: Scope, ownerId: string): Promise<ConversationRow[]> {
  const { rows } = await scope.query<Json<ConversationRow>>(
    'select to_jsonb(c) as row from conversations c where uid = $1 order by started_at desc, id',
    [ownerId],
  )
  return rows.map(({ row }) => row)
}

/** @throws AppError `not_found`, also for conversations of other people: the policies show no difference. */
export async function getConversation(scope: Scope, id: string): Promise<ConversationRow> {
  const { rows } = await scope.query<Json<ConversationRow>>(
    'select to_jsonb(c) as row from conversations c where id = $1',
    [id],
  )
  return rows[0]?.row ?? notFound()
}

export async function createConversation(scope: Scope, given: NewConversation): Promise<ConversationRow> {
  const { rows } = await scope.query<Json<ConversationRow>>(
    `insert into conversations as c (id, title, model_name, started_at, ended_at, metadata)
     values (coalesce($1, gen_random_uuid()), $2, $3, coalesce($4, now()), $5, coalesce($6, '{}'::jsonb))
     returning to_jsonb(c) as row`,
    [
      given.id,
      given.title,
      given.model_name,
      given.started_at,
      given.ended_at,
      given.metadata && JSON.stringify(given.metadata),
    ],
  )
  return rows[0]?.row ?? notFound()
}

const PATCHABLE = ['title', 'model_name', 'started_at', 'ended_at', 'metadata', 'pinned'] as const

export async function updateConversation(scope: Scope, id: string, patch: ConversationPatch): Promise<ConversationRow> {
  const names = PATCHABLE.filter((name) => patch[name] !== undefined)
  if (names.length === 0) return getConversation(scope, id)
  const values = names.map((name) =>
    name === 'metadata' && patch.metadata ? JSON.stringify(patch.metadata) : patch[name],
  )
  const { rows } = await scope.query<Json<ConversationRow>>(
    `update conversations as c set ${names.map((name, index) => `${name} = $${index + 2}`).join(', ')}
     where id = $1 returning to_jsonb(c) as row`,
    [id, ...values],
  )
  return rows[0]?.row ?? notFound()
}

export const isUntitled = (title: string | null): boolean => title === null || title === DEFAULT_TITLES.created

/** Sets a title only where there is none, so that one chosen meanwhile stays. Runs as the service. */
export async function giveTitle(scope: Scope, id: string, title: string): Promise<boolean> {
  const { rowCount } = await scope.query(
    'update conversations set title = $2 where id = $1 and coalesce(title, $3) = $3',
    [id, title, DEFAULT_TITLES.created],
  )
  return rowCount === 1
}

/** The first answered question and its answer; if none was answered, the first question and null. */
export async function readFirstExchange(
  scope: Scope,
  conversationId: string,
): Promise<{ question: string; answer: string | null } | undefined> {
  const { rows } = await scope.query<{ question: string; answer: string | null }>(
    `select question.content as question, answer.content as answer
     from replies r
     join messages question on question.id = r.message_id
     left join messages answer
       on answer.id = r.answer_id and answer.content <> '' and not coalesce(answer.metadata ? 'error', false)
     where r.conversation_id = $1
     order by answer.id is null, question.position limit 1`,
    [conversationId],
  )
  return rows[0]
}

/** @throws AppError `not_found`. */
export async function deleteConversation(scope: Scope, id: string): Promise<void> {
  const { rowCount } = await scope.query('delete from conversations where id = $1', [id])
  if (rowCount === 0) notFound()
}

export interface MessagePage {
  readonly before?: number | undefined
  readonly limit?: number | undefined
}

export async function listMessages(
  scope: Scope,
  conversationId: string,
  { before, limit }: MessagePage = {},
): Promise<MessageRow[]> {
  const { rows } = await scope.query<Json<MessageRow>>(
    `select to_jsonb(m) as row from messages m
     where conversation_id = $1 and ($2::bigint is null or position < $2)
     order by position desc limit $3`,
    [conversationId, before, limit],
  )
  return rows.map(({ row }) => row).reverse()
}

export async function listMessagesAfter(
  scope: Scope,
  conversationId: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<MessageRow[]> {
  const { rows } = await scope.query<Json<MessageRow>>(
    `select to_jsonb(m) as row from messages m
     where conversation_id = $1 and position > $2 order by position limit $3`,
    [conversationId, after, limit],
  )
  return rows.map(({ row }) => row)
}

export interface Turn {
  readonly id: string
  readonly position: number
  readonly content: string
  readonly sender_role: MessageRow['sender_role']
  readonly has_failed: boolean
  readonly tool_name: string | null
  readonly document_ids?: unknown
  readonly found_addresses?: unknown
}

/**
 * A question with earlier turns and their tool results, oldest first. Includes an earlier answer that was stored after this
 * question. Excludes questions that still wait, messages after a question whose answer is rewritten, and summarised turns.
 */
export async function readTurns(
  scope: Scope,
  conversationId: string,
  questionId: string,
  limit: number,
): Promise<Turn[]> {
  const { rows } = await scope.prepared<Turn & Record<string, unknown>>(
    // Only messages after this question need a lookup of the question that they answer.
    `select m.id, m.position, m.content, m.sender_role, coalesce(m.metadata ? 'error', false) as has_failed,
       m.metadata ->> 'tool_name' as tool_name, m.metadata -> 'documentIds' as document_ids,
       m.metadata -> 'addresses' as found_addresses
     from messages m
     join messages question on question.id = $2
     where m.conversation_id = $1
       and (m.position < question.position or m.id = question.id or exists (
         select from replies r join messages asked on asked.id = r.message_id
         where r.conversation_id = $1 and r.answer_id = m.id and asked.position < question.position
       ))
       and m.position > coalesce((
         select max(s.through_position) from conversation_summaries s
         where s.conversation_id = $1 and s.through_position < question.position
       ), 0)
     order by m.id = question.id desc, m.position desc limit $3`,
    [conversationId, questionId, limit],
  )
  return rows.reverse()
}

/**
 * A repeat of an id with equal content returns the stored row, so that a client may retry.
 * @throws AppError `conflict` if the id is taken otherwise, `not_found` for a conversation of another person.
 */
export async function addMessage(
  scope: Scope,
  conversationId: string,
  given: NewMessage,
): Promise<{ row: MessageRow; isNew: boolean }> {
  const known = await scope.query('select from conversations where id = $1', [conversationId])
  if (known.rowCount === 0) notFound()
  const inserted = await scope.query<Json<MessageRow>>(
    `insert into messages as m (id, conversation_id, content, sender_role, token_in, token_out, metadata)
     values (coalesce($1, gen_random_uuid()), $2, $3, $4, $5, $6, coalesce($7, '{}'::jsonb))
     on conflict (id) do nothing
     returning to_jsonb(m) as row`,
    [
      given.id,
      conversationId,
      given.content,
      SENDER_ROLES.user,
      given.tokenIn,
      given.tokenOut,
      given.metadata && JSON.stringify(given.metadata),
    ],
  )
  const row = inserted.rows[0]?.row
  if (row) return { row, isNew: true }
  const stored = await scope.query<Json<MessageRow>>(
    'select to_jsonb(m) as row from messages m where id = $1 and conversation_id = $2 and content = $3 and sender_role = $4',
    [given.id, conversationId, given.content, SENDER_ROLES.user],
  )
  const same = stored.rows[0]?.row
  if (!same) throw new AppError('conflict', 'Another message already has this id.')
  return { row: same, isNew: false }
}

function notFound(): never {
  throw new AppError('not_found', 'There is no such conversation.')
}
