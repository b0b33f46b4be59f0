import { SENDER_ROLES } from '#contract/sender-roles.ts'
import type { ThreadMessage } from './merge-messages.ts'

type Awaiting =
  | { kind: 'asked'; ignored: string[] }
  | { kind: 'rewriting'; messageId: string; attempt: number }
  | { kind: 'ended'; questionId: string }

/** The messages to show: failed replies that have been asked for again are left out until the new one is there. */
export function visibleMessages(
  messages: readonly ThreadMessage[],
  awaiting: Awaiting | undefined,
): readonly ThreadMessage[] {
  if (awaiting?.kind !== 'asked') return messages
  return messages.filter((message) => !awaiting.ignored.includes(message.id))
}

/** Whether the last question has no answer yet, or a newer one is awaited; tool messages are none. */
export function isWaiting(messages: readonly ThreadMessage[], awaiting: Awaiting | undefined): boolean {
  if (awaiting?.kind === 'rewriting') {
    const { messageId, attempt } = awaiting
    return messages.some(({ id, metadata }) => id === messageId && (metadata?.attempt ?? 0) <= attempt)
  }
  const last = visibleMessages(messages, awaiting).findLast((message) => message.sender_role !== SENDER_ROLES.tool)
  if (last === undefined || last.sender_role !== SENDER_ROLES.user) return false
  return awaiting?.kind !== 'ended' || awaiting.questionId !== (last.pendingId ?? last.id)
}

/** The failed replies after the last question. */
export function failedReplies(messages: readonly ThreadMessage[]): ThreadMessage[] {
  const lastQuestion = messages.findLastIndex((message) => message.sender_role === SENDER_ROLES.user)
  return messages.filter((message, index) => index > lastQuestion && message.metadata?.error !== undefined)
}
