import { loadedLines, type SheetLines } from './sheet-lines.ts'
import { LONG_TEXT } from './sheet-row.tsx'
import { cellsOf } from './text-blocks.ts'

const MIN_CHARACTERS = 5
const SAMPLED_LINES = 1_000

/** Widths in characters, by the longest text that widens a column in a sample of the lines. */
export function columnWidths(text: string, all: SheetLines, columns: number): number[] {
  const lines = loadedLines(all)
  const widths = Array.from({ length: columns }, () => MIN_CHARACTERS)
  const step = Math.max(1, Math.floor(lines.length / SAMPLED_LINES))
  for (let index = 0; index < lines.length; index += step) {
    const line = lines[index]
    if (line === undefined) break
    for (const [column, { start, end }] of cellsOf(text, line).entries())
      widths[column] = Math.max(widths[column] ?? MIN_CHARACTERS, Math.min(end - start, LONG_TEXT))
  }
  return widths
}
