import { SENDER_ROLES } from '#contract/sender-roles.ts'
import type { ThreadMessage } from './merge-messages.ts'

/**
 * Overrides whether a conversation waits for a reply: `retrying` a failed reply, `rewriting` while an answer gets a newer
 * attempt than `attempt`, `ended` after the question `questionId` will get no reply.
 */
export type Awaiting =
  | { kind: 'retrying'; failedIds: string[] }
  | { kind: 'rewriting'; messageId: string; attempt: number }
  | { kind: 'ended'; questionId: string }

export function visibleMessages(
  messages: readonly ThreadMessage[],
  awaiting: Awaiting | undefined,
): readonly ThreadMessage[] {
  if (awaiting?.kind !== 'retrying') return messages
  return messages.filter((message) => !awaiting.failedIds.includes(message.id))
}

/** Whether the last question has no answer yet, or an answer is being rewritten. Tool messages are no answer. */
export function isWaiting(messages: readonly ThreadMessage[], awaiting: Awaiting | undefined): boolean {
  if (awaiting?.kind === 'rewriting') {
    const { messageId, attempt } = awaiting
    return messages.some(({ id, metadata }) => id === messageId && (metadata?.attempt ?? 0) <= attempt)
  }
  const last = visibleMessages(messages, awaiting).findLast((message) => message.sender_role !== SENDER_ROLES.tool)
  if (last === undefined || last.sender_role !== SENDER_ROLES.user) return false
  return awaiting?.kind !== 'ended' || awaiting.questionId !== (last.pendingId ?? last.id)
}

export function failedReplies(messages: readonly ThreadMessage[]): ThreadMessage[] {
  const lastQuestion = messages.findLastIndex((message) => message.sender_role === SENDER_ROLES.user)
  return messages.filter((message, index) => index > lastQuestion && message.metadata?.error !== undefined)
}
