import type { DocumentOrder } from '#web/lib/documents/document-order.ts'

export type Arrangement = Pick<DocumentOrder, 'by' | 'descending'>

export const NEWEST_FIRST: Arrangement = { by: 'date', descending: true }

/** Reverses the order of the current column; another column sorts names ascending, dates descending. */
export function nextArrangement(now: Arrangement, by: Arrangement['by']): Arrangement {
  if (now.by === by) return { by, descending: !now.descending }
  return { by, descending: by === 'date' }
}
