/** Rereads doubtful cells of ruled tables one by one: single digits, titles of several lines. */
import { type Cell, findCell, isSameCell, listCells, type RulingLines } from './ruling-lines.ts'
import type { Raster } from './raster.ts'
import type { OcrLanguage, Tesseract, Word } from './tesseract.ts'

const MIN_CONFIDENCE = 80
const INSET = 8
const MIN_SIDE = 16
const DARK = 128
const MIN_INK_SHARE = 0.002
const MIN_CELLS = 4
/** More cells are a drawing, or take too long. */
const MAX_CELLS = 300

export function readCellsAgain(
  tesseract: Tesseract,
  raster: Raster,
  words: readonly Word[],
  rules: RulingLines,
  languages: readonly OcrLanguage[],
): readonly Word[] {
  const cells = listCells(rules).filter(
    ({ left, right, top, bottom }) => right - left - 2 * INSET >= MIN_SIDE && bottom - top - 2 * INSET >= MIN_SIDE,
  )
  if (cells.length < MIN_CELLS || cells.length > MAX_CELLS) return words
  const inCells = new Map<Cell, Word[]>(cells.map((cell) => [cell, []]))
  for (const word of words) {
    const around = findCell(word, rules)
    const cell = around && cells.find((each) => isSameCell(each, around))
    if (cell) inCells.get(cell)?.push(word)
  }
  const doubtful = cells.filter((cell) => isDoubtful(raster, cell, inCells.get(cell) ?? []))
  const results = tesseract.readBlocks(raster, doubtful.map(inside), languages)
  const replaced = new Set<Word>()
  const added: Word[] = []
  doubtful.forEach((cell, index) => {
    const found = results[index] ?? []
    const before = inCells.get(cell) ?? []
    const isWorse =
      !before.some((word) => reachesBeyond(word, cell)) && lowestConfidence(found) <= lowestConfidence(before)
    if (found.length === 0 || lowestConfidence(found) < MIN_CONFIDENCE / 2 || isWorse) return
    for (const word of before) replaced.add(word)
    // The engine numbers lines per cell.
    added.push(...found.map((word) => ({ ...word, line: `${index}:${word.line}`, paragraph: `${index}:` })))
  })
  return [...words.filter((word) => !replaced.has(word)), ...added]
}

const inside = ({ left, top, right, bottom }: Cell): Cell => ({
  left: left + INSET,
  top: top + INSET,
  right: right - INSET,
  bottom: bottom - INSET,
})

function isDoubtful(raster: Raster, cell: Cell, words: readonly Word[]): boolean {
  if (words.length === 0) return inkShare(raster, inside(cell)) > MIN_INK_SHARE
  return lowestConfidence(words) < MIN_CONFIDENCE || words.some((word) => reachesBeyond(word, cell))
}

const reachesBeyond = ({ left, top, width, height }: Word, cell: Cell): boolean =>
  left < cell.left - INSET ||
  top < cell.top - INSET ||
  left + width > cell.right + INSET ||
  top + height > cell.bottom + INSET

const lowestConfidence = (words: readonly Word[]): number => Math.min(100, ...words.map(({ confidence }) => confidence))

function inkShare({ width, pixels }: Raster, { left, top, right, bottom }: Cell): number {
  let dark = 0
  for (let y = top; y < bottom; y += 1)
    for (let x = left; x < right; x += 1) if ((pixels[y * width + x] ?? 255) < DARK) dark += 1
  return dark / Math.max(1, (right - left) * (bottom - top))
}
