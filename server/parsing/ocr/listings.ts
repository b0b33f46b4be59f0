/** Finds pages of columns without ruling lines: the engine would read these column by column and part their numbers. */
import type { Raster } from './raster.ts'

const DARK = 128
const MIN_ROW_PIXELS = 6
const MAX_ROW_SHARE = 0.1
const MIN_ROWS = 8
const MIN_CELLS = 3
const MIN_LISTING_SHARE = 0.6
/** Heights of a row; a wider gap separates two cells. */
const CELL_GAP = 1.2
/** Heights of a row; columns of prose are wider. */
const MAX_CELL_WIDTH = 14

interface Band {
  readonly top: number
  readonly bottom: number
}

/** Whether most rows of text consist of several short cells. @param raster level, dark on white */
export function isListing(raster: Raster): boolean {
  const rows = findRows(raster)
  const cells = rows.map((row) => measureCells(raster, row))
  const listed = cells.filter((widths) => widths.length >= MIN_CELLS)
  if (listed.length < MIN_ROWS || listed.length < MIN_LISTING_SHARE * rows.length) return false
  const heights = rows.map(({ top, bottom }) => bottom - top)
  return median(listed.flat()) <= MAX_CELL_WIDTH * median(heights)
}

function findRows({ width, height, pixels }: Raster): Band[] {
  const rows: Band[] = []
  let top: number | undefined
  for (let y = 0; y <= height; y += 1) {
    const hasInk = y < height && hasDark(pixels, y * width, (y + 1) * width)
    if (hasInk) top ??= y
    else if (top !== undefined) {
      if (y - top >= MIN_ROW_PIXELS && y - top <= MAX_ROW_SHARE * height) rows.push({ top, bottom: y })
      top = undefined
    }
  }
  return rows
}

function hasDark(pixels: Uint8Array, from: number, to: number): boolean {
  // A single dark pixel is a speck.
  let dark = 0
  for (let at = from; at < to; at += 1)
    if ((pixels[at] ?? 255) < DARK) {
      dark += 1
      if (dark > 1) return true
    }
  return false
}

function measureCells({ width, pixels }: Raster, { top, bottom }: Band): number[] {
  const widths: number[] = []
  const gap = CELL_GAP * (bottom - top)
  let [start, last] = [-1, -1]
  for (let x = 0; x < width; x += 1) {
    let isDark = false
    for (let y = top; y < bottom && !isDark; y += 1) isDark = (pixels[y * width + x] ?? 255) < DARK
    if (!isDark) continue
    if (start !== -1 && x - last > gap) {
      widths.push(last - start + 1)
      start = x
    }
    if (start === -1) start = x
    last = x
  }
  if (start !== -1) widths.push(last - start + 1)
  return widths
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((one, other) => one - other)[numbers.length >> 1] ?? 0
