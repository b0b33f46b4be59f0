/** Order and selection of document lists, as `listDocuments` of the server has them. */
import { nameWithFolder, type DocumentRow } from '#contract/document.ts'

export interface DocumentOrder {
  /** A part of the file name with its folder, ignoring case. */
  readonly search: string
  readonly by: 'name' | 'date'
  readonly descending: boolean
}

// English has no order of its own, so that it is that of the server's collation.
const names = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

const compareTexts = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

/** `Date` ends at milliseconds. */
const microseconds = (time: string): number => Number((/\.\d{3}(\d{1,3})/.exec(time)?.[1] ?? '').padEnd(3, '0'))

const COMPARISONS = {
  name: (one: DocumentRow, other: DocumentRow) =>
    names.compare(one.filename, other.filename) || compareTexts(one.filename, other.filename),
  date: ({ uploaded_at: one }: DocumentRow, { uploaded_at: other }: DocumentRow) =>
    Date.parse(one) - Date.parse(other) || microseconds(one) - microseconds(other),
}

/** Zero only for the same document: ids part equal names and times, ascending in either direction. */
export const compareDocuments =
  ({ by, descending }: DocumentOrder) =>
  (one: DocumentRow, other: DocumentRow): number =>
    (descending ? COMPARISONS[by](other, one) : COMPARISONS[by](one, other)) || compareTexts(one.id, other.id)

export const isNameMatching = (document: Pick<DocumentRow, 'folder' | 'filename'>, search: string): boolean =>
  nameWithFolder(document).toLowerCase().includes(search.toLowerCase())
