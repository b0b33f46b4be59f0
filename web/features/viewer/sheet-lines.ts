import type { PageText } from '#contract/document.ts'

import { cellsOf, type TextStretch } from './text-blocks.ts'

/** A row with content. */
export interface SheetLine extends TextStretch {
  /** As the workbook numbers it. */
  row: number
}

/** The rows of a sheet's text, of which there may be 100,000; null where their positions are unknown. */
export function sheetLines({ text, rows, columns }: PageText): SheetLine[] | null {
  if (!rows || !columns) return null
  return rows.map(([start, row]) => {
    const end = text.indexOf('\n', start)
    return { row, start, end: end === -1 ? text.length : end }
  })
}

/** The text of text boxes: the paragraphs below the last row, or below the sheet's name. */
export function textBoxBlocks(text: string, lines: readonly SheetLine[]): (TextStretch & { kind: 'paragraph' })[] {
  const nameEnd = (text + '\n').indexOf('\n')
  const from = lines.at(-1)?.end ?? nameEnd
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
  text: string,
  lines: readonly SheetLine[],
  columns: readonly number[],
  passage: TextStretch,
): string | null {
  const [from, to] = linesWithin(lines, passage)
  const touched = lines.slice(from, to).flatMap(({ row, ...line }) =>
    cellsOf(text, line).flatMap(({ start, end }, index) => {
      const column = columns[index]
      return start < passage.end && end > passage.start && column !== undefined ? [{ row, column }] : []
    }),
  )
  const [first, last] = [touched[0], touched.at(-1)]
  if (!first || !last) return null
  const named = touched.map(({ column }) => column)
  const begin = `${columnName(Math.min(...named))}${first.row}`
  const end = `${columnName(Math.max(...named))}${last.row}`
  return begin === end ? begin : `${begin}:${end}`
}

/** Indices `[from, to)` of the lines that the stretch touches. */
export function linesWithin(lines: readonly TextStretch[], { start, end }: TextStretch): [from: number, to: number] {
  const from = lines.findIndex((line) => line.end > start)
  const to = lines.findIndex((line) => line.start >= end)
  return from === -1 ? [0, 0] : [from, to === -1 ? lines.length : Math.max(from, to)]
}
