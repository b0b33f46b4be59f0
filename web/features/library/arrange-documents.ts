import type { DocumentRow } from '#contract/document.ts'

export interface Arrangement {
  by: 'name' | 'date'
  descending: boolean
}

/** The order in which a list opens: newest first. */
export const NEWEST_FIRST: Arrangement = { by: 'date', descending: true }

const names = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })

/** Documents whose name contains the text (any case), in the order asked for. */
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

/** What a press on a column does: turns its order round, or sorts by it, names upwards and dates newest first. */
export function nextArrangement(now: Arrangement, by: Arrangement['by']): Arrangement {
  if (now.by === by) return { by, descending: !now.descending }
  return { by, descending: by === 'date' }
}
