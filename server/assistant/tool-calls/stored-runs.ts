import { z } from 'zod'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import type { ClaimedReply } from '#server/assistant/lease/claimed-reply.ts'
import type { ToolRun } from '#server/assistant/tools/outcome.ts'
import type { Scope } from '#server/database/scope.ts'

const storedRun = z.object({
  content: z.string(),
  metadata: z.object({ tool_name: z.string(), status: z.enum(['done', 'failed']), duration_ms: z.number() }),
})

/** The runs of one answer, commands of its question first, by position, which a branch preserves. Runs as the person. */
export async function readRuns(
  scope: Scope,
  { conversationId, messageId, answerId }: ClaimedReply,
): Promise<ToolRun[]> {
  const { rows } = await scope.query(
    `select m.content, m.metadata
     from messages m
     join messages question on question.id = $2
     join messages answer on answer.id = $3
     where m.conversation_id = $1 and m.sender_role = ${SENDER_ROLES.tool} and m.position > question.position and m.position < answer.position
     order by m.position`,
    [conversationId, messageId, answerId],
  )
  return z
    .array(storedRun)
    .catch([])
    .parse(rows)
    .map(({ content, metadata: { tool_name: name, status, duration_ms: durationMs } }) => ({
      name,
      status,
      durationMs,
      content,
    }))
}
