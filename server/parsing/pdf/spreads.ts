import type { Cell, Line } from './lines.ts'

const MIN_ASPECT_RATIO = 1.2
const MIN_LINES = 5
const GUTTER = 2
/** Share of lines at one height on both sides; rows of a table nearly all share theirs. */
const MAX_SHARED = 0.5
const UPRIGHT = 0.01

export function splitFacingPages(lines: readonly Line[]): (readonly Line[])[] {
  const cells = lines.flatMap((line) => line.cells)
  if (cells.length === 0 || lines.some(({ angle }) => Math.abs(angle) > UPRIGHT)) return [lines]
  const [from, to] = [Math.min(...cells.map((cell) => cell.from)), Math.max(...cells.map((cell) => cell.to))]
  const downs = lines.map(({ down }) => down)
  if (to - from < MIN_ASPECT_RATIO * (Math.max(...downs) - Math.min(...downs))) return [lines]
  const middle = (from + to) / 2
  const gap = (GUTTER * Math.max(...lines.map(({ height }) => height))) / 2
  const isLeft = (cell: Cell) => cell.to < middle - gap
  const isRight = (cell: Cell) => cell.from > middle + gap
  if (!cells.every((cell) => isLeft(cell) || isRight(cell))) return [lines]
  const pages = [selectCells(lines, isLeft), selectCells(lines, isRight)] as const
  const shared = pages[0].length + pages[1].length - lines.length
  return pages.every(({ length }) => length >= MIN_LINES && shared <= MAX_SHARED * length) ? [...pages] : [lines]
}

const selectCells = (lines: readonly Line[], belongs: (cell: Cell) => boolean): Line[] =>
  lines.flatMap((line) => {
    const cells = line.cells.filter(belongs)
    if (cells.length === line.cells.length) return [line]
    return cells.length === 0 ? [] : [{ ...line, items: cells.flatMap(({ items }) => items), cells }]
  })
