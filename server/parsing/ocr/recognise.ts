/** Reads the picture of one page: upright first, level second, then its words, which are put back where they stood. */
import { type ParsedPage } from '#server/parsing/page.ts'
import { blocksOfText } from '#server/parsing/text/plain-blocks.ts'
import { findRules } from './cells.ts'
import { fitToInk } from './fit-to-ink.ts'
import { COMMON, ENGLISH, type Readers, readersOf, readersOfScript, readersOfText } from './page-languages.ts'
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
import { readCellsAgain } from './read-cells.ts'
import { readMixedLines } from './read-mixed-lines.ts'
import { readSubscripts } from './read-subscripts.ts'
import { loadTesseract, type OcrLanguage, type Orientation, type Tesseract, type Word } from './tesseract.ts'
import { drawPracticeLines } from './warm-up-image.ts'
import { boxOf, writeWords } from './write-words.ts'

export type RecognisedText = Required<Pick<ParsedPage, 'text' | 'boxes' | 'confidence'>> &
  Pick<ParsedPage, 'blocks' | 'gap'>

/** Reads page after page of one document; what language the first ones are in makes the later ones quicker. */
export interface Recogniser {
  recognise(raster: Raster): Promise<RecognisedText>
}

/** A picture of a page; what was found out about it once is not found out again. */
interface Page {
  orientation(): Orientation
  /** Turned clockwise by so much, made level, and read. */
  read(turn: QuarterTurn, readers: Readers): Reading
}

/** A page that stands upright, and the way back from there to shares of the picture. */
interface Levelled {
  readonly upright: Raster
  readonly toPage: (x: number, y: number) => { readonly x: number; readonly y: number }
}

interface Recognised {
  readonly words: readonly Word[]
  readonly confidence: number
  /** Share of what was seen that stands in lines which no model was sure of. */
  readonly unknown: number
}

interface Reading extends Levelled, Recognised {
  readonly turn: QuarterTurn
  readonly readers: Readers
}

const ENOUGH_CHARACTERS = 300
/** Fewer hold too few common words to tell their language by. */
const TELLING_CHARACTERS = 100
/** A page that is read with less is read again with other models, and the other way up if it was turned. */
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

/** What may read a document by what the person has said. */
const possibleReaders = (preferred: readonly OcrLanguage[]): Readers =>
  preferred.length > 0 ? [...new Set(preferred.flatMap(readersOf))] : COMMON

/** With what the first page is begun. */
const firstReaders = (possible: Readers): Readers => (possible.length > 2 ? ENGLISH : possible)

/** Loads and tries ahead of the first page what `createRecogniser` of the same languages will need. */
export async function prepareRecognition(preferred: readonly OcrLanguage[]): Promise<void> {
  const tesseract = await loadTesseract()
  tesseract.readWords(drawPracticeLines(), firstReaders(possibleReaders(preferred)))
}

