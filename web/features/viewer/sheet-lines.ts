import type { PageText } from '#contract/document.ts'

import { cellsOf, type TextStretch } from './text-blocks.ts'

/** A row with content: its number, and a cell for each column of the sheet. */
export interface SheetLine {
  row: number
  cells: TextStretch[]
}

/** The rows of a sheet's text; null where their positions are unknown. */
export function sheetLines({ text, rows, columns }: PageText): SheetLine[] | null {
  if (!rows || !columns) return null
  return rows.map(([start, row]) => {
    const end = text.indexOf('\n', start)
    return { row, cells: cellsOf(text, { start, end: end === -1 ? text.length : end }) }
  })
}

/** The text of text boxes: the paragraphs below the last row, or below the sheet's name. */
export function textBoxBlocks(text: string, lines: readonly SheetLine[]): (TextStretch & { kind: 'paragraph' })[] {
  const nameEnd = (text + '\n').indexOf('\n')
  const from = lines.at(-1)?.cells.at(-1)?.end ?? nameEnd
  return [...text.slice(from).matchAll(/\S(?:(?!\n\n)[\s\S])*/g)].map(({ index, 0: box }) => ({
    kind: 'paragraph',
    start: from + index,
    end: from + index + box.length,
  }))
}

/** "A" for 1, "Z" for 26, "AA" for 27. */
export function columnName(column: number): string {
  const rest = (column - 1) % 26
  const before = (column - 1 - rest) / 26
  return (before > 0 ? columnName(before) : '') + String.fromCharCode(65 + rest)
}

/** The smallest cell range with the passage, as "B2" or "A5:F9"; null where it touches none. */
export function cellRange(
  lines: readonly SheetLine[],
  columns: readonly number[],
  passage: TextStretch,
): string | null {
  const touched = lines.flatMap(({ row, cells }) =>
    cells.flatMap(({ start, end }, index) => {
      const column = columns[index]
      return start < passage.end && end > passage.start && column !== undefined ? [{ row, column }] : []
    }),
  )
  const [first, last] = [touched[0], touched.at(-1)]
  if (!first || !last) return null
  const named = touched.map(({ column }) => column)
  const from = `${columnName(Math.min(...named))}${first.row}`
  const to = `${columnName(Math.max(...named))}${last.row}`
  return from === to ? from : `${from}:${to}`
}
