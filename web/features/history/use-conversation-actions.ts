import { useQueryClient } from '@tanstack/react-query'
import type { ListedConversation } from '#contract/conversation.ts'
import {
  deleteConversation,
  refetchConversationLists,
  removeCachedConversation,
  cacheConversation,
  updateConversation,
} from '#web/data/conversations.ts'
import { describeFailure } from '#web/data/load-refusal.ts'
import { toast } from '#web/ui/toast.tsx'

type ConversationActions = {
  setPinned: (row: ListedConversation, pinned: boolean) => void
  remove: (row: ListedConversation) => void
}

export function useConversationActions(userId: string, onDeleted: (id: string) => void): ConversationActions {
  const queryClient = useQueryClient()

  const setPinned = async (row: ListedConversation, pinned: boolean): Promise<void> => {
    try {
      cacheConversation(queryClient, await updateConversation(row.id, userId, { pinned }))
      toast(
        pinned
          ? { title: 'Conversation pinned', description: 'The conversation has been pinned to the top' }
          : { title: 'Conversation unpinned', description: 'The conversation has been unpinned' },
      )
    } catch (error) {
      toast(await describeFailure(error, `Failed to ${pinned ? 'pin' : 'unpin'} conversation. Please try again.`))
    }
  }

  const remove = async (row: ListedConversation): Promise<void> => {
    try {
      await deleteConversation(row.id)
      removeCachedConversation(queryClient, userId, row.id)
      toast({ title: 'Conversation deleted', description: 'The conversation has been removed' })
      onDeleted(row.id)
      await refetchConversationLists(queryClient)
    } catch (error) {
      toast(await describeFailure(error, 'Failed to delete conversation. Please try again.'))
    }
  }

  return {
    setPinned: (row, pinned) => void setPinned(row, pinned),
    remove: (row) => void remove(row),
  }
}
