/** Changes of documents, for those who hold rows outside of queries. */
import type { NamedDocument } from '#contract/document.ts'

/** The row after the change; null: the document was deleted, or replaced by a newer version. */
export type DocumentChange = <Row extends NamedDocument>(known: Row) => Row | null
type Listener = (ids: readonly string[], change: DocumentChange) => void

const listeners = new Set<Listener>()

/** @returns the function that stops */
export function onDocumentChange(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function announceDocumentChange(ids: readonly string[], change: DocumentChange): void {
  for (const listener of listeners) listener(ids, change)
}
