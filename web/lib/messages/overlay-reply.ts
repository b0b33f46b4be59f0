/** Shows a streamed new version of an answer in place of the stored one. */
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import type { ThreadMessage } from './merge-messages.ts'
import type { ReplyView } from './reply-parts.ts'

/** Whether a stored answer has the text of this reply or of a later attempt. */
export const isReplyStored = (message: ThreadMessage, reply: Pick<ReplyView, 'messageId' | 'attempt'>): boolean =>
  message.id === reply.messageId && (message.metadata?.attempt ?? 0) >= reply.attempt

export const replyAsMessage = (reply: ReplyView): ThreadMessage => ({
  id: reply.messageId,
  conversation_id: '',
  content: reply.text,
  sender_role: SENDER_ROLES.assistant,
  author: null,
  token_in: null,
  token_out: null,
  created_at: '',
  metadata: { sources: reply.sources, reasoning: reply.reasoning, stopped: reply.phase === 'stopped' },
  position: Number.MAX_SAFE_INTEGER,
  writing: true,
})

export type ReplyOverlay = {
  messages: readonly ThreadMessage[]
  reply: ReplyView | null
  rewriting: boolean
}

/** The stored answer stays until the first part of its new version. */
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
