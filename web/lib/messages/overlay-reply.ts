/** An answer that is there and written anew, or goes on: what is written of it is shown in its place. */
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import type { ThreadMessage } from './merge-messages.ts'
import type { ReplyView } from './reply-parts.ts'

/** Whether a stored answer holds what this reply wrote, or something later. */
export const isReplyStored = (message: ThreadMessage, reply: Pick<ReplyView, 'messageId' | 'attempt'>): boolean =>
  message.id === reply.messageId && (message.metadata?.attempt ?? 0) >= reply.attempt

/** A reply that has no row yet, in the shape of one. */
export const replyAsMessage = (reply: ReplyView): ThreadMessage => ({
  id: reply.messageId,
  conversation_id: '',
  content: reply.text,
  sender_role: SENDER_ROLES.assistant,
  token_in: null,
  token_out: null,
  created_at: '',
  metadata: { sources: reply.sources, reasoning: reply.reasoning, stopped: reply.phase === 'stopped' },
  position: Number.MAX_SAFE_INTEGER,
  writing: true,
})

export type ReplyOverlay = {
  messages: readonly ThreadMessage[]
  /** The reply that has no stored answer yet. */
  reply: ReplyView | null
  /** A stored answer is being written anew. */
  rewriting: boolean
}

/** Until its first part has come, the stored answer stays in view. */
export function overlayReply(messages: readonly ThreadMessage[], reply: ReplyView | null): ReplyOverlay {
  const index = reply === null ? -1 : messages.findIndex(({ id }) => id === reply.messageId)
  const stored = messages[index]
  if (reply === null || stored === undefined) return { messages, reply, rewriting: false }
  if (isReplyStored(stored, reply)) return { messages, reply: null, rewriting: false }
  if (reply.seq < 1) return { messages, reply: null, rewriting: true }
  const { text: content, sources, reasoning } = reply
  const { version } = stored.metadata ?? {}
  const metadata = { sources, reasoning, ...(version === undefined ? {} : { version }) }
  return {
    messages: messages.with(index, { ...stored, content, metadata, writing: true }),
    reply: null,
    rewriting: true,
  }
}
