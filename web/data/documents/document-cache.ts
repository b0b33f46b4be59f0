import type { QueryClient } from '@tanstack/react-query'
import type { z } from 'zod'
import { documentRow, type DocumentRow } from '#contract/document.ts'
import { refetch } from '#web/data/refetch.ts'
import { documentKey, documentsKey, documentVersionsKey, liveDocument, liveDocuments } from './document-queries.ts'

/** A row change of `postgres_changes`; `old` holds at least the key. */
interface DocumentChange {
  eventType: 'INSERT' | 'UPDATE' | 'DELETE'
  new: unknown
  old: unknown
}

const changedRow = documentRow.partial().required({ id: true })

/** An insert never replaces a cached row: it may arrive after the row's first updates. */
export function applyDocumentChange(queryClient: QueryClient, change: DocumentChange): void {
  const row = changedRow.parse(change.eventType === 'DELETE' ? change.old : change.new)
  if (change.eventType === 'DELETE') {
    liveDocuments.change(queryClient, documentsKey, (list) => list.filter(({ id }) => id !== row.id))
    liveDocument.set(queryClient, documentKey(row.id), null)
    return
  }
  if (change.eventType === 'INSERT') return cacheDocuments(queryClient, [documentRow.parse(row)])
  const merge = (known: DocumentRow) => ({ ...known, ...definedFields(row) })
  liveDocuments.change(queryClient, documentsKey, (list) =>
    list.map((known) => (known.id === row.id ? merge(known) : known)).filter((known) => known.superseded_at === null),
  )
  if (row.series !== undefined) void refetch(queryClient, { queryKey: documentVersionsKey(row.series) })
  liveDocument.change(queryClient, documentKey(row.id), (known) => known && merge(known))
}

function definedFields(row: z.infer<typeof changedRow>): Partial<DocumentRow> {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined))
}

/** A row that is already cached stays: live changes may have updated it. */
export function cacheDocuments(queryClient: QueryClient, added: readonly DocumentRow[]): void {
  liveDocuments.change(queryClient, documentsKey, (list) => {
    const missing = added.filter(({ id }) => !list.some((known) => known.id === id))
    if (missing.length === 0) return list
    return [...missing, ...list].toSorted((a, b) => Date.parse(b.uploaded_at) - Date.parse(a.uploaded_at))
  })
}
