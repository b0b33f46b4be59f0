import { useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { branchConversation, continueAnswer, regenerateAnswer } from '#web/data/answers.ts'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { cacheConversation, updateConversation } from '#web/data/conversations.ts'
import { messagesKey } from '#web/data/messages.ts'
import { useSelectedModel } from '#web/data/selected-model.ts'
import { setAwaiting } from '#web/data/thread-store.ts'
import { openProviderKeyForm } from '#web/data/provider-key-form.ts'
import type { ThreadActions } from '#web/features/thread/actions/thread-actions.tsx'
import type { Thread } from '#web/lib/messages/merge-messages.ts'
import type { Navigation } from './navigation.tsx'
import { reportFailure } from './report-failure.ts'
import type { OpenConversation } from './use-conversation.ts'

type AnswerActions = {
  /** Null while a reply is awaited. */
  thread: ThreadActions | null
  rename: (title: string) => Promise<boolean>
}

export function useAnswerActions(
  id: string,
  open: OpenConversation,
  { openBranch, openSettings }: Navigation,
): AnswerActions {
  const queryClient = useQueryClient()
  const { id: userId } = useUser()
  const modelName = open.conversation?.model_name ?? null
  const { waiting } = open

  const thread = useMemo((): ThreadActions => {
    /** Awaits the reply from the press on, before its first part arrives. */
    const ask = async (messageId: string, request: () => Promise<void>): Promise<void> => {
      const { messages } = queryClient.getQueryData<Thread>(messagesKey(id)) ?? { messages: [] }
      const attempt = messages.find((message) => message.id === messageId)?.metadata?.attempt ?? 0
      setAwaiting(id, { kind: 'rewriting', messageId, attempt })
      try {
        await request()
      } catch (error) {
        setAwaiting(id, null)
        void reportFailure(error, 'The answer could not be asked for. Please try again.')
      }
    }
    return {
      modelName,
      regenerate: (messageId, wanted) => void ask(messageId, () => regenerateAnswer(id, messageId, wanted)),
      continueAnswer: (messageId) => void ask(messageId, () => continueAnswer(id, messageId)),
      addKey: (provider) => {
        openProviderKeyForm(provider)
        openSettings()
      },
      branch: async (messageId, content) => {
        const { identifier } = useSelectedModel.getState()
        const branch = {
          id: crypto.randomUUID(),
          message_id: messageId,
          new_message_id: crypto.randomUUID(),
          content,
          ...(identifier === null ? {} : { model_name: identifier }),
        }
        try {
          cacheConversation(queryClient, await branchConversation(id, branch))
        } catch (error) {
          void reportFailure(error, 'The branch could not be made. Please try again.')
          return false
        }
        openBranch(branch.id)
        return true
      },
    }
  }, [queryClient, id, modelName, openBranch, openSettings])

  return {
    thread: waiting || open.thread === null ? null : thread,
    rename: async (title) => {
      try {
        cacheConversation(queryClient, await updateConversation(id, userId, { title }))
        return true
      } catch (error) {
        void reportFailure(error, 'Failed to rename conversation. Please try again.')
        return false
      }
    },
  }
}
