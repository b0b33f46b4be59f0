import { QueryClientProvider } from '@tanstack/react-query'
import { useState, type JSX } from 'react'
import { createQueryClient } from '#web/data/query-client.ts'
import { TooltipProvider } from '#web/ui/tooltip.tsx'
import { Workspace } from '#web/app/chat/workspace.tsx'

/** Leaving the page drops its query cache. */
export default function ChatPage(): JSX.Element {
  const [queryClient] = useState(createQueryClient)
  return (
    <QueryClientProvider client={queryClient}>
      <TooltipProvider>
        <Workspace />
      </TooltipProvider>
    </QueryClientProvider>
  )
}
