import { TEMPORARY_ID_PREFIX } from '#contract/limits.ts'
import type { MessageRow } from '#contract/message.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'

/**
 * A message as the page holds it. While it is on its way to the server its id is `temp-` plus a time stamp and
 * `pendingId` is the id that the stored row will have. `writing`: the answer is being written anew, as far as it is shown.
 */
export type ThreadMessage = MessageRow & { pendingId?: string; writing?: true }

/** The messages at hand, oldest first, and whether older ones are still to be had. */
export type Thread = { messages: ThreadMessage[]; hasEarlier: boolean }

export const isTemporary = (message: ThreadMessage): boolean => message.id.startsWith(TEMPORARY_ID_PREFIX)

/** The same from the optimistic message to the stored row, so that nothing on the page is built twice. */
export const messageKey = (message: ThreadMessage): string => message.pendingId ?? message.id

/** The optimistic message of a person, shown after all stored ones until the row `pendingId` arrives. */
export function temporaryMessage(conversationId: string, content: string, pendingId: string): ThreadMessage {
  const now = new Date()
  return {
    id: `${TEMPORARY_ID_PREFIX}${now.getTime()}`,
    pendingId,
    conversation_id: conversationId,
    content,
    sender_role: SENDER_ROLES.user,
    token_in: null,
    token_out: null,
    created_at: now.toISOString(),
    metadata: null,
    position: Number.MAX_SAFE_INTEGER,
  }
}

/**
 * Adds or replaces rows by id, drops the optimistic messages that they stand for, and keeps the database's order. A row
 * that says nothing new keeps its identity, and with it what was drawn for it.
 */
export function mergeMessages(known: readonly ThreadMessage[], incoming: readonly ThreadMessage[]): ThreadMessage[] {
  const before = new Map(known.map((message) => [message.id, message]))
  const arrived = new Set(incoming.map((message) => message.id))
  const kept = known.filter((message) => !arrived.has(message.id) && !arrived.has(message.pendingId ?? message.id))
  const fresh = incoming.map((message) => {
    const same = before.get(message.id)
    return same !== undefined && JSON.stringify(same) === JSON.stringify(message) ? same : message
  })
  return [...kept, ...fresh].toSorted((a, b) => a.position - b.position)
}

/** What is at hand, with the newest page read again; what lies before a gap is given up, to be loaded when it is wanted. */
export function mergeNewest({ messages, hasEarlier }: Thread, newest: Thread): Thread {
  const from = newest.messages[0]?.position ?? 0
  const stored = new Set(newest.messages.map(({ id }) => id))
  const hasGap = newest.hasEarlier && !messages.some(({ id }) => stored.has(id))
  const surviving = messages.filter(
    ({ id, position, pendingId }) => pendingId !== undefined || stored.has(id) || (position < from && !hasGap),
  )
  return { messages: mergeMessages(surviving, newest.messages), hasEarlier: hasGap || hasEarlier }
}
