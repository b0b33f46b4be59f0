import { joinUnspacedLines } from '#contract/unspaced-lines.ts'

/** A passage without the borders of empty cells, which are frequent in sheets and forms. */
export function passageText(text: string): string {
  return joinUnspacedLines(text)
    .split('\n')
    .map((line) => (line.includes('|') ? withoutEmptyCells(line) : line))
    .join('\n')
    .trim()
}

const withoutEmptyCells = (line: string): string =>
  line
    .split(/(?<=^|\s)\|(?=\s|$)/)
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '')
    .join(' | ')
