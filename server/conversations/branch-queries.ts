import { randomUUID } from 'node:crypto'
import type { ConversationRow, NewBranch } from '#contract/conversation.ts'
import { messageMetadata } from '#contract/message.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { AppError } from '#server/base/errors.ts'
import { ENFORCE_QUOTAS } from '#server/database/quotas.ts'
import type { Claims, Database, Scope } from '#server/database/scope.ts'
import { addMessage, getConversation } from './queries.ts'
import { lockConversation } from './reply-queries.ts'

// Copies keep order, times and sources, and count as answered, so that an answer of the branch can be rewritten.
const COPY = `
  with shared as materialized (
    select m.*, gen_random_uuid() as copy_id,
      case when m.sender_role = ${SENDER_ROLES.user} then coalesce(m.author, case when c.space_id is null then c.uid end) end as asker
    from messages m join conversations c on c.id = m.conversation_id
    where m.conversation_id = $1 and m.position < $2
  ), copied as (
    insert into messages (id, conversation_id, content, sender_role, token_in, token_out, created_at, metadata, author)
    select copy_id, $3, content, sender_role, token_in, token_out, created_at,
      metadata - '{version,attempt,rewrite_error}'::text[], asker
    from shared order by position
    returning id
  )
  select question.copy_id as question, answer.copy_id as answer
  from replies r
  join shared question on question.id = r.message_id
  join shared answer on answer.id = r.answer_id
  where (select count(*) from copied) >= 0`

async function copyBeginning(scope: Scope, from: string, before: number, to: string, owner: string): Promise<void> {
  await scope.query(`select set_config('alcove.copies_answered', 'on', true)`)
  const { rows } = await scope.query<{ question: string; answer: string }>(COPY, [from, before, to])
  await scope.query(
    `insert into replies (message_id, answer_id, conversation_id, owner, state, finished_at)
     select question, answer, $2, $3, 'done', now() from jsonb_to_recordset($1) as pairs (question uuid, answer uuid)`,
    [JSON.stringify(rows), to, owner],
  )
  await scope.query(`select set_config('alcove.copies_answered', 'off', true)`)
}

/** Only the chosen documents and the time zone are copied; external clients may have stored another shape. */
const copiedMetadata = messageMetadata.pick({ documentIds: true, timeZone: true }).strip().catch({})

async function findQuestion(scope: Scope, conversationId: string, messageId: string) {
  const { rows } = await scope.query<{ position: number; metadata: unknown }>(
    `select position, jsonb_strip_nulls(jsonb_build_object('documentIds', metadata -> 'documentIds', 'timeZone', metadata -> 'timeZone')) as metadata
     from messages where id = $1 and conversation_id = $2 and sender_role = $3`,
    [messageId, conversationId, SENDER_ROLES.user],
  )
  if (!rows[0]) throw new AppError('not_found', 'There is no such message of yours.')
  const { position, metadata } = rows[0]
  return { position, metadata: copiedMetadata.parse(metadata) }
}

async function findBranch(scope: Scope, id: string, from: string): Promise<ConversationRow | undefined> {
  const { rows } = await scope.query<{ row: ConversationRow }>(
    `select to_jsonb(c) as row from conversations c where id = $1 and metadata ->> 'branched_from' = $2`,
    [id, from],
  )
  return rows[0]?.row
}

/** Where the person may have conversations of its own, and so a branch. @throws AppError `not_found`, `forbidden` */
async function getAskable(scope: Scope, id: string): Promise<ConversationRow> {
  const conversation = await getConversation(scope, id)
  const { rows } = await scope.query<{ may: boolean }>(
    `select $1::uuid is null or $1 = any (spaces_to('ask')) as may`,
    [conversation.space_id],
  )
  if (rows[0]?.may !== true) throw new AppError('forbidden', 'This space is archived: nothing is asked in it any more.')
  return conversation
}

/**
 * For a locked conversation: its person may have been removed, or it may have been moved or unshared, since it was read.
 * @throws AppError `not_found`
 */
async function requireStillAskable(scope: Scope, { id, space_id }: ConversationRow, person: string): Promise<void> {
  const { rows } = await scope.query<{ may: boolean }>(
    `select c.space_id is null or hold_space_right($2, c.space_id, 'ask') as may from conversations c
     where c.id = $1 and (c.uid = $2 or c.is_shared) and c.space_id is not distinct from $3`,
    [id, person, space_id],
  )
  if (rows[0]?.may !== true) throw new AppError('not_found', 'There is no such conversation.')
}

/** Atomic; in the space of the original, and not shared; a repeated `id` returns the first result. @throws AppError `not_found`, or `conflict` if the id is taken. */
export async function branchConversation(
  database: Database,
  asPerson: Claims & { readonly sub: string },
  conversationId: string,
  branch: NewBranch,
): Promise<{ row: ConversationRow; isNew: boolean }> {
  const { id = randomUUID(), message_id, new_message_id, content } = branch
  const { left, replaced, known } = await database.asUser(asPerson, async (scope) => ({
    left: await getAskable(scope, conversationId),
    replaced: await findQuestion(scope, conversationId, message_id),
    known: await findBranch(scope, id, conversationId),
  }))
  if (known) return { row: known, isNew: false }
  const row = await database.asService(
    async (scope) => {
      await lockConversation(scope, conversationId)
      await requireStillAskable(scope, left, asPerson.sub)
      const made = await scope.query<{ row: ConversationRow }>(
        `insert into conversations as c (id, uid, title, model_name, metadata, space_id) values ($1, $2, $3, $4, $5, $6)
       on conflict (id) do nothing returning to_jsonb(c) as row`,
        [
          id,
          asPerson.sub,
          left.title,
          branch.model_name ?? left.model_name,
          JSON.stringify({ branched_from: conversationId, branched_at: message_id }),
          left.space_id,
        ],
      )
      if (!made.rows[0]) throw new AppError('conflict', 'Another conversation already has this id.')
      await copyBeginning(scope, conversationId, replaced.position, id, asPerson.sub)
      await addMessage(scope, id, { id: new_message_id, content, metadata: replaced.metadata }, asPerson.sub)
      return made.rows[0].row
    },
    { settings: ENFORCE_QUOTAS },
  )
  return { row, isNew: true }
}
