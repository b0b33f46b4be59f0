import { type CellObject, utils, type WorkSheet, write } from '@e965/xlsx'

/** A value, a value with its number format, or a formula without a result. */
export type MadeCell =
  string | number | null | { readonly v: number | string; readonly z: string } | { readonly f: string }

export interface MadeSheet {
  readonly name: string
  readonly rows: readonly (readonly MadeCell[])[]
  /** Ranges such as "A1:A3". */
  readonly merges?: readonly string[]
  /** Comments by the address of their cell. */
  readonly comments?: Readonly<Record<string, string>>
}

export function makeWorkbook(sheets: readonly MadeSheet[], type: 'xlsx' | 'biff8' = 'xlsx'): Buffer {
  const book = utils.book_new()
  for (const { name, rows, merges = [], comments = {} } of sheets) {
    const sheet: WorkSheet = utils.aoa_to_sheet(
      rows.map((row) =>
        row.map((cell) =>
          cell !== null && typeof cell === 'object'
            ? { t: 'v' in cell && typeof cell.v === 'string' ? 's' : 'n', ...cell }
            : cell,
        ),
      ),
    )
    for (const [address, text] of Object.entries(comments)) {
      const cell: CellObject = (sheet[address] as CellObject | undefined) ?? { t: 'z' }
      utils.cell_add_comment(cell, text)
      sheet[address] = cell
    }
    if (Object.keys(comments).length > 0) sheet['!ref'] = 'A1:Z99'
    sheet['!merges'] = merges.map((range) => utils.decode_range(range))
    utils.book_append_sheet(book, sheet, name)
  }
  return Buffer.from(write(book, { type: 'array', bookType: type }) as ArrayBuffer)
}
