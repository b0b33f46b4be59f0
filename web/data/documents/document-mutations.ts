import { mutationOptions, type QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import { documentRow } from '#contract/document.ts'
import { apiFetch, apiSend, nullIfNotFound, rest, restWithApiFallback } from '#web/data/client.ts'
import { applyDocumentChange } from './document-cache.ts'
import { DOCUMENT_COLUMNS } from './document-queries.ts'

export function renameDocument(queryClient: QueryClient) {
  return mutationOptions({
    mutationFn: ({ id, filename }: { id: string; filename: string }) =>
      restWithApiFallback(
        documentRow,
        () => rest().from('documents').update({ filename }).eq('id', id).select(DOCUMENT_COLUMNS).single(),
        async () => (await apiSend('PATCH', `/api/documents/${id}`, { filename })).json(),
      ),
    onSuccess: (row) => applyDocumentChange(queryClient, { eventType: 'UPDATE', new: row, old: { id: row.id } }),
  })
}

export function deleteDocument(queryClient: QueryClient) {
  return mutationOptions({
    mutationFn: (id: string) =>
      restWithApiFallback(
        z.unknown(),
        () => rest().from('documents').delete().eq('id', id),
        () => nullIfNotFound(() => apiFetch(`/api/documents/${id}`, { method: 'DELETE' })),
      ),
    onSuccess: (_, id) => applyDocumentChange(queryClient, { eventType: 'DELETE', new: {}, old: { id } }),
  })
}
