import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useRef } from 'react'
import { forgetSpace } from '#web/data/spaces/forget-space.ts'
import { spacesQuery, type OwnSpace } from '#web/data/spaces/spaces.ts'
import { ROLE_WORDS, withArticle } from '#web/features/spaces/role-words.ts'
import { NO_DOCUMENT } from '#web/lib/route-state.ts'
import { toast } from '#web/ui/toast.tsx'
import type { RouteControl } from './use-route-state.ts'

/** Until a confirmation that failed is tried again. */
const CONFIRM_AGAIN_MS = 5_000

function announceChange(before: OwnSpace, now: OwnSpace): void {
  if (before.role !== now.role)
    toast({
      title: `You are now ${withArticle(now.role)} of “${now.name}”`,
      description: `You ${ROLE_WORDS[now.role].you}.`,
    })
  else if ((before.archived_at === null) !== (now.archived_at === null))
    toast(
      now.archived_at === null
        ? { title: `“${now.name}” is in use again`, description: 'Questions and documents can be added.' }
        : { title: `“${now.name}” was archived`, description: 'It can be read, and nothing is added to it.' },
    )
}

/** Says what changed for the person in the open space, and leaves a space that the person is no longer in. */
export function useSpaceChanges(
  { spaceId, navigate }: Pick<RouteControl, 'spaceId' | 'navigate'>,
  spaces: readonly OwnSpace[] | undefined,
  onLost: () => void,
): void {
  const queryClient = useQueryClient()
  const known = useRef<ReadonlyMap<string, OwnSpace>>(new Map())

  const leave = useEffectEvent((was: OwnSpace | undefined): void => {
    onLost()
    navigate({ spaceId: null, chatId: null, ...NO_DOCUMENT }, { replace: true })
    toast(
      was === undefined
        ? { title: 'This space is not there', description: 'It was deleted, or you are not in it.' }
        : { title: `You are no longer in “${was.name}”`, description: 'This is what is yours alone.' },
    )
  })

  useEffect(() => {
    if (spaces === undefined) return
    const before = known.current
    known.current = new Map(spaces.map((space) => [space.id, space]))
    for (const id of before.keys()) if (!known.current.has(id)) forgetSpace(queryClient, id)
    if (spaceId === null) return
    const [was, now] = [before.get(spaceId), known.current.get(spaceId)]
    if (now !== undefined) {
      if (was !== undefined) announceChange(was, now)
      return
    }
    if (was !== undefined) return leave(was)
    // The list may be older than the membership: only one that is read now tells.
    let isOver = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const confirm = async (): Promise<void> => {
      await queryClient.cancelQueries({ queryKey: spacesQuery.queryKey })
      const read = await queryClient.query({ ...spacesQuery, staleTime: 0 })
      if (!isOver && !read.some(({ id }) => id === spaceId)) leave(undefined)
    }
    const confirmUntilKnown = (): void => {
      confirm().catch((error: unknown) => {
        console.warn('Spaces', error)
        if (!isOver) timer = setTimeout(confirmUntilKnown, CONFIRM_AGAIN_MS)
      })
    }
    confirmUntilKnown()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [queryClient, spaces, spaceId])
}
