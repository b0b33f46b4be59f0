import { TEMPORARY_ID_PREFIX } from '#contract/limits.ts'
import type { MessageRow } from '#contract/message.ts'

/**
 * A message as the page holds it. While it is on its way to the server its id is `temp-` plus a time stamp and
 * `pendingId` is the id that the stored row will have.
 */
export type ThreadMessage = MessageRow & { pendingId?: string }

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
    sender_role: 1,
    token_in: null,
    token_out: null,
    created_at: now.toISOString(),
    metadata: null,
    position: Number.MAX_SAFE_INTEGER,
  }
}

/** Adds or replaces rows by id, drops the optimistic messages that they stand for, and keeps the database's order. */
export function mergeMessages(known: readonly ThreadMessage[], incoming: readonly ThreadMessage[]): ThreadMessage[] {
  const arrived = new Set(incoming.map((message) => message.id))
  const kept = known.filter((message) => !arrived.has(message.id) && !arrived.has(message.pendingId ?? message.id))
  return [...kept, ...incoming].toSorted((a, b) => a.position - b.position)
}
