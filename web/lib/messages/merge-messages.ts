import type { MessageRow } from '#contract/message.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'

/** `pendingId`: id of the future row of an unsaved message. `writing`: a new version of the answer is streaming. */
export type ThreadMessage = MessageRow & { pendingId?: string; writing?: true }

export type Thread = { messages: ThreadMessage[]; hasEarlier: boolean }

const TEMPORARY_ID_PREFIX = 'temp-'

export const isTemporary = (message: ThreadMessage): boolean => message.id.startsWith(TEMPORARY_ID_PREFIX)

/** Stays the same when the stored row replaces the optimistic message, so that React keeps its elements. */
export const messageKey = (message: ThreadMessage): string => message.pendingId ?? message.id

export function temporaryMessage(conversationId: string, content: string, pendingId: string): ThreadMessage {
  const now = new Date()
  return {
    id: `${TEMPORARY_ID_PREFIX}${now.getTime()}`,
    pendingId,
    conversation_id: conversationId,
    content,
    sender_role: SENDER_ROLES.user,
    author: null,
    token_in: null,
    token_out: null,
    created_at: now.toISOString(),
    metadata: null,
    position: Number.MAX_SAFE_INTEGER,
  }
}

/** Drops the optimistic messages that rows replace, and sorts by position. An equal row keeps its identity. */
export function mergeMessages(known: readonly ThreadMessage[], incoming: readonly ThreadMessage[]): ThreadMessage[] {
  const before = new Map(known.map((message) => [message.id, message]))
  const arrived = new Set(incoming.map((message) => message.id))
  const remaining = known.filter((message) => !arrived.has(message.id) && !arrived.has(message.pendingId ?? message.id))
  const fresh = incoming.map((message) => {
    const same = before.get(message.id)
    return same !== undefined && JSON.stringify(same) === JSON.stringify(message) ? same : message
  })
  return [...remaining, ...fresh].toSorted((a, b) => a.position - b.position)
}

/** Leaves out rows before the loaded ones: they would hide that those between are missing. */
export function mergeIntoThread(thread: Thread, incoming: readonly ThreadMessage[]): Thread {
  const from = thread.hasEarlier ? (thread.messages[0]?.position ?? 0) : Number.NEGATIVE_INFINITY
  const within = incoming.filter(({ position }) => position >= from)
  return { ...thread, messages: mergeMessages(thread.messages, within) }
}

/** If the page does not overlap the loaded messages, those before the gap are dropped and loaded again on demand. */
export function mergeNewest({ messages, hasEarlier }: Thread, newest: Thread): Thread {
  const from = newest.messages[0]?.position ?? 0
  const stored = new Set(newest.messages.map(({ id }) => id))
  const hasGap = newest.hasEarlier && !messages.some(({ id }) => stored.has(id))
  const surviving = messages.filter(
    ({ id, position, pendingId }) => pendingId !== undefined || stored.has(id) || (position < from && !hasGap),
  )
  return { messages: mergeMessages(surviving, newest.messages), hasEarlier: hasGap || hasEarlier }
}
