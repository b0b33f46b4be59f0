import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { toolServer, toolServers, type NewToolServer, type ToolAnswer, type ToolServer } from '#contract/tool-server.ts'
import { apiFetch, apiJson, apiSend } from './client.ts'
import { refetch } from './refetch.ts'

export const toolServersQuery = queryOptions({
  queryKey: ['/api/tool-servers'],
  queryFn: () => apiJson('/api/tool-servers', toolServers),
})

const reload = (queryClient: QueryClient): Promise<void> =>
  refetch(queryClient, { queryKey: toolServersQuery.queryKey })

/** The server loads the tools first. @throws HttpError with the reason of a failure */
export async function connectToolServer(queryClient: QueryClient, given: NewToolServer): Promise<void> {
  await apiSend('POST', '/api/tool-servers', given)
  await reload(queryClient)
}

/** @throws HttpError with the reason of a failure */
export async function refreshToolServer(queryClient: QueryClient, { id }: ToolServer): Promise<ToolServer> {
  const refreshed = await apiJson(`/api/tool-servers/${id}/refresh`, toolServer, { method: 'POST' })
  await reload(queryClient)
  return refreshed
}

export async function disconnectToolServer(queryClient: QueryClient, { id }: ToolServer): Promise<void> {
  await apiFetch(`/api/tool-servers/${id}`, { method: 'DELETE' })
  await reload(queryClient)
}

export async function answerToolRequest(id: string, answer: ToolAnswer): Promise<void> {
  await apiSend('POST', `/api/tool-requests/${id}`, { answer })
}
