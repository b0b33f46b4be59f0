import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { conversationQuery } from '#web/data/conversations.ts'
import { followSpace, type FollowedSpace } from '#web/data/spaces/follow-space.ts'

const TYPING_MS = 3_000

/** Follows a space and tells its members that the person is there; of conversations only the shared ones. */
export function useOwnPresence(space: string | null, chatId: string | null): void {
  const queryClient = useQueryClient()
  const { id: userId } = useUser()
  const followed = useRef<FollowedSpace | null>(null)
  const [isTyping, setTyping] = useState(false)
  const { data: conversation } = useQuery({
    ...conversationQuery(chatId ?? ''),
    enabled: space !== null && chatId !== null,
  })
  const shared = chatId !== null && conversation?.is_shared === true ? chatId : null

  useEffect(() => {
    if (space === null) return
    const following = followSpace(queryClient, space, userId)
    followed.current = following
    return () => {
      followed.current = null
      following.stop()
    }
  }, [queryClient, space, userId])

  useEffect(() => {
    followed.current?.tell({ conversation: shared, typing: shared !== null && isTyping })
  }, [space, shared, isTyping])

  useEffect(() => {
    if (shared === null) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const note = ({ target }: Event): void => {
      if (!(target instanceof HTMLTextAreaElement) || target.closest('main') === null) return
      clearTimeout(timer)
      setTyping(target.value !== '')
      timer = setTimeout(() => setTyping(false), TYPING_MS)
    }
    document.addEventListener('input', note)
    return () => {
      clearTimeout(timer)
      setTyping(false)
      document.removeEventListener('input', note)
    }
  }, [shared])
}
