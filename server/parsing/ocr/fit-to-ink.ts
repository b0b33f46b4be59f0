/** Moves word borders to the ink: the engine estimates them, and those of syllables often lie inside a neighbour. */
import type { Raster } from './raster.ts'
import type { Word } from './tesseract.ts'

export const SYLLABLES = '[\\p{Script=Hangul}\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}]'
const SYLLABLE = new RegExp(SYLLABLES, 'u')
const DARK = 140
const MIN_GAP_SHARE = 0.6

/** Between syllables the border becomes the widest gap; next to letters, the wide gap nearest to the syllable. */
export function fitToInk(raster: Raster, words: readonly Word[]): Word[] {
  const fitted: Word[] = []
  for (const word of words) {
    const last = fitted.at(-1)
    const gap = last?.line === word.line ? gapBetween(raster, last, word) : undefined
    if (!last || !gap) {
      fitted.push(word)
      continue
    }
    const right = word.left + word.width
    fitted[fitted.length - 1] = { ...last, width: gap.from - last.left }
    fitted.push({ ...word, left: gap.to, width: right - gap.to })
  }
  return fitted
}

interface Gap {
  readonly from: number
  readonly to: number
}

const widthOf = ({ from, to }: Gap): number => to - from

function gapBetween(raster: Raster, before: Word, after: Word): Gap | undefined {
  const [isBefore, isAfter] = [SYLLABLE.test(before.text), SYLLABLE.test(after.text)]
  if (!isBefore && !isAfter) return undefined
  const gaps = listGaps(raster, before, after)
  const widest = Math.max(...gaps.map(widthOf))
  if (isBefore && isAfter) return gaps.find((gap) => widthOf(gap) === widest)
  const wide = gaps.filter((gap) => widthOf(gap) >= MIN_GAP_SHARE * widest)
  return isAfter ? wide.at(-1) : wide[0]
}

function listGaps({ width, pixels }: Raster, before: Word, after: Word): Gap[] {
  const begin = Math.round(before.left + before.width / 2)
  const end = Math.round(after.left + after.width / 2)
  const top = Math.min(before.top, after.top)
  const bottom = Math.max(before.top + before.height, after.top + after.height)
  const hasInk = (x: number): boolean => {
    for (let y = top; y < bottom; y += 1) if ((pixels[y * width + x] ?? 255) < DARK) return true
    return false
  }
  const gaps: Gap[] = []
  let from = -1
  for (let x = begin; x <= end; x += 1) {
    const isWhite = x < end && !hasInk(x)
    if (isWhite && from < 0) from = x
    if (isWhite || from < 0) continue
    gaps.push({ from, to: x })
    from = -1
  }
  return gaps
}
