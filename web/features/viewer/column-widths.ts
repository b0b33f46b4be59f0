import type { SheetLine } from './sheet-lines.ts'
import { LONG_TEXT } from './sheet-row.tsx'
import { cellsOf } from './text-blocks.ts'

const MIN_CHARACTERS = 5
const SAMPLED_LINES = 1_000

/** Widths in characters, by the longest text that widens a column in a sample of the lines. */
export function columnWidths(text: string, lines: readonly SheetLine[], columns: number): number[] {
  const longest: number[] = []
  const step = Math.max(1, Math.floor(lines.length / SAMPLED_LINES))
  for (let index = 0; index < lines.length; index += step) {
    const line = lines[index]
    if (line === undefined) break
    for (const [column, { start, end }] of cellsOf(text, line).entries())
      longest[column] = Math.max(longest[column] ?? 0, Math.min(end - start, LONG_TEXT))
  }
  return limitWidths(longest, columns)
}

/** Widths in characters for columns whose longest cells have so many. */
export const limitWidths = (longest: readonly number[], columns: number): number[] =>
  Array.from({ length: columns }, (_, column) => Math.max(MIN_CHARACTERS, Math.min(longest[column] ?? 0, LONG_TEXT)))
