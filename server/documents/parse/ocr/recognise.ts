/** Reads the picture of one page: upright first, level second, then its words, which are put back where they stood. */
import { DOCUMENT_LANGUAGES } from '#contract/document.ts'
import { detectLanguage } from '#server/documents/language.ts'
import { type ParsedPage } from '#server/documents/parse/page.ts'
import { blocksOfText } from '#server/documents/parse/plain-blocks.ts'
import { findRules } from './cells.ts'
import {
  beforeFreeTurn,
  beforeQuarterTurn,
  inverted,
  isBlank,
  isDarkGround,
  measureSkew,
  type QuarterTurn,
  type Raster,
  turnFreely,
  turnQuarter,
  whitenPaper,
} from './raster.ts'
import { fitToInk } from './fit-to-ink.ts'
import { readCellsAgain } from './read-cells.ts'
import { readMixedLines } from './read-mixed-lines.ts'
import { readSubscripts } from './read-subscripts.ts'
import { loadTesseract, type OcrLanguage, type Tesseract, type Word } from './tesseract.ts'
import { boxOf, writeWords } from './write-words.ts'

export type RecognisedText = Required<Pick<ParsedPage, 'text' | 'boxes' | 'confidence'>> &
  Pick<ParsedPage, 'blocks' | 'gap'>

/** Reads page after page of one document; what language the first ones are in makes the later ones quicker. */
export interface Recogniser {
  recognise(raster: Raster): Promise<RecognisedText>
}

/** What was read of a page once it stood upright, and the way back from there to shares of the page. */
interface Reading {
  readonly languages: readonly OcrLanguage[]
  readonly turn: QuarterTurn
  readonly upright: Raster
  readonly words: readonly Word[]
  readonly confidence: number
  /** Share of what was seen that stands in lines which no model was sure of. */
  readonly unknown: number
  readonly toPage: (x: number, y: number) => { readonly x: number; readonly y: number }
}

const ALL_LANGUAGES: readonly OcrLanguage[] = DOCUMENT_LANGUAGES
/** Tells which language a page in Latin letters is in, although it does not know their accents. */
const TELLS_LANGUAGES: readonly OcrLanguage[] = ['eng']
/** By the name that `detectLanguage` gives. English words stand in texts of every language. */
const READ_AS: Readonly<Record<string, readonly OcrLanguage[]>> = {
  english: TELLS_LANGUAGES,
  german: ['deu', 'eng'],
  french: ['fra', 'eng'],
  spanish: ['spa', 'eng'],
}
const ENOUGH_CHARACTERS = 300
/** Fewer hold too few common words to tell their language by. */
const TELLING_CHARACTERS = 100
/** A page that is read with less is read again with all languages, and the other way up if it was turned. */
const CONTENT_ABOVE = 80
/** Lines less sure than this may be in letters that the models do not know. */
const KNOWN_LINE_CONFIDENCE = 60
/** Share of the characters of a page that may stand in such lines. */
const MOST_UNKNOWN = 0.03
/** Less sure by so little is as good. */
const SAME_CONFIDENCE = 1
/** Lines less sure than this are stains and patterns. */
const LEAST_LINE_CONFIDENCE = 25
/** One word at least must be as sure as this, or nothing on the page was text. */
const TEXT_ABOVE = 50

const BLANK: RecognisedText = { text: '', boxes: [], confidence: 0, gap: 'blank' }
const NOTHING: RecognisedText = { ...BLANK, gap: 'not_recognised' }

const possibleLanguages = (preferred: readonly OcrLanguage[]): readonly OcrLanguage[] =>
  preferred.length > 0 ? [...new Set([...preferred, ...TELLS_LANGUAGES])] : ALL_LANGUAGES

/** With what the first page is begun. */
const firstLanguages = (possible: readonly OcrLanguage[]): readonly OcrLanguage[] =>
  possible.length > 2 ? TELLS_LANGUAGES : possible

/** Loads ahead of the first page what `createRecogniser` of the same languages will need. */
export async function prepareRecognition(preferred: readonly OcrLanguage[]): Promise<void> {
  const tesseract = await loadTesseract()
  tesseract.prepare(firstLanguages(possibleLanguages(preferred)))
}

