import { CELL_BORDER } from '#contract/cell-border.ts'
import { BULLETS } from '#server/parsing/symbol-fonts.ts'

/** Longer cells above a table are captions, which name no column. */
const MAX_TITLE_CHARACTERS = 60
/** A single row with more columns is shown vertically to avoid scrolling. */
const MAX_HORIZONTAL_COLUMNS = 4

const LIST_MARKER = new RegExp(String.raw`^(?:\(?(?:\p{N}{1,3}|\p{L}|[ivx]{1,4})[.)]|[${BULLETS}])$`, 'iu')

export interface QuotedRow {
  readonly text: string
  readonly marker: string
}

/** A quoted row has no space before its first border. */
export const cellsOf = (line: string): string[] => line.replace(/^\| /, ' | ').split(CELL_BORDER)

/** Empty cells mean nothing without titles. */
export const joinFilledCells = (line: string): string =>
  line.includes('|')
    ? cellsOf(line)
        .filter((cell) => cell.trim() !== '')
        .join(' | ')
    : line

/** Whether these lines are list items whose markers have a column of their own, which has no title. */
export const isList = (lines: string): boolean =>
  LIST_MARKER.test(cellsOf(lines.split('\n', 1)[0] ?? '')[0]?.trim() ?? '')

/** Aligned cells of `titles`, in the layout of `rows`, name one column. Undefined if they name no column. */
export function renderTable(
  titles: string,
  rows: readonly QuotedRow[],
  escape: (text: string) => string,
): string | undefined {
  const body = rows.map(({ text, marker }) => ({ cells: cellsOf(text), marker }))
  const heads = titles
    .split('\n')
    .map(cellsOf)
    .filter((head) => head.length > 1)
  const width = Math.max(...body.map(({ cells }) => cells.length))
  const columns = Array.from({ length: width }, (_, column) => {
    const names = heads.map((head) => head[column]?.trim() ?? '')
    return [...new Set(names)].filter((name) => name !== '' && name.length <= MAX_TITLE_CHARACTERS).join(' ')
  })
  if (width < 2 || columns.every((title) => title === '')) return undefined
  const used = columns.flatMap((title, column) =>
    title !== '' || body.some(({ cells }) => cells[column]?.trim()) ? [column] : [],
  )
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const written = [
    used.map((column) => escape(columns[column] ?? '')),
    ...body.map(({ cells, marker }) =>
      used.map((column, place) => `${escape(cells[column] ?? '')}${place === 0 ? ` ${marker}` : ''}`.trim()),
    ),
  ]
  const isTransposed = rows.length === 1 && used.length > MAX_HORIZONTAL_COLUMNS
  const [top = [], ...others] = isTransposed ? used.map((_, place) => written.map((row) => row[place] ?? '')) : written
  return [line(top), line(top.map(() => '---')), ...others.map(line)].join('\n')
}
