import { QueryClientProvider } from '@tanstack/react-query'
import { useState, type JSX } from 'react'
import { useRouteState } from '#web/app/chat/use-route-state.ts'
import { Workspace } from '#web/app/chat/workspace.tsx'
import { createQueryClient } from '#web/data/query-client.ts'
import { SpaceContext } from '#web/data/spaces/current-space.ts'
import { TooltipProvider } from '#web/ui/tooltip.tsx'

/** Leaving the page drops its query cache. */
export default function ChatPage(): JSX.Element {
  const [queryClient] = useState(createQueryClient)
  const { spaceId } = useRouteState()
  return (
    <QueryClientProvider client={queryClient}>
      <SpaceContext value={spaceId}>
        <TooltipProvider>
          <Workspace />
        </TooltipProvider>
      </SpaceContext>
    </QueryClientProvider>
  )
}
