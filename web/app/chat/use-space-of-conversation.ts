import { useEffect } from 'react'
import type { ConversationRow } from '#contract/conversation.ts'
import { useRouteState } from './use-route-state.ts'

/** Shows the space that the open conversation is in: it may have been moved, or opened by an address without one. */
export function useSpaceOfConversation(conversation: ConversationRow | null | undefined): void {
  const { spaceId, navigate } = useRouteState()
  const wanted = conversation ? (conversation.space_id ?? null) : undefined
  useEffect(() => {
    if (wanted !== undefined && wanted !== spaceId) navigate({ spaceId: wanted }, { replace: true })
  }, [wanted, spaceId, navigate])
}
