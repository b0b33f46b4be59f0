import { useCallback, useEffect, useState } from 'react'
import { setExternalConversation } from '#web/data/thread-store.ts'
import { hasInvalidConversationId, NO_DOCUMENT } from '#web/lib/route-state.ts'
import { toast } from '#web/ui/toast.tsx'
import type { RouteControl } from './use-route-state.ts'

type UnknownConversation = {
  isUnknown: boolean
  dismiss: () => void
  leave: (wasDeleted: boolean) => void
}

export function announceDeletedConversation(): void {
  setExternalConversation(null)
  toast({ title: 'Chat deleted', description: 'Starting a new conversation' })
}

export function useUnknownConversation(navigate: RouteControl['navigate']): UnknownConversation {
  const [isUnknown, setUnknown] = useState(() => hasInvalidConversationId(location.search))
  useEffect(() => {
    if (hasInvalidConversationId(location.search)) navigate({}, { replace: true })
  }, [navigate])
  const leave = useCallback(
    (wasDeleted: boolean) => {
      navigate({ chatId: null, ...NO_DOCUMENT }, { replace: true })
      if (wasDeleted) announceDeletedConversation()
      else setUnknown(true)
    },
    [navigate],
  )
  return { isUnknown, dismiss: () => setUnknown(false), leave }
}
