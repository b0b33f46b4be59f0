/** Rereads words such as "H₂SO₄" with enlarged, raised subscripts, which are otherwise taken for commas. */
import type { Raster } from './raster.ts'
import type { Tesseract, Word } from './tesseract.ts'

const DARK = 140
const MAY_HAVE_INDEX = /^[("[]?[A-Z].{0,14}$/
const MAX_CHARACTERS = 16
const MAX_WORDS = 400
/** Shares of the capital height: commas are smaller, descenders begin higher. */
const MIN_HEIGHT = 0.45
const MAX_HEIGHT = 0.85
const MIN_DESCENT = 0.08
const MIN_DEPTH = 0.3
const MIN_CONFIDENCE = 60
const MARGIN = 24
/** Best height for OCR, in pixels. */
const CAPITAL_HEIGHT = 36

interface Glyph {
  left: number
  right: number
  top: number
  bottom: number
}

const widthOf = ({ left, right }: Glyph): number => right - left
const heightOf = ({ top, bottom }: Glyph): number => bottom - top

export function readSubscripts(tesseract: Tesseract, raster: Raster, words: readonly Word[]): Word[] {
  let looked = 0
  return words.map((word) => {
    if (word.text.length > MAX_CHARACTERS || !MAY_HAVE_INDEX.test(word.text) || looked >= MAX_WORDS) return word
    looked += 1
    const raised = raiseSubscripts(raster, word)
    if (!raised) return word
    const [again = []] = tesseract.readBlocks(
      raised,
      [{ left: 0, top: 0, right: raised.width, bottom: raised.height }],
      ['eng'],
    )
    const [read] = again
    if (!read || again.length !== 1 || read.confidence < MIN_CONFIDENCE || !/\d/.test(read.text)) return word
    const text = keepLetters(read.text, word.text, raised.isLowered)
    return text[0] === word.text[0] ? { ...word, text, confidence: read.confidence } : word
  })
}

const LOOKALIKE_LETTERS: Readonly<Record<string, string>> = { 0: 'O', 1: 'I', 2: 'Z', 5: 'S', 8: 'B' }

/** Letters next to digits are easily read as digits: on the baseline the first result wins. */
function keepLetters(text: string, before: string, isLowered: readonly boolean[]): string {
  if (text.length !== isLowered.length) return text
  return Array.from(text, (character, index) => {
    const letter = LOOKALIKE_LETTERS[character]
    return letter !== undefined && !isLowered[index] && before.includes(letter) ? letter : character
  }).join('')
}

function raiseSubscripts(raster: Raster, word: Word): (Raster & { readonly isLowered: boolean[] }) | undefined {
  const glyphs = findGlyphs(raster, word)
  const tallest = Math.max(0, ...glyphs.map(heightOf))
  const capitals = glyphs.filter((glyph) => heightOf(glyph) >= MAX_HEIGHT * tallest)
  const baseline = Math.min(...capitals.map(({ bottom }) => bottom))
  const capital = tallest
  const lowered = glyphs.filter(
    (glyph) =>
      heightOf(glyph) >= MIN_HEIGHT * capital &&
      heightOf(glyph) <= MAX_HEIGHT * capital &&
      glyph.bottom >= baseline + MIN_DESCENT * capital &&
      glyph.top >= baseline - capital * (1 - MIN_DEPTH),
  )
  if (lowered.length === 0 || lowered.length >= glyphs.length) return undefined
  const enlarged = Math.max(1, CAPITAL_HEIGHT / capital)
  const pieces = glyphs.map((glyph, index) => ({
    glyph,
    scale: enlarged * (lowered.includes(glyph) ? capital / heightOf(glyph) : 1),
    gap: index === 0 ? 0 : Math.max(2, (glyph.left - (glyphs[index - 1]?.right ?? glyph.left)) * enlarged),
  }))
  const width = pieces.reduce((sum, { glyph, scale, gap }) => sum + Math.ceil(gap + widthOf(glyph) * scale), 2 * MARGIN)
  const height = Math.round(2 * capital * enlarged) + 2 * MARGIN
  const line = MARGIN + Math.round(1.5 * capital * enlarged)
  const pixels = new Uint8Array(width * height).fill(255)
  let x = MARGIN
  for (const { glyph, scale, gap } of pieces) {
    x += Math.round(gap)
    const drawnWidth = Math.floor(widthOf(glyph) * scale)
    const drawnHeight = Math.floor(heightOf(glyph) * scale)
    const descent = lowered.includes(glyph) ? 0 : Math.round((glyph.bottom - baseline) * enlarged)
    const top = line + descent - drawnHeight
    for (let row = Math.max(0, -top); row < drawnHeight && top + row < height; row += 1)
      for (let column = 0; column < drawnWidth; column += 1)
        pixels[(top + row) * width + x + column] = sample(raster, glyph.left + column / scale, glyph.top + row / scale)
    x += drawnWidth
  }
  return { width, height, pixels, isLowered: glyphs.map((glyph) => lowered.includes(glyph)) }
}

function sample({ width, height, pixels }: Raster, x: number, y: number): number {
  const [left, top] = [Math.floor(x), Math.floor(y)]
  const [right, bottom] = [Math.min(width - 1, left + 1), Math.min(height - 1, top + 1)]
  const at = (column: number, row: number) => pixels[row * width + column] ?? 255
  const above = at(left, top) * (1 - (x - left)) + at(right, top) * (x - left)
  const below = at(left, bottom) * (1 - (x - left)) + at(right, bottom) * (x - left)
  return above * (1 - (y - top)) + below * (y - top)
}

function findGlyphs({ width, height, pixels }: Raster, word: Word): Glyph[] {
  const reach = Math.round(word.height * 0.3)
  const [top, bottom] = [Math.max(0, word.top - 2), Math.min(height, word.top + word.height + reach)]
  const [left, right] = [Math.max(0, word.left - 2), Math.min(width, word.left + word.width + 2)]
  const glyphs: Glyph[] = []
  let open: Glyph | undefined
  for (let x = left; x < right; x += 1) {
    let [first, last] = [-1, -1]
    for (let y = top; y < bottom; y += 1) {
      if ((pixels[y * width + x] ?? 255) >= DARK) continue
      if (first < 0) first = y
      last = y
    }
    if (first < 0) {
      open = undefined
      continue
    }
    if (!open) {
      open = { left: x, right: x + 1, top: first, bottom: last + 1 }
      glyphs.push(open)
    }
    open.right = x + 1
    open.top = Math.min(open.top, first)
    open.bottom = Math.max(open.bottom, last + 1)
  }
  return glyphs
}
