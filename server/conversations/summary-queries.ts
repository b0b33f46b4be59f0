import { SENDER_ROLES } from '#contract/sender-roles.ts'
import type { Scope } from '#server/database/scope.ts'

export interface StoredSummary {
  readonly id: string
  readonly content: string
  readonly throughPosition: number
}

/** The summary that reaches furthest but not to the question; undefined if there is none. */
export async function readSummary(
  scope: Scope,
  conversationId: string,
  questionId: string,
): Promise<StoredSummary | undefined> {
  const { rows } = await scope.prepared<{ id: string; content: string; throughPosition: number }>(
    `select s.id, s.content, s.through_position as "throughPosition"
     from conversation_summaries s join messages question on question.id = $2
     where s.conversation_id = $1 and s.through_position < question.position
     order by s.through_position desc limit 1`,
    [conversationId, questionId],
  )
  return rows[0]
}

interface NewSummary {
  readonly conversationId: string
  readonly throughPosition: number
  readonly content: string
  readonly model: string
}

/** Replaces a summary that reaches as far. Runs as the service. @returns its id. */
export async function storeSummary(
  scope: Scope,
  { conversationId, throughPosition, content, model }: NewSummary,
): Promise<string | undefined> {
  await scope.query('delete from conversation_summaries where conversation_id = $1 and through_position = $2', [
    conversationId,
    throughPosition,
  ])
  const { rows } = await scope.query<{ id: string }>(
    `insert into conversation_summaries (conversation_id, through_position, messages, content, model)
     select c.id, $2, (select count(*) from messages m where m.conversation_id = c.id and m.position <= $2 and m.sender_role <> ${SENDER_ROLES.tool}), $3, $4
     from conversations c where c.id = $1
     on conflict do nothing
     returning id`,
    [conversationId, throughPosition, content, model],
  )
  return rows[0]?.id
}
