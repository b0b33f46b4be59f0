/** The messages that are not stored yet, the replies that are being written, and what is awaited. */
import { create } from 'zustand'
import type { ThreadMessage } from '#web/lib/messages/merge-messages.ts'
import type { ReplyView } from '#web/lib/messages/reply-parts.ts'

/**
 * Why a conversation is or is not waiting, where its messages alone do not say: `asked` since a failed reply was asked
 * for again (the rows in `ignored` are the failed ones), `rewriting` since another version or the rest of an answer was
 * asked for that this attempt had written, `ended` since the waiting for the question `questionId` ended without a row.
 */
export type Awaiting =
  | { kind: 'asked'; ignored: string[] }
  | { kind: 'rewriting'; messageId: string; attempt: number }
  | { kind: 'ended'; questionId: string }

type ThreadState = {
  /** The visible thread of a conversation that has not been created yet. */
  tempMessages: ThreadMessage[]
  externalApiConversationId: string | null
  lastAIResponse: string | null
  replies: Record<string, ReplyView>
  awaiting: Record<string, Awaiting>
}

export const useThreadStore = create<ThreadState>(() => ({
  tempMessages: [],
  externalApiConversationId: null,
  lastAIResponse: null,
  replies: {},
  awaiting: {},
}))

const without = <T>(record: Record<string, T>, key: string): Record<string, T> => {
  const { [key]: _dropped, ...rest } = record
  return rest
}

/** Sets the external conversation id; null also clears the temporary messages. */
export function setExternalConversation(id: string | null): void {
  useThreadStore.setState({ externalApiConversationId: id, ...(id === null ? { tempMessages: [] } : {}) })
}

export function addTemporaryMessage(message: ThreadMessage): void {
  useThreadStore.setState(({ tempMessages }) => ({ tempMessages: [...tempMessages, message] }))
}

export function clearTemporaryMessages(): void {
  useThreadStore.setState({ tempMessages: [] })
}

export function setReply(conversationId: string, reply: ReplyView | null): void {
  useThreadStore.setState(({ replies }) => ({
    replies: reply === null ? without(replies, conversationId) : { ...replies, [conversationId]: reply },
  }))
}

export function setAwaiting(conversationId: string, awaiting: Awaiting | null): void {
  useThreadStore.setState((state) => ({
    awaiting:
      awaiting === null ? without(state.awaiting, conversationId) : { ...state.awaiting, [conversationId]: awaiting },
  }))
}

/** An answer has been stored: it is remembered, and nothing is awaited in its conversation any more. */
export function receiveAnswer(conversationId: string, content: string): void {
  useThreadStore.setState({ lastAIResponse: content })
  setAwaiting(conversationId, null)
}

/** Forgets everything, when somebody signs out. */
export function resetThreadStore(): void {
  useThreadStore.setState(useThreadStore.getInitialState(), true)
}
