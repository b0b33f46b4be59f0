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
  readonly upright: Raster
  readonly words: readonly Word[]
  readonly confidence: number
  readonly toPage: (x: number, y: number) => { readonly x: number; readonly y: number }
}

const ALL_LANGUAGES: readonly OcrLanguage[] = DOCUMENT_LANGUAGES
/** By the name that `detectLanguage` gives. English words stand in texts of every language. */
const READ_AS: Readonly<Record<string, readonly OcrLanguage[]>> = {
  english: ['eng'],
  german: ['deu', 'eng'],
  french: ['fra', 'eng'],
  spanish: ['spa', 'eng'],
}
const ENOUGH_CHARACTERS = 300
/** A page that is read with less is read again with all languages, and the other way up if it was turned. */
const CONTENT_ABOVE = 80
/** Lines less sure than this are stains and patterns. */
const LEAST_LINE_CONFIDENCE = 25
/** One word at least must be as sure as this, or nothing on the page was text. */
const TEXT_ABOVE = 50

const BLANK: RecognisedText = { text: '', boxes: [], confidence: 0, gap: 'blank' }
const NOTHING: RecognisedText = { ...BLANK, gap: 'not_recognised' }

/** English words stand in texts of every language. */
const firstLanguages = (preferred: readonly OcrLanguage[]): readonly OcrLanguage[] =>
  preferred.length > 0 ? [...new Set([...preferred, 'eng' as const])] : ALL_LANGUAGES

/** Loads ahead of the first page what `createRecogniser` of the same languages will need. */
export async function prepareRecognition(preferred: readonly OcrLanguage[]): Promise<void> {
  const tesseract = await loadTesseract()
  tesseract.prepare(firstLanguages(preferred))
}

/** @param preferred what the pages are said to be in. */
export function createRecogniser(preferred: readonly OcrLanguage[] = []): Recogniser {
  const first = firstLanguages(preferred)
  let languages = first

  return {
    async recognise(raster) {
      if (isBlank(raster)) return BLANK
      const tesseract = await loadTesseract()
      const isDark = isDarkGround(raster)
      const paper = whitenPaper(isDark ? inverted(raster) : raster)
      // Most pages stand upright, and to find out how one stands costs a fifth of reading it.
      let reading = readTurned(tesseract, paper, 0, languages)
      if (!isClear(reading)) {
        const turn = tesseract.findTurn(paper)
        if (turn !== 0) reading = better(reading, readTurned(tesseract, paper, turn, languages))
        for (const other of languages.length < ALL_LANGUAGES.length ? new Set([turn, 0 as const]) : [])
          if (reading.confidence < CONTENT_ABOVE)
            reading = better(reading, readTurned(tesseract, paper, other, ALL_LANGUAGES))
      }
      // A dark photograph may still show dark words on a lighter sign.
      if (isDark && reading.confidence < CONTENT_ABOVE)
        reading = better(reading, readTurned(tesseract, whitenPaper(raster), 0, languages))
      if (!reading.words.some(({ confidence, text }) => confidence >= TEXT_ABOVE && /[\p{L}\p{N}]{2}/u.test(text)))
        return NOTHING
      const rules = findRules(reading.upright)
      const mixed = fitToInk(reading.upright, readMixedLines(tesseract, reading.upright, reading.words))
      const indexed = readSubscripts(tesseract, reading.upright, mixed)
      const words = readCellsAgain(tesseract, reading.upright, indexed, rules, languages)
      const { text, placed } = writeWords(words, rules)
      if (reading.confidence >= CONTENT_ABOVE && text.length >= ENOUGH_CHARACTERS)
        languages = READ_AS[detectLanguage(text)] ?? first
      return {
        text,
        blocks: blocksOfText(text),
        boxes: placed.map((word) => boxOf(word, reading.toPage)),
        confidence: Math.round(reading.confidence),
      }
    },
  }
}

/** A page on its side yields some letters too, and a few of them may look sure. */
const isClear = ({ words, confidence }: Reading): boolean =>
  confidence >= CONTENT_ABOVE && words.reduce((sum, { text }) => sum + text.length, 0) >= ENOUGH_CHARACTERS

const better = (one: Reading, other: Reading): Reading => (other.confidence > one.confidence ? other : one)

function readTurned(tesseract: Tesseract, page: Raster, turn: QuarterTurn, languages: readonly OcrLanguage[]): Reading {
  const turned = turnQuarter(page, turn)
  const skew = measureSkew(turned)
  const upright = skew === 0 ? turned : turnFreely(turned, -skew)
  const words = withoutStains(tesseract.readWords(upright, languages))
  return {
    upright,
    words,
    confidence: meanConfidence(words),
    toPage(x, y) {
      const inTurned = skew === 0 ? { x, y } : beforeFreeTurn({ x, y }, -skew, upright, turned)
      const inPage = beforeQuarterTurn(inTurned, turn, page)
      return { x: inPage.x / page.width, y: inPage.y / page.height }
    },
  }
}

function withoutStains(words: readonly Word[]): Word[] {
  const byLine = Map.groupBy(words, ({ line }) => line)
  return words.filter(({ line }) => meanConfidence(byLine.get(line) ?? []) >= LEAST_LINE_CONFIDENCE)
}

/** Weighed by length: a long word says more than a stain. */
function meanConfidence(words: readonly Word[]): number {
  const characters = words.reduce((sum, { text }) => sum + text.length, 0)
  const weighed = words.reduce((sum, { text, confidence }) => sum + text.length * confidence, 0)
  return characters === 0 ? 0 : weighed / characters
}
