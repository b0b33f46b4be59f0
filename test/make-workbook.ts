/** Small workbooks for tests. */
import { utils, type WorkSheet, write } from '@e965/xlsx'

/** A cell: a value, or a value with the format that it is shown in. */
export type MadeCell = string | number | null | { readonly v: number; readonly z: string }

export interface MadeSheet {
  readonly name: string
  readonly rows: readonly (readonly MadeCell[])[]
  /** Ranges such as "A1:A3". */
  readonly merges?: readonly string[]
}

export function makeWorkbook(sheets: readonly MadeSheet[], type: 'xlsx' | 'biff8' = 'xlsx'): Buffer {
  const book = utils.book_new()
  for (const { name, rows, merges = [] } of sheets) {
    const sheet: WorkSheet = utils.aoa_to_sheet(
      rows.map((row) => row.map((cell) => (cell !== null && typeof cell === 'object' ? { t: 'n', ...cell } : cell))),
    )
    sheet['!merges'] = merges.map((range) => utils.decode_range(range))
    utils.book_append_sheet(book, sheet, name)
  }
  return Buffer.from(write(book, { type: 'array', bookType: type }) as ArrayBuffer)
}
