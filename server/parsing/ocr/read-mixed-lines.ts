/**
 * Reads lines again that mix Hangul with Latin letters. Tesseract reads a word with one language's model or the other's:
 * "YGE소속" is half lost with either. Here the Korean model reads the line alone, and what is no Hangul to it is read in
 * its place with the English one.
 */
import { fitToInk } from './fit-to-ink.ts'
import { type Raster } from './raster.ts'
import { type Block, type Tesseract, type Word } from './tesseract.ts'

const HANGUL = /[가-힣]/g
const LETTERS = /[\p{L}\p{N}]/gu
const IS_HANGUL = /^[가-힣]+[.,!?:;]?$/
const MIN_HANGUL_SHARE = 0.3
/** Share of the line's height. */
const MARGIN = 0.2
const MIN_CONFIDENCE = 60
const HIGH_CONFIDENCE = 80

export function readMixedLines(tesseract: Tesseract, raster: Raster, words: readonly Word[]): readonly Word[] {
  const lines = Map.groupBy(words, ({ line }) => line)
  const mixed = [...lines.values()].filter(isMixed)
  if (mixed.length === 0) return words
  const results = tesseract.readBlocks(
    raster,
    mixed.map((line) => measureBand(line, raster)),
    ['kor'],
  )
  const replaced = new Map<string, Word[]>()
  mixed.forEach((line, index) => {
    const [first] = line
    if (first) replaced.set(first.line, readLatin(tesseract, raster, line, results[index] ?? []))
  })
  return [...lines].flatMap(([key, line]) => replaced.get(key) ?? line)
}

function isMixed(line: readonly Word[]): boolean {
  const text = line.map((word) => word.text).join('')
  const letters = text.match(LETTERS)?.length ?? 0
  const hangul = text.match(HANGUL)?.length ?? 0
  return hangul < letters && hangul > MIN_HANGUL_SHARE * letters
}

/** The band that the line stands in: a word that strays up or down is read where the others stand. */
function measureBand(words: readonly Word[], { width, height }: Raster): Block {
  const tall = median(words.map((word) => word.height))
  const middle = median(words.map((word) => word.top + word.height / 2))
  const reach = Math.round(tall * (0.5 + MARGIN))
  return {
    left: Math.max(0, Math.min(...words.map(({ left }) => left)) - reach),
    top: Math.max(0, Math.round(middle) - reach),
    right: Math.min(width, Math.max(...words.map((word) => word.left + word.width)) + reach),
    bottom: Math.min(height, Math.round(middle) + reach),
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[sorted.length >> 1] ?? 0
}

/** The Korean reading, with each stretch that is no Hangul read as Latin; the line as it was where that gives less. */
function readLatin(tesseract: Tesseract, raster: Raster, line: readonly Word[], korean: readonly Word[]): Word[] {
  const [{ line: lineKey, paragraph } = { line: '', paragraph: '' }] = line
  const band = measureBand(line, raster)
  const fitted = fitToInk(raster, korean)
  // Borders that were fitted may cut off a last letter, and those of the engine reach into a syllable: both are tried.
  const stretches = findStretches(fitted, band)
  const guessed = findStretches(korean, band)
  const narrow = readStretches(tesseract, raster, stretches)
  const wide = readStretches(
    tesseract,
    raster,
    stretches.map((stretch, index) => ({
      ...stretch,
      left: Math.min(stretch.left, guessed[index]?.left ?? stretch.left),
      right: Math.max(stretch.right, guessed[index]?.right ?? stretch.right),
    })),
  )
  const latin = narrow.flatMap((words, index) => chooseBetter(words, wide[index] ?? []))
  const hangul = fitted.filter(({ text }) => IS_HANGUL.test(text))
  const read = [...hangul, ...latin].toSorted((one, other) => one.left - other.left)
  if (countHangul(read) < countHangul(line)) return [...line]
  return read.map((word) => ({ ...word, line: lineKey, paragraph }))
}

/**
 * From one syllable to the next where there is something else between them. The engine may see two lines in the band, which
 * it tells one after the other, and syllables that overlap.
 */
export function findStretches(words: readonly Word[], { left, right, top, bottom }: Block): Block[] {
  const stretches: Block[] = []
  let from = left
  let isDoubtful = false
  for (const word of words.toSorted((one, other) => one.left - other.left)) {
    if (!IS_HANGUL.test(word.text)) {
      isDoubtful = true
      continue
    }
    if (isDoubtful) stretches.push({ left: from, right: Math.max(from, word.left), top, bottom })
    isDoubtful = false
    from = Math.max(from, word.left + word.width)
  }
  return isDoubtful ? [...stretches, { left: from, right: Math.max(from, right), top, bottom }] : stretches
}

const readStretches = (tesseract: Tesseract, raster: Raster, stretches: readonly Block[]): Word[][] =>
  tesseract
    .readBlocks(raster, stretches, ['eng'])
    .map((words) => words.filter(({ confidence, text }) => confidence >= MIN_CONFIDENCE && /[\p{L}\p{N}]/u.test(text)))

const countLetters = (words: readonly Word[]): number =>
  words.reduce((sum, { text }) => sum + (text.match(LETTERS)?.length ?? 0), 0)

/** Something of the syllable beside it is read as a sign. */
const withoutSigns = (word: Word): Word => ({
  ...word,
  text: word.text.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ''),
})

function chooseBetter(narrow: Word[], wide: Word[]): Word[] {
  const isSure = wide.length > 0 && wide.every(({ confidence }) => confidence >= HIGH_CONFIDENCE)
  return isSure && countLetters(wide) > countLetters(narrow) ? wide.map(withoutSigns) : narrow
}

const countHangul = (words: readonly Word[]): number =>
  words.reduce((sum, { text }) => sum + (text.match(HANGUL)?.length ?? 0), 0)
