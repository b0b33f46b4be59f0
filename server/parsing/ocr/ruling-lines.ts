import type { Raster } from './raster.ts'
import type { Block, Word } from './tesseract.ts'

interface RulingLine {
  at: number
  from: number
  to: number
  last: number
}

export interface RulingLines {
  readonly horizontal: readonly RulingLine[]
  readonly vertical: readonly RulingLine[]
}

export type Cell = Block

const DARK = 150
/** Share of the longer side of the page; letters have no strokes of that length. */
const MIN_LENGTH = 0.025
const MAX_THICKNESS = 14
const TOLERANCE = 8
const MAX_LINES = 2_000
const MAX_CELLS = 500

export function findRulingLines(raster: Raster): RulingLines {
  const { width, height, pixels } = raster
  const least = Math.max(width, height) * MIN_LENGTH
  return {
    horizontal: findLines(height, width, (across, along) => pixels[across * width + along] ?? 255, least * 2),
    vertical: findLines(width, height, (across, along) => pixels[along * width + across] ?? 255, least),
  }
}

function findLines(
  acrossEnd: number,
  alongEnd: number,
  pixel: (across: number, along: number) => number,
  least: number,
): RulingLine[] {
  const done: RulingLine[] = []
  let open: RulingLine[] = []
  for (let across = 0; across < acrossEnd && done.length < MAX_LINES; across += 1) {
    let from = -1
    for (let along = 0; along <= alongEnd; along += 1) {
      if (along < alongEnd && pixel(across, along) < DARK) {
        if (from < 0) from = along
        continue
      }
      if (from >= 0 && along - from >= least) extend(open, across, from, along)
      from = -1
    }
    done.push(...open.filter(({ last }) => last < across - 2))
    open = open.filter(({ last }) => last >= across - 2)
  }
  // Thicker shapes are filled areas.
  return [...done, ...open].filter(({ at, last }) => last - at <= MAX_THICKNESS)
}

function extend(open: RulingLine[], across: number, from: number, to: number): void {
  const same = open.find((rule) => rule.from < to && from < rule.to)
  if (!same) {
    open.push({ at: across, from, to, last: across })
    return
  }
  same.last = across
  same.from = Math.min(same.from, from)
  same.to = Math.max(same.to, to)
}

export const findCell = ({ left, top, width, height }: Word, rules: RulingLines): Cell | undefined =>
  cellAt(left + width / 2, top + height / 2, rules)

function cellAt(x: number, y: number, { horizontal, vertical }: RulingLines): Cell | undefined {
  const beside = vertical.filter(({ from, to }) => from - TOLERANCE <= y && y <= to + TOLERANCE).map(({ at }) => at)
  const over = horizontal.filter(({ from, to }) => from - TOLERANCE <= x && x <= to + TOLERANCE).map(({ at }) => at)
  const cell = {
    left: Math.max(...beside.filter((at) => at <= x)),
    right: Math.min(...beside.filter((at) => at > x)),
    top: Math.max(...over.filter((at) => at <= y)),
    bottom: Math.min(...over.filter((at) => at > y)),
  }
  return Object.values(cell).every(Number.isFinite) ? cell : undefined
}

export function listCells(rules: RulingLines): Cell[] {
  const cells: Cell[] = []
  for (const { at: top, from: left, to: right } of rules.horizontal) {
    for (const { at, from, to } of rules.vertical) {
      const isCorner =
        from - TOLERANCE <= top && top < to - TOLERANCE && left - TOLERANCE <= at && at < right - TOLERANCE
      const cell = isCorner ? cellAt(at + 2 * TOLERANCE, top + 2 * TOLERANCE, rules) : undefined
      if (cell && !cells.some((known) => isSameCell(known, cell))) cells.push(cell)
      if (cells.length > MAX_CELLS) return cells
    }
  }
  return cells
}

export const isSameCell = (one: Cell, other: Cell): boolean =>
  Math.abs(one.left - other.left) <= TOLERANCE && Math.abs(one.top - other.top) <= TOLERANCE

export const isSameRow = (one: Cell, other: Cell): boolean => Math.abs(one.top - other.top) <= TOLERANCE

export const touches = (one: Cell, other: Cell): boolean =>
  one.left <= other.right + TOLERANCE &&
  other.left <= one.right + TOLERANCE &&
  one.top <= other.bottom + TOLERANCE &&
  other.top <= one.bottom + TOLERANCE
