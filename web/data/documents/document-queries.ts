import { keepPreviousData, queryOptions, type QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import {
  namedDocument,
  pageText,
  readingReport,
  type DocumentRow,
  type NamedDocument,
  type PageText,
} from '#contract/document.ts'
import { MAX_SEARCH_LENGTH } from '#contract/search.ts'
import { ownPath } from '#web/data/base-path.ts'
import { apiJson, nullIfNotFound } from '#web/data/client.ts'
import { placeParameter, spaceParameter, type SearchPlace, type Space } from '#web/data/current-space.ts'
import { createLiveQuery } from '#web/data/live-query.ts'
import { untilMomentKnown } from '#web/data/live/missed-changes.ts'
import { documentRows, readDocument } from './read-documents.ts'

/** Everything about documents is below this key: invalidating it refetches each list, count and open document. */
export const documentsKey = ['/api/documents'] as const
export const documentKey = (id: string) => [...documentsKey, id] as const
export const documentVersionsKey = (series: string) => [...documentsKey, 'series', series] as const
export const documentCountsKey = [...documentsKey, 'count'] as const

export const liveDocument = createLiveQuery<DocumentRow | null>()

/** One document; null if it was deleted, or if the person may not read it. */
export function documentQuery(id: string) {
  return queryOptions({
    queryKey: documentKey(id),
    queryFn: () => liveDocument.read(documentKey(id), () => readDocument(id)),
  })
}

/** Documents whose names contain all words of the text, the most fitting ones first. */
export function documentMatchesQuery(text: string, place: SearchPlace) {
  return queryOptions({
    queryKey: [...documentsKey, 'matches', text, place],
    queryFn: ({ signal }) =>
      apiJson(
        `/api/documents/matches?name=${encodeURIComponent(text.slice(0, MAX_SEARCH_LENGTH))}${placeParameter(place)}`,
        documentRows,
        { signal },
      ),
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 60_000,
  })
}

/** All documents of a space with this part in their names. */
export const readNames = (search: string, space: Space): Promise<NamedDocument[]> =>
  apiJson(
    `/api/documents/names?search=${encodeURIComponent(search.slice(0, MAX_SEARCH_LENGTH))}&${spaceParameter(space)}`,
    z.array(namedDocument),
  )

/** All versions of a document, newest first; empty if it was deleted. */
export function documentVersionsQuery({ id, series }: Pick<DocumentRow, 'id' | 'series'>) {
  return queryOptions({
    queryKey: documentVersionsKey(series),
    queryFn: async ({ signal }) => {
      await untilMomentKnown(signal)
      return (await nullIfNotFound(() => apiJson(`/api/documents/${id}/versions`, documentRows, { signal }))) ?? []
    },
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

/** Where a long sheet is read: an offset in its text, or the index of a row. */
export type PlaceInSheet = { near: number } | { row: number }

/** The text of a sheet, of a long one the rows around a place, which the `part` describes. */
export function sheetTextQuery(documentId: string, page: number, place: PlaceInSheet) {
  const whole = pageTextQuery(documentId, page)
  const asked = 'near' in place ? `near=${place.near}` : `row=${place.row}`
  const path = `/api/documents/${documentId}/pages/${page}?${asked}`
  return queryOptions({
    ...whole,
    queryKey: [path],
    queryFn: async ({ client }) => {
      const known = client.getQueryData(whole.queryKey)
      if (known) return known
      const read = await nullIfNotFound(() => apiJson(path, pageText))
      if (read && !read.part) client.setQueryData(whole.queryKey, read)
      return read
    },
  })
}

const isPartOf = (documentId: string, page: number) => {
  const begin = `/api/documents/${documentId}/pages/${page}?`
  return ({ queryKey: [key] }: { queryKey: readonly unknown[] }): boolean =>
    typeof key === 'string' && key.startsWith(begin)
}

/** The loaded parts of a long sheet. */
export const loadedParts = (queryClient: QueryClient, documentId: string, page: number): PageText[] =>
  queryClient
    .getQueriesData<PageText | null>({ predicate: isPartOf(documentId, page) })
    .flatMap(([, part]) => (part ? [part] : []))

/** Requests those parts of a long sheet again that could not be loaded. */
export async function retryParts(queryClient: QueryClient, documentId: string, page: number): Promise<void> {
  const isPart = isPartOf(documentId, page)
  await queryClient.refetchQueries({ predicate: (query) => query.state.status === 'error' && isPart(query) })
}

/** The address of a document's bytes; requests to it authenticate by cookie. */
export function documentFileUrl(id: string): string {
  return ownPath(`/api/documents/${encodeURIComponent(id)}/file`)
}
