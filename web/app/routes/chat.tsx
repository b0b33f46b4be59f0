import { QueryClientProvider } from '@tanstack/react-query'
import { useLayoutEffect, useState, type JSX } from 'react'
import { useRouteState } from '#web/app/chat/use-route-state.ts'
import { Workspace } from '#web/app/chat/workspace.tsx'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { SpaceContext } from '#web/data/current-space.ts'
import { createQueryClient } from '#web/data/query-client.ts'
import { readLastSpace } from '#web/data/spaces/last-space.ts'
import { TooltipProvider } from '#web/ui/tooltip.tsx'

/** Leaving the page drops its query cache. */
export default function ChatPage(): JSX.Element {
  const [queryClient] = useState(createQueryClient)
  const { id: userId } = useUser()
  const { spaceId, navigate } = useRouteState()
  // An address that names nothing opens where the person was, before anything of Personal is read.
  const [returnTo, setReturnTo] = useState(() => (location.search === '' ? readLastSpace(userId) : null))
  useLayoutEffect(() => {
    if (returnTo !== null) navigate({ spaceId: returnTo }, { replace: true })
  }, [returnTo, navigate])
  if (returnTo !== null && spaceId === returnTo) setReturnTo(null)
  return (
    <QueryClientProvider client={queryClient}>
      <SpaceContext value={spaceId}>
        <TooltipProvider>{returnTo === null && <Workspace />}</TooltipProvider>
      </SpaceContext>
    </QueryClientProvider>
  )
}
