import type { PageText, SheetRow } from '#contract/document.ts'

import { cellsOf, type TextStretch } from './text-blocks.ts'

/** A row with content. */
export interface SheetLine extends TextStretch {
  /** As the workbook numbers it. */
  row: number
}

/** The rows of a sheet, of which there may be 100,000; undefined where they are not loaded. */
export type SheetLines = readonly (SheetLine | undefined)[]

/** The rows of a sheet's text; null where their positions are unknown. */
export function sheetLines({ text, rows, columns }: PageText): SheetLine[] | null {
  if (!rows || !columns) return null
  return rows.map((row) => lineOf(text, row))
}

function lineOf(text: string, [start, row]: SheetRow): SheetLine {
  const end = text.indexOf('\n', start)
  return { row, start, end: end === -1 ? text.length : end }
}

/** The text of a page, with line breaks in place of what is not loaded of a long sheet, and its rows. */
export function joinParts(pages: readonly PageText[]): { text: string; lines: SheetLines | null } {
  const parts = pages.flatMap((page) => (page.part ? [{ ...page, part: page.part }] : []))
  const [whole, some] = [pages.find((page) => !page.part), parts[0]?.part]
  if (whole || !some) return { text: whole?.text ?? '', lines: whole ? sheetLines(whole) : null }
  let text = some.name
  const append = (start: number, more: string): void => {
    text += '\n'.repeat(Math.max(0, start - text.length))
    // Parts overlap.
    text += more.slice(text.length - start)
  }
  for (const { part, ...rows } of parts.toSorted((one, other) => one.part.start - other.part.start))
    append(part.start, rows.text)
  append(some.last[0], some.end)
  const lines = Array.from<SheetLine | undefined>({ length: some.count })
  for (const { part, rows = [] } of parts)
    for (const [index, row] of rows.entries()) lines[part.first + index] = lineOf(text, row)
  lines[some.count - 1] = lineOf(text, some.last)
  return { text, lines }
}

/** Whether an answer of the server has the rows of a passage; the row before its first one tells where that begins. */
export function holdsPassage({ part, rows = [], text }: PageText, passage: TextStretch): boolean {
  if (!part) return true
  const begin = part.first === 0 ? 0 : (rows[1]?.[0] ?? part.start)
  return passage.start >= part.last[0] || (passage.start >= begin && passage.end <= part.start + text.length)
}

/** The text of text boxes: the paragraphs below the last row, or below the sheet's name. */
export function textBoxBlocks(text: string, lines: SheetLines): (TextStretch & { kind: 'paragraph' })[] {
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
  lines: SheetLines,
  columns: readonly number[],
  passage: TextStretch,
): string | null {
  const [from, to] = linesWithin(lines, passage)
  const touched = loadedLines(lines.slice(from, to)).flatMap(({ row, ...line }) =>
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

export const loadedLines = (lines: SheetLines): SheetLine[] => lines.filter((line) => line !== undefined)

/** Indices `[from, to)` of the lines that the stretch touches; none where they are not loaded. */
export function linesWithin(lines: SheetLines, { start, end }: TextStretch): [from: number, to: number] {
  const from = lines.findIndex((line) => line !== undefined && line.end > start)
  // Characters between lines count for the next one, which is unknown where the line before is not loaded.
  if (from === -1 || (from > 0 && lines[from - 1] === undefined)) return [0, 0]
  let to = from
  for (let line = lines[to]; line !== undefined && line.start < end; line = lines[to]) to += 1
  return [from, to]
}
