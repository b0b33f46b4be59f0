import { mutationOptions, type QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import { documentRow } from '#contract/document.ts'
import { apiFetch, apiSend, nullIfNotFound, readJson, rest, restWithApiFallback } from '#web/data/client.ts'
import { applyDocumentChange, removeCachedDocuments } from './document-cache.ts'
import { DOCUMENT_COLUMNS, forIdsInTurn } from './read-documents.ts'

export function renameDocument(queryClient: QueryClient) {
  return mutationOptions({
    mutationFn: ({ id, filename }: { id: string; filename: string }) =>
      restWithApiFallback(
        documentRow,
        () => rest().from('documents').update({ filename }).eq('id', id).select(DOCUMENT_COLUMNS).single(),
        (signal) => readJson(apiSend('PATCH', `/api/documents/${id}`, { filename }, signal)),
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
        (signal) => nullIfNotFound(() => apiFetch(`/api/documents/${id}`, { method: 'DELETE', signal })),
      ),
    onSuccess: (_, id) => removeCachedDocuments(queryClient, [id]),
  })
}

/** Deletes in batches; the documents of a batch that fails are tried one by one. @returns the number of failures */
export function deleteDocuments(queryClient: QueryClient) {
  const remove = async (ids: readonly string[]): Promise<void> => {
    await restWithApiFallback(
      z.unknown(),
      () => rest().from('documents').delete().in('id', ids),
      (signal) => apiFetch(`/api/documents?ids=${ids.join()}`, { method: 'DELETE', signal }),
    )
    removeCachedDocuments(queryClient, ids)
  }
  const countFailures = async (ids: readonly string[]): Promise<number> => {
    try {
      await remove(ids)
      return 0
    } catch (error) {
      console.error(error)
      if (ids.length === 1) return 1
      let failures = 0
      for (const id of ids) failures += await countFailures([id])
      return failures
    }
  }
  return mutationOptions({
    mutationFn: async (ids: readonly string[]) => {
      let failures = 0
      await forIdsInTurn(ids, async (some) => {
        failures += await countFailures(some)
      })
      return failures
    },
  })
}
