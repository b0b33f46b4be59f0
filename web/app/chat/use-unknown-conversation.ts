import { useCallback, useEffect, useState } from 'react'
import type { ConversationRow } from '#contract/conversation.ts'
import { setExternalConversation } from '#web/data/thread-store.ts'
import { activeTitle } from '#web/lib/messages/conversation-labels.ts'
import { hasInvalidConversationId, NO_DOCUMENT } from '#web/lib/route-state.ts'
import { toast } from '#web/ui/toast.tsx'
import type { RouteControl } from './use-route-state.ts'

export type ShownConversation = Pick<ConversationRow, 'uid' | 'title'>

type UnknownConversation = {
  isUnknown: boolean
  dismiss: () => void
  /** @param was the conversation as it was shown; null if it never was @param isGivenUp the person gave up the right to read it */
  leave: (was: ShownConversation | null, isGivenUp?: boolean) => void
}

export function announceDeletedConversation(): void {
  setExternalConversation(null)
  toast({ title: 'Chat deleted', description: 'Starting a new conversation' })
}

function announceUnreadable(was: ShownConversation): void {
  setExternalConversation(null)
  toast({
    title: 'Conversation closed',
    description: `“${activeTitle(was)}” was deleted, or is no longer shared with you.`,
  })
}

/** @param onLeave called before the page leaves a conversation that it showed */
export function useUnknownConversation(
  navigate: RouteControl['navigate'],
  userId: string,
  onLeave: () => void,
): UnknownConversation {
  const [isUnknown, setUnknown] = useState(() => hasInvalidConversationId(location.search))
  useEffect(() => {
    if (hasInvalidConversationId(location.search)) navigate({}, { replace: true })
  }, [navigate])
  const leave = useCallback(
    (was: ShownConversation | null, isGivenUp = false) => {
      if (was !== null) onLeave()
      navigate({ chatId: null, ...NO_DOCUMENT }, { replace: true })
      if (was === null) setUnknown(true)
      else if (isGivenUp) setExternalConversation(null)
      else if (was.uid === userId) announceDeletedConversation()
      else announceUnreadable(was)
    },
    [navigate, userId, onLeave],
  )
  return { isUnknown, dismiss: () => setUnknown(false), leave }
}
