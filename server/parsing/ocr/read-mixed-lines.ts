/** Rereads lines of Hangul and Latin letters: Tesseract reads each word with one model and loses half of "YGE소속". */
import { fitToInk } from './fit-to-ink.ts'
import type { Raster } from './raster.ts'
import type { Block, Tesseract, Word } from './tesseract.ts'

const HANGUL = /[가-힣]/g
const LETTERS = /[\p{L}\p{N}]/gu
const IS_HANGUL = /^[가-힣]+[.,!?:;]?$/
const MIN_HANGUL_SHARE = 0.3
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

/** Uses medians, so that a stray word does not widen the line. */
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

/** Combines Hangul and Latin results; returns the original line if that loses Hangul. */
function readLatin(tesseract: Tesseract, raster: Raster, line: readonly Word[], korean: readonly Word[]): Word[] {
  const [{ line: lineKey, paragraph } = { line: '', paragraph: '' }] = line
  const band = measureBand(line, raster)
  const fitted = fitToInk(raster, korean)
  // Fitted borders may cut a letter, the engine's may reach into a syllable: try both.
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

/** Returns stretches between syllables that hold ink. Syllables may overlap or span two lines. */
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

/** Part of a neighbouring syllable is often read as punctuation. */
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
