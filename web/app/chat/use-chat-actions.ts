import { useQueryClient } from '@tanstack/react-query'
import type { ConversationRow } from '#contract/conversation.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { useAuth } from '#web/data/auth/auth-context.tsx'
import { hasStoredSession } from '#web/data/auth/session.ts'
import { createConversation, cacheConversation, updateConversation, conversationKey } from '#web/data/conversations.ts'
import type { Space } from '#web/data/current-space.ts'
import type { DraftId } from '#web/data/drafts.ts'
import {
  addMessage,
  cacheMessages,
  messagesKey,
  messagesQuery,
  retryReply,
  updateCachedMessages,
  stopReply,
} from '#web/data/messages.ts'
import { moveRecordings } from '#web/data/recordings.ts'
import { readSelectedModel, useSelectedModel } from '#web/data/selected-model.ts'
import { holdQuestion, markReturned, toQuestion, type SentQuestion } from '#web/data/sent-questions.ts'
import { areOwnDocumentsAsked, setOwnDocuments } from '#web/data/spaces/own-documents.ts'
import { addTemporaryMessage, clearTemporaryMessages, setAwaiting, useThreadStore } from '#web/data/thread-store.ts'
import { setTrayOpen } from '#web/features/library/tray-open.ts'
import { failedReplies } from '#web/lib/messages/awaited-reply.ts'
import { mergeMessages, messageKey, temporaryMessage, type Thread } from '#web/lib/messages/merge-messages.ts'
import { toast } from '#web/ui/toast.tsx'
import { reportFailure } from './report-failure.ts'
import type { RouteControl } from './use-route-state.ts'

type ChatActions = {
  send: (text: string) => void
  retry: (conversationId: string) => void
  stop: (conversationId: string) => void
}

const questionMetadata = (space: Space, conversationId: string | null): { ownDocuments: true } | null =>
  space !== null && areOwnDocumentsAsked(conversationId) ? { ownDocuments: true } : null

/** Puts a text that could not be sent back into the message box. */
type RestoreDraft = (draftId: DraftId, text: string) => void

export function useChatActions(route: RouteControl, restoreDraft: RestoreDraft): ChatActions {
  const queryClient = useQueryClient()
  const { user } = useAuth()

  const putBack = (question: SentQuestion): void => {
    markReturned(question)
    restoreDraft(question.draftId, question.text)
  }

  /** Creates the conversation, stores the question, then shows both. Until then the question is a temporary message. */
  const startChat = async (userId: string, text: string): Promise<void> => {
    const question = toQuestion(route.spaceId, text, crypto.randomUUID())
    const { id: pendingId } = question
    const endSending = holdQuestion(userId, question)
    const metadata = questionMetadata(route.spaceId, null)
    addTemporaryMessage(temporaryMessage('', text, pendingId))
    /** False if the person has opened something else meanwhile. */
    const endTemporary = (): boolean => {
      const isShown = useThreadStore.getState().tempMessages.some((message) => message.pendingId === pendingId)
      if (isShown) clearTemporaryMessages()
      return isShown
    }
    let conversation: ConversationRow
    try {
      const modelName = await readSelectedModel(queryClient, userId, route.spaceId)
      conversation = await createConversation({
        id: question.conversationId,
        userId,
        space: route.spaceId,
        modelName,
      })
    } catch (error) {
      endTemporary()
      putBack(question)
      endSending()
      return void reportFailure(error, 'Failed to create conversation. Please try again.')
    }
    cacheConversation(queryClient, conversation)
    moveRecordings(userId, null, conversation.id)
    if (metadata !== null) setOwnDocuments(conversation.id, true)
    try {
      const row = await addMessage(conversation.id, pendingId, { content: text, metadata })
      queryClient.setQueryData<Thread>(messagesKey(conversation.id), (thread) => ({
        messages: mergeMessages(thread?.messages ?? [], [row]),
        hasEarlier: thread?.hasEarlier ?? false,
      }))
    } catch (error) {
      // The conversation exists, so the text goes into its box: a retry must not create a second one.
      putBack({ ...question, draftId: conversation.id })
      void reportFailure(error, 'Failed to send message. Please try again.')
    }
    endSending()
    if (endTemporary()) route.navigate({ spaceId: conversation.space_id ?? null, chatId: conversation.id })
  }

  const takeSelectedModel = async (userId: string, conversationId: string): Promise<void> => {
    const { identifier } = useSelectedModel.getState()
    const conversation = queryClient.getQueryData<ConversationRow | null>(conversationKey(conversationId))
    if (identifier === null || !conversation || conversation.model_name === identifier) return
    // Only the author of a shared conversation chooses its model.
    if (conversation.uid !== userId) return
    cacheConversation(queryClient, await updateConversation(conversationId, userId, { model_name: identifier }))
  }

  /** Shows the question at once as a temporary message; the stored row replaces it. */
  const continueChat = async (userId: string, conversationId: string, text: string): Promise<void> => {
    const question = toQuestion(conversationId, text, conversationId)
    const { id: pendingId } = question
    const endSending = holdQuestion(userId, question)
    const message = temporaryMessage(conversationId, text, pendingId)
    const metadata = questionMetadata(route.spaceId, conversationId)
    try {
      await queryClient.query({ ...messagesQuery(conversationId), staleTime: 'static' })
      setAwaiting(conversationId, null)
      cacheMessages(queryClient, conversationId, [message])
      await takeSelectedModel(userId, conversationId)
      cacheMessages(queryClient, conversationId, [
        await addMessage(conversationId, pendingId, { content: text, metadata }),
      ])
    } catch (error) {
      updateCachedMessages(queryClient, conversationId, (messages) => messages.filter(({ id }) => id !== message.id))
      putBack(question)
      void reportFailure(error, 'Failed to process your message. Please try again.')
    }
    endSending()
  }

  const send = (text: string): void => {
    if (user === null || !hasStoredSession()) {
      toast({ title: 'Error', description: 'You must be logged in to send messages.', variant: 'destructive' })
      return restoreDraft(route.chatId ?? route.spaceId, text)
    }
    // On a phone the upload rows would leave no room for the answer.
    setTrayOpen(false)
    void (route.chatId === null ? startChat(user.id, text) : continueChat(user.id, route.chatId, text))
  }

  const messagesOf = (conversationId: string): Thread['messages'] =>
    queryClient.getQueryData<Thread>(messagesKey(conversationId))?.messages ?? []

  /** The new answer reuses the id of the failed one, which must leave the thread before it arrives. */
  const retry = async (conversationId: string): Promise<void> => {
    const failed = failedReplies(messagesOf(conversationId))
    setAwaiting(conversationId, { kind: 'retrying', failedIds: failed.map(({ id }) => id) })
    try {
      await retryReply(conversationId)
      updateCachedMessages(queryClient, conversationId, (messages) =>
        messages.filter((message) => !failed.includes(message)),
      )
    } catch (error) {
      void reportFailure(error, 'Failed to process your message. Please try again.')
    }
    setAwaiting(conversationId, null)
  }

  const stop = async (conversationId: string): Promise<void> => {
    try {
      await stopReply(conversationId)
      const question = messagesOf(conversationId).findLast(({ sender_role }) => sender_role === SENDER_ROLES.user)
      if (question !== undefined) setAwaiting(conversationId, { kind: 'ended', questionId: messageKey(question) })
    } catch (error) {
      void reportFailure(error, 'The answer could not be stopped. Please try again.')
    }
  }

  return {
    send,
    retry: (conversationId) => void retry(conversationId),
    stop: (conversationId) => void stop(conversationId),
  }
}