/** @param preferred what the pages are said to be in. */
export function createRecogniser(preferred: readonly OcrLanguage[] = []): Recogniser {
  const possible = possibleReaders(preferred)
  let told: Readers | undefined

  return {
    async recognise(raster) {
      if (isBlank(raster)) return BLANK
      const tesseract = await loadTesseract()
      const isDark = isDarkGround(raster)
      const page = showPage(tesseract, whitenPaper(isDark ? inverted(raster) : raster))
      let reading = inItsLanguage(page, told ? readUpright(page, told) : readFirst(page, possible))
      // A dark photograph may still show dark words on a lighter sign.
      if (isDark && reading.confidence < CONTENT_ABOVE)
        reading = better(reading, showPage(tesseract, whitenPaper(raster)).read(0, told ?? possible))
      if (!reading.words.some(({ confidence, text }) => confidence >= TEXT_ABOVE && /[\p{L}\p{N}]{2}/u.test(text)))
        return NOTHING
      const rules = findRules(reading.upright)
      const mixed = fitToInk(reading.upright, readMixedLines(tesseract, reading.upright, reading.words))
      const indexed = readSubscripts(tesseract, reading.upright, mixed)
      const words = readCellsAgain(tesseract, reading.upright, indexed, rules, reading.readers)
      const { text, placed } = writeWords(words, rules)
      if (reading.confidence >= CONTENT_ABOVE && text.length >= ENOUGH_CHARACTERS)
        told = readersOfText(text) ?? reading.readers
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
 * The first page of a document, of which nobody has said that it is in one language: by English's model where that knows
 * every line; by the model of the language or the script that it turns out to be in; by several together where it tells
 * neither. One model reads in a half or a third of the time that several take, and its own reads best.
 */
function readFirst(page: Page, possible: Readers): Reading {
  if (firstReaders(possible) === possible) return readUpright(page, possible)
  const guess = page.read(0, ENGLISH)
  const own = readersOfWords(guess)
  if (own) {
    const reading = own === ENGLISH ? guess : page.read(0, own)
    if (isKnown(reading)) return reading
  }
  const reading = isKnown(guess) ? undefined : readInScript(page)
  return reading && reading.confidence >= CONTENT_ABOVE ? reading : readUpright(page, possible)
}

function readUpright(page: Page, readers: Readers): Reading {
  // Most pages stand upright, and to find out how one stands costs a fifth of reading it.
  let reading = page.read(0, readers)
  if (isClear(reading)) return reading
  const { turn } = page.orientation()
  if (turn !== 0) reading = better(reading, page.read(turn, readers))
  if (readers === COMMON || reading.confidence >= CONTENT_ABOVE) return reading
  const inScript = readInScript(page)
  if (inScript) reading = better(reading, inScript)
  for (const other of new Set([turn, 0 as const]))
    if (reading.confidence < CONTENT_ABOVE) reading = better(reading, page.read(other, COMMON))
  return reading
}

/** By the best of the models that read its script; undefined where that is Latin or cannot be told. */
function readInScript(page: Page): Reading | undefined {
  const { turn, scripts } = page.orientation()
  const readings = scripts.flatMap((script) => {
    const models = readersOfScript(script)
    if (!models) return []
    return models.others
      .map((readers) => page.read(turn, readers))
      .reduce(
        (one, other) => (other.confidence > one.confidence + models.margin ? other : one),
        page.read(turn, models.likeliest),
      )
  })
  return readings.length > 0 ? readings.reduce(better) : undefined
}

/**
 * Reads a page once more where it turns out to be in a language whose model had no part in reading it, or had to share it
 * with more than English's: of several models that are sure, the wrong one may win a word, and writes é for its ö.
 */
function inItsLanguage(page: Page, reading: Reading): Reading {
  const own = reading.confidence >= CONTENT_ABOVE ? readersOfWords(reading) : undefined
  if (!own || (own === ENGLISH && reading.readers.includes('eng'))) return reading
  if (reading.readers.length <= 2 && own.every((language) => reading.readers.includes(language))) return reading
  const again = page.read(reading.turn, own)
  return again.confidence >= reading.confidence - SAME_CONFIDENCE ? again : reading
}

function readersOfWords({ words }: Reading): Readers | undefined {
  return charactersOf(words) < TELLING_CHARACTERS ? undefined : readersOfText(words.map(({ text }) => text).join(' '))
}

/** A page on its side yields some letters too, and a few of them may look sure. */
const isClear = ({ words, confidence }: Reading): boolean =>
  confidence >= CONTENT_ABOVE && charactersOf(words) >= ENOUGH_CHARACTERS

/** No line is in letters that the models do not know. */
const isKnown = (reading: Reading): boolean => isClear(reading) && reading.unknown <= MOST_UNKNOWN

const better = (one: Reading, other: Reading): Reading => (other.confidence > one.confidence ? other : one)

function showPage(tesseract: Tesseract, picture: Raster): Page {
  let orientation: Orientation | undefined
  const levelled = new Map<QuarterTurn, Levelled>()
  const readings = new Map<string, Reading>()
  return {
    orientation: () => (orientation ??= tesseract.findOrientation(picture)),
    read(turn, readers) {
      const level = levelled.get(turn) ?? levelAt(picture, turn)
      levelled.set(turn, level)
      const key = [turn, ...readers].join(' ')
      const reading = readings.get(key) ?? { ...level, ...readWords(tesseract, level.upright, readers), turn, readers }
      readings.set(key, reading)
      return reading
    },
  }
}

function levelAt(picture: Raster, turn: QuarterTurn): Levelled {
  const turned = turnQuarter(picture, turn)
  const skew = measureSkew(turned)
  const upright = skew === 0 ? turned : turnFreely(turned, -skew)
  return {
    upright,
    toPage(x, y) {
      const inTurned = skew === 0 ? { x, y } : beforeFreeTurn({ x, y }, -skew, upright, turned)
      const inPage = beforeQuarterTurn(inTurned, turn, picture)
      return { x: inPage.x / picture.width, y: inPage.y / picture.height }
    },
  }
}

function readWords(tesseract: Tesseract, upright: Raster, readers: Readers): Recognised {
  const read = tesseract.readWords(upright, readers)
  const words = withLinesAbove(read, LEAST_LINE_CONFIDENCE)
  return {
    words,
    confidence: meanConfidence(words),
    unknown: 1 - charactersOf(withLinesAbove(read, KNOWN_LINE_CONFIDENCE)) / Math.max(1, charactersOf(read)),
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