/** @param preferred what the pages are said to be in. */
export function createRecogniser(preferred: readonly OcrLanguage[] = []): Recogniser {
  const possible = possibleLanguages(preferred)
  let told: readonly OcrLanguage[] | undefined

  return {
    async recognise(raster) {
      if (isBlank(raster)) return BLANK
      const tesseract = await loadTesseract()
      const isDark = isDarkGround(raster)
      const paper = whitenPaper(isDark ? inverted(raster) : raster)
      let reading = inItsLanguage(
        tesseract,
        paper,
        told ? readUpright(tesseract, paper, told) : readFirst(tesseract, paper, possible),
      )
      // A dark photograph may still show dark words on a lighter sign.
      if (isDark && reading.confidence < CONTENT_ABOVE)
        reading = better(reading, readTurned(tesseract, whitenPaper(raster), 0, told ?? possible))
      if (!reading.words.some(({ confidence, text }) => confidence >= TEXT_ABOVE && /[\p{L}\p{N}]{2}/u.test(text)))
        return NOTHING
      const rules = findRules(reading.upright)
      const mixed = fitToInk(reading.upright, readMixedLines(tesseract, reading.upright, reading.words))
      const indexed = readSubscripts(tesseract, reading.upright, mixed)
      const words = readCellsAgain(tesseract, reading.upright, indexed, rules, reading.languages)
      const { text, placed } = writeWords(words, rules)
      if (reading.confidence >= CONTENT_ABOVE && text.length >= ENOUGH_CHARACTERS)
        told = READ_AS[detectLanguage(text)] ?? possible
      return {
        text,
        blocks: blocksOfText(text),
        boxes: placed.map((word) => boxOf(word, reading.toPage)),
        confidence: Math.round(reading.confidence),
      }
    },
  }
}

/**
 * The first page of a document, of which nobody has said that it is in one language: by English's model alone where that
 * knows every line, since it reads in half of the time that all take.
 */
function readFirst(tesseract: Tesseract, page: Raster, possible: readonly OcrLanguage[]): Reading {
  const first = firstLanguages(possible)
  if (first === possible) return readUpright(tesseract, page, possible)
  const guess = readTurned(tesseract, page, 0, first)
  if (isClear(guess) && guess.unknown <= MOST_UNKNOWN && languageOf(guess)) return guess
  return readUpright(tesseract, page, possible)
}

function readUpright(tesseract: Tesseract, page: Raster, languages: readonly OcrLanguage[]): Reading {
  // Most pages stand upright, and to find out how one stands costs a fifth of reading it.
  let reading = readTurned(tesseract, page, 0, languages)
  if (isClear(reading)) return reading
  const turn = tesseract.findTurn(page)
  if (turn !== 0) reading = better(reading, readTurned(tesseract, page, turn, languages))
  for (const other of languages.length < ALL_LANGUAGES.length ? new Set([turn, 0 as const]) : [])
    if (reading.confidence < CONTENT_ABOVE) reading = better(reading, readTurned(tesseract, page, other, ALL_LANGUAGES))
  return reading
}

/**
 * Reads a page once more where it turns out to be in a language whose model had no part in reading it, or had to share it
 * with more than English's: of several models that are sure, the wrong one may win a word, and writes é for its ö.
 */
function inItsLanguage(tesseract: Tesseract, page: Raster, reading: Reading): Reading {
  const tells = reading.confidence >= CONTENT_ABOVE && charactersOf(reading.words) >= TELLING_CHARACTERS
  const own = tells ? languageOf(reading) : undefined
  if (!own || own === TELLS_LANGUAGES) return reading
  if (reading.languages.length <= 2 && own.every((language) => reading.languages.includes(language))) return reading
  const again = readTurned(tesseract, page, reading.turn, own)
  return again.confidence >= reading.confidence - SAME_CONFIDENCE ? again : reading
}

const languageOf = ({ words }: Reading): readonly OcrLanguage[] | undefined =>
  READ_AS[detectLanguage(words.map(({ text }) => text).join(' '))]

/** A page on its side yields some letters too, and a few of them may look sure. */
const isClear = ({ words, confidence }: Reading): boolean =>
  confidence >= CONTENT_ABOVE && charactersOf(words) >= ENOUGH_CHARACTERS

const better = (one: Reading, other: Reading): Reading => (other.confidence > one.confidence ? other : one)

function readTurned(tesseract: Tesseract, page: Raster, turn: QuarterTurn, languages: readonly OcrLanguage[]): Reading {
  const turned = turnQuarter(page, turn)
  const skew = measureSkew(turned)
  const upright = skew === 0 ? turned : turnFreely(turned, -skew)
  const read = tesseract.readWords(upright, languages)
  const words = withLinesAbove(read, LEAST_LINE_CONFIDENCE)
  return {
    languages,
    turn,
    upright,
    words,
    confidence: meanConfidence(words),
    unknown: 1 - charactersOf(withLinesAbove(read, KNOWN_LINE_CONFIDENCE)) / Math.max(1, charactersOf(read)),
    toPage(x, y) {
      const inTurned = skew === 0 ? { x, y } : beforeFreeTurn({ x, y }, -skew, upright, turned)
      const inPage = beforeQuarterTurn(inTurned, turn, page)
      return { x: inPage.x / page.width, y: inPage.y / page.height }
    },
  }
}

function withLinesAbove(words: readonly Word[], least: number): Word[] {
  const byLine = Map.groupBy(words, ({ line }) => line)
  return words.filter(({ line }) => meanConfidence(byLine.get(line) ?? []) >= least)
}

const charactersOf = (words: readonly Word[]): number => words.reduce((sum, { text }) => sum + text.length, 0)

/** Weighed by length: a long word says more than a stain. */
function meanConfidence(words: readonly Word[]): number {
  const weighed = words.reduce((sum, { text, confidence }) => sum + text.length * confidence, 0)
  return weighed / Math.max(1, charactersOf(words))
}
