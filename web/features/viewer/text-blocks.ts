import { CELL_BORDER } from '#contract/cell-border.ts'

/** A range of a section's text, `[start, end)` in UTF-16 code units. */
export interface TextStretch {
  start: number
  end: number
}

/** `flow`: hard-wrapped lines are joined; `paragraph`: line breaks stay; `heading`: a short line before longer text. */
export type TextBlock =
  (TextStretch & { kind: 'flow' | 'paragraph' | 'heading' }) | { kind: 'table'; rows: TextStretch[][] }

/** Splits at blank lines. White space and cell borders in between belong to no block. */
export function textBlocks(text: string, { hardWrapped }: { hardWrapped: boolean }): TextBlock[] {
  const pieces = stretches(text, PARAGRAPHS)
  return pieces.map((piece, index) => {
    const rows = tableRows(text, piece)
    if (rows) return { kind: 'table', rows }
    const next = pieces[index + 1]
    return { ...piece, kind: kindOf(text.slice(piece.start, piece.end), next ? next.end - next.start : 0, hardWrapped) }
  })
}

/** From the first non-blank character to the end of the last line before a blank one. */
const PARAGRAPHS = /[^\n]*\S[^\n]*(?:\n[^\n]*\S[^\n]*)*/g
const LINES = /[^\n]+/g

function stretches(text: string, pattern: RegExp, offset = 0): TextStretch[] {
  return [...text.matchAll(pattern)].map((match) => ({
    start: offset + match.index,
    end: offset + match.index + match[0].length,
  }))
}

/** Null unless two lines, and at least half of them, have several cells; the other lines are titles. */
function tableRows(text: string, { start, end }: TextStretch): TextStretch[][] | null {
  const rows = stretches(text.slice(start, end), LINES, start).map((line) => cellsOf(text, line))
  const withCells = rows.filter((row) => row.length > 1).length
  return withCells > 1 && withCells * 2 >= rows.length ? rows : null
}

/** The cells of a line; an empty cell is an empty range, so that columns stay aligned. */
export function cellsOf(text: string, { start, end }: TextStretch): TextStretch[] {
  const cells: TextStretch[] = []
  let from = start
  for (const border of text.slice(start, end).matchAll(CELL_BORDER)) {
    cells.push({ start: from, end: start + border.index })
    from = start + border.index + border[0].length
  }
  return [...cells, { start: from, end }]
}

const LONGEST_HEADING = 80

function kindOf(text: string, nextLength: number, hardWrapped: boolean): 'flow' | 'paragraph' | 'heading' {
  const lines = text.split('\n')
  if (lines.length > 1) return hardWrapped && isBrokenByHand(lines) ? 'flow' : 'paragraph'
  const isShort = text.trim().length <= LONGEST_HEADING && nextLength > text.length * 2
  return isShort && !/[.,;:!?…。，；：]["'”’)]?\s*$/.test(text) ? 'heading' : 'paragraph'
}

/** Prose wrapped at a column width: every line but the last is nearly as long as the longest, and none is indented. */
function isBrokenByHand(lines: readonly string[]): boolean {
  const longest = Math.max(...lines.map((line) => line.length))
  if (longest < 45 || longest > 100) return false
  return (
    lines.slice(0, -1).every((line) => line.length > longest - 25) &&
    lines.slice(1).every((line) => !/^\s{2}/.test(line))
  )
}
