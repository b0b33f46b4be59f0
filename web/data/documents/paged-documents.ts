import type { QueryClient } from '@tanstack/react-query'
import type { DocumentRow } from '#contract/document.ts'
import { MAX_SEARCH_LENGTH } from '#contract/search.ts'
import { apiFetch, eitherSignal, readJson, rest, restWithApiFallback } from '#web/data/client.ts'
import { inSpace, type Space } from '#web/data/current-space.ts'
import { untilMomentKnown } from '#web/data/live/missed-changes.ts'
import { createPagedList, type LoadedRows } from '#web/data/paged-list.ts'
import { compareDocuments, isNameMatching, type DocumentOrder } from '#web/lib/documents/document-order.ts'
import { documentsKey } from './document-queries.ts'
import { DOCUMENT_COLUMNS, documentRows } from './read-documents.ts'

const PAGE_SIZE = 100
const NEXT_PAGE_SIZE = 200
const MAX_PAGE_SIZE = 1000
/** Rows that the page sorts itself while the server does; more would delay a keystroke. */
const MAX_PREVIEWED = 500

const listKey = [...documentsKey, 'list'] as const

export interface DocumentListView extends DocumentOrder {
  readonly space: Space
}

/** The current versions of the documents of a space. */
export const documentList = createPagedList<DocumentRow, DocumentListView>({
  pageSize: PAGE_SIZE,
  nextPageSize: NEXT_PAGE_SIZE,
  maxPageSize: MAX_PAGE_SIZE,
  prefix: listKey,
  describe: (view) => ({
    compare: compareDocuments(view),
    includes: (document) =>
      document.superseded_at === null &&
      (document.space_id ?? null) === view.space &&
      isNameMatching(document, view.search),
    read: (last, limit, signal) => readPage(view, last, limit, signal),
  }),
})

/** A view as it is where all documents are loaded, so that small libraries are sorted and filtered without a wait. */
export function previewOfDocuments(
  queryClient: QueryClient,
  view: DocumentListView,
): LoadedRows<DocumentRow> | undefined {
  const whole = queryClient.getQueriesData<LoadedRows<DocumentRow>>({ queryKey: listKey }).find(([key, loaded]) => {
    const known = key[listKey.length] as DocumentListView
    return loaded?.hasMore === false && known.search === '' && known.space === view.space
  })?.[1]
  if (whole === undefined || whole.rows.length > MAX_PREVIEWED) return undefined
  const found = whole.rows.filter((document) => isNameMatching(document, view.search))
  return { rows: found.toSorted(compareDocuments(view)), hasMore: false }
}

async function readPage(
  view: DocumentListView,
  last: DocumentRow | undefined,
  limit: number,
  signal: AbortSignal | undefined,
): Promise<DocumentRow[]> {
  await untilMomentKnown(signal)
  const fromApi = (timeLimit?: AbortSignal) =>
    readJson(apiFetch(pageAddress(view, last, limit), { signal: eitherSignal(signal, timeLimit) }))
  // The data service neither sorts as people do nor ignores the case of all letters.
  if (view.by === 'name' || view.search !== '') return documentRows.parse(await fromApi())
  return restWithApiFallback(
    documentRows,
    () => {
      const current = rest().from('documents').select(DOCUMENT_COLUMNS).is('superseded_at', null)
      const all = view.space === null ? current.is('space_id', null) : current.eq('space_id', view.space)
      return (last === undefined ? all : all.filter(...fromTimeOf(last, view)).or(datedAfter(last, view)))
        .order('uploaded_at', { ascending: !view.descending })
        .order('id')
        .limit(limit)
    },
    fromApi,
  )
}

/** A range of the index, which the disjunction of `datedAfter` is not. */
const fromTimeOf = ({ uploaded_at: time }: DocumentRow, { descending }: DocumentListView) =>
  ['uploaded_at', descending ? 'lte' : 'gte', time] as const

const datedAfter = ({ id, uploaded_at: time }: DocumentRow, { descending }: DocumentListView): string =>
  `uploaded_at.${descending ? 'lt' : 'gt'}."${time}",id.gt.${id}`

function pageAddress(
  { space, search, by, descending }: DocumentListView,
  last: DocumentRow | undefined,
  limit: number,
): string {
  const parameters = new URLSearchParams({
    order: by,
    descending: `${descending}`,
    limit: `${limit}`,
    ...inSpace(space),
  })
  if (search !== '') parameters.set('search', search.slice(0, MAX_SEARCH_LENGTH))
  if (last !== undefined) parameters.set('after', last.id)
  return `/api/documents?${parameters}`
}
