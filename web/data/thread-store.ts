/** Unsaved messages, streamed replies, and the awaited reply of each conversation. */
import { create } from 'zustand'
import type { Awaiting } from '#web/lib/messages/awaited-reply.ts'
import type { ThreadMessage } from '#web/lib/messages/merge-messages.ts'
import type { ReplyView } from '#web/lib/messages/reply-parts.ts'

type ThreadState = {
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

export function receiveAnswer(conversationId: string, content: string): void {
  useThreadStore.setState({ lastAIResponse: content })
  setAwaiting(conversationId, null)
}

export function resetThreadStore(): void {
  useThreadStore.setState(useThreadStore.getInitialState(), true)
}
