import type { DocumentRow } from '#contract/document.ts'

export interface Arrangement {
  by: 'name' | 'date'
  descending: boolean
}

export const NEWEST_FIRST: Arrangement = { by: 'date', descending: true }

const names = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })

export function arrangeDocuments(
  documents: readonly DocumentRow[],
  text: string,
  { by, descending }: Arrangement,
): DocumentRow[] {
  const wanted = text.trim().toLowerCase()
  const compare = (a: DocumentRow, b: DocumentRow) =>
    by === 'name' ? names.compare(a.filename, b.filename) : Date.parse(a.uploaded_at) - Date.parse(b.uploaded_at)
  const found = documents.filter(({ filename }) => filename.toLowerCase().includes(wanted))
  return found.toSorted((a, b) => (descending ? compare(b, a) : compare(a, b)))
}

/** Reverses the order of the current column; another column sorts names ascending, dates descending. */
export function nextArrangement(now: Arrangement, by: Arrangement['by']): Arrangement {
  if (now.by === by) return { by, descending: !now.descending }
  return { by, descending: by === 'date' }
}
