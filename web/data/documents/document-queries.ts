import { queryOptions } from '@tanstack/react-query'
import { z } from 'zod'
import { documentRow, pageText, readingReport, type DocumentRow } from '#contract/document.ts'
import { apiFetch, apiJson, nullIfNotFound, rest, restWithApiFallback } from '#web/data/client.ts'
import { createLiveQuery } from '#web/data/live-query.ts'

const rows = z.array(documentRow)
export const DOCUMENT_COLUMNS = Object.keys(documentRow.shape).join(',')

export const documentsKey = ['/api/documents'] as const
export const liveDocuments = createLiveQuery<DocumentRow[]>()
/** Below the key of the list: invalidating the list refetches each open document too. */
export const documentKey = (id: string) => [...documentsKey, id] as const
export const liveDocument = createLiveQuery<DocumentRow | null>()
export const documentVersionsKey = (series: string) => [...documentsKey, 'series', series] as const

export function documentsQuery() {
  return queryOptions({
    queryKey: documentsKey,
    queryFn: () =>
      liveDocuments.read(documentsKey, () =>
        restWithApiFallback(
          rows,
          () =>
            rest()
              .from('documents')
              .select(DOCUMENT_COLUMNS)
              .is('superseded_at', null)
              .order('uploaded_at', { ascending: false }),
          async () => (await apiFetch('/api/documents')).json(),
        ),
      ),
  })
}

/** One document; null if it was deleted or belongs to another person. */
export function documentQuery(id: string) {
  return queryOptions({
    queryKey: documentKey(id),
    queryFn: () =>
      liveDocument.read(documentKey(id), () =>
        restWithApiFallback(
          documentRow.nullable(),
          () => rest().from('documents').select(DOCUMENT_COLUMNS).eq('id', id).maybeSingle(),
          () => nullIfNotFound(() => apiJson(`/api/documents/${id}`, documentRow)),
        ),
      ),
  })
}

/** All versions of a document, newest first; empty if it was deleted. */
export function documentVersionsQuery({ id, series }: Pick<DocumentRow, 'id' | 'series'>) {
  return queryOptions({
    queryKey: documentVersionsKey(series),
    queryFn: async () => (await nullIfNotFound(() => apiJson(`/api/documents/${id}/versions`, rows))) ?? [],
  })
}

export function readingReportQuery(id: string) {
  return queryOptions({
    queryKey: [...documentKey(id), 'report'],
    queryFn: () => nullIfNotFound(() => apiJson(`/api/documents/${id}/report`, readingReport)),
  })
}

/** The text of one page or section, counted from 1; null if there is no such page. */
export function pageTextQuery(documentId: string, page: number) {
  return queryOptions({
    queryKey: [`/api/documents/${documentId}/pages/${page}`],
    queryFn: () => nullIfNotFound(() => apiJson(`/api/documents/${documentId}/pages/${page}`, pageText)),
    // A missing page may still come while the document is being ingested.
    staleTime: ({ state }) => (state.data === null ? 0 : Number.POSITIVE_INFINITY),
  })
}

/** The address of a document's bytes; requests to it authenticate by cookie. */
export function documentFileUrl(id: string): string {
  return `/api/documents/${encodeURIComponent(id)}/file`
}
