/** Finds the ruled tables of a page, so that what is read can be put into cells. */
import { type Raster } from './raster.ts'
import { type Block, type Word } from './tesseract.ts'

/** A straight line: `at` across its direction, `from` and `to` along it. */
interface Rule {
  at: number
  from: number
  to: number
  last: number
}

export interface Rules {
  readonly horizontal: readonly Rule[]
  readonly vertical: readonly Rule[]
}

/** The box around a point that the nearest rules make. */
export type Cell = Block

const DARK = 150
/** Share of the longer side that a line must have at least; letters have no strokes of that length. */
const LEAST_LENGTH = 0.025
const THICKEST = 14
const NEAR = 8
const MOST_RULES = 2_000
const MOST_CELLS = 500

export function findRules(raster: Raster): Rules {
  const { width, height, pixels } = raster
  const least = Math.max(width, height) * LEAST_LENGTH
  return {
    horizontal: findAlong(height, width, (across, along) => pixels[across * width + along] ?? 255, least * 2),
    vertical: findAlong(width, height, (across, along) => pixels[along * width + across] ?? 255, least),
  }
}

function findAlong(
  acrossEnd: number,
  alongEnd: number,
  pixel: (across: number, along: number) => number,
  least: number,
): Rule[] {
  const done: Rule[] = []
  let open: Rule[] = []
  for (let across = 0; across < acrossEnd && done.length < MOST_RULES; across += 1) {
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
  // What is thicker is a filled area.
  return [...done, ...open].filter(({ at, last }) => last - at <= THICKEST)
}

function extend(open: Rule[], across: number, from: number, to: number): void {
  const same = open.find((rule) => rule.from < to && from < rule.to)
  if (!same) {
    open.push({ at: across, from, to, last: across })
    return
  }
  same.last = across
  same.from = Math.min(same.from, from)
  same.to = Math.max(same.to, to)
}

/** The cell that a word stands in, undefined where it is not between rules on all four sides. */
export const cellOf = ({ left, top, width, height }: Word, rules: Rules): Cell | undefined =>
  cellAt(left + width / 2, top + height / 2, rules)

function cellAt(x: number, y: number, { horizontal, vertical }: Rules): Cell | undefined {
  const beside = vertical.filter(({ from, to }) => from - NEAR <= y && y <= to + NEAR).map(({ at }) => at)
  const over = horizontal.filter(({ from, to }) => from - NEAR <= x && x <= to + NEAR).map(({ at }) => at)
  const cell = {
    left: Math.max(...beside.filter((at) => at <= x)),
    right: Math.min(...beside.filter((at) => at > x)),
    top: Math.max(...over.filter((at) => at <= y)),
    bottom: Math.min(...over.filter((at) => at > y)),
  }
  return Object.values(cell).every(Number.isFinite) ? cell : undefined
}

/** Every cell that two rules make a corner of, whether or not something was read in it. */
export function listCells(rules: Rules): Cell[] {
  const cells: Cell[] = []
  for (const { at: top, from: left, to: right } of rules.horizontal) {
    for (const { at, from, to } of rules.vertical) {
      const isCorner = from - NEAR <= top && top < to - NEAR && left - NEAR <= at && at < right - NEAR
      const cell = isCorner ? cellAt(at + 2 * NEAR, top + 2 * NEAR, rules) : undefined
      if (cell && !cells.some((known) => isSameCell(known, cell))) cells.push(cell)
      if (cells.length > MOST_CELLS) return cells
    }
  }
  return cells
}

export const isSameCell = (one: Cell, other: Cell): boolean =>
  Math.abs(one.left - other.left) <= NEAR && Math.abs(one.top - other.top) <= NEAR

export const isSameRow = (one: Cell, other: Cell): boolean => Math.abs(one.top - other.top) <= NEAR

/** Cells side by side or one under the other belong to one table. */
export const touches = (one: Cell, other: Cell): boolean =>
  one.left <= other.right + NEAR &&
  other.left <= one.right + NEAR &&
  one.top <= other.bottom + NEAR &&
  other.top <= one.bottom + NEAR
