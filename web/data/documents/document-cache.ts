import type { QueryClient } from '@tanstack/react-query'
import type { z } from 'zod'
import { documentRow, type DocumentRow, type NamedDocument } from '#contract/document.ts'
import { refetch } from '#web/data/refetch.ts'
import { announceDocumentChange } from './document-changes.ts'
import { countDocumentsSoon } from './document-counts.ts'
import { documentList } from './paged-documents.ts'
import { documentKey, documentVersionsKey, liveDocument } from './document-queries.ts'

/** A row change of `postgres_changes`; `old` holds at least the key. */
interface RowChange {
  eventType: 'INSERT' | 'UPDATE' | 'DELETE'
  new: unknown
  old: unknown
}

const changedRow = documentRow.partial().required({ id: true })

/** An insert never replaces a cached row: it may arrive after the row's first updates. */
export function applyDocumentChange(queryClient: QueryClient, change: RowChange): void {
  const row = changedRow.parse(change.eventType === 'DELETE' ? change.old : change.new)
  if (change.eventType === 'DELETE') return removeCachedDocuments(queryClient, [row.id])
  if (change.eventType === 'INSERT') return cacheDocuments(queryClient, [documentRow.parse(row)])
  const fields = definedFields(row)
  const merge = <Row extends NamedDocument>(known: Row) => ({ ...known, ...fields })
  const whole = documentRow.safeParse(row)
  // Its new name or date may move a document among the loaded ones.
  if (whole.success) documentList.put(queryClient, whole.data)
  else documentList.change(queryClient, row.id, merge)
  if (row.series !== undefined) void refetch(queryClient, { queryKey: documentVersionsKey(row.series) })
  liveDocument.change(queryClient, documentKey(row.id), (known) => known && merge(known))
  announceDocumentChange([row.id], (known) => (fields.superseded_at == null ? merge(known) : null))
  countDocumentsSoon(queryClient)
}

function definedFields(row: z.infer<typeof changedRow>): Partial<DocumentRow> {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined))
}

/** A row that is already cached stays: live changes may have updated it. */
export function cacheDocuments(queryClient: QueryClient, added: readonly DocumentRow[]): void {
  for (const row of added) documentList.add(queryClient, row)
  countDocumentsSoon(queryClient)
}

export function removeCachedDocuments(queryClient: QueryClient, ids: readonly string[]): void {
  for (const id of ids) {
    documentList.remove(queryClient, id)
    // Thousands may be deleted at once: only a document that was asked for needs an answer.
    if (queryClient.getQueryState(documentKey(id)) !== undefined) liveDocument.set(queryClient, documentKey(id), null)
  }
  announceDocumentChange(ids, () => null)
  countDocumentsSoon(queryClient)
}
