/** Reads the picture of one page: upright first, level second, then its words, which are put back where they stood. */
import { detectLanguage } from '#server/documents/language.ts'
import { type ParsedPage } from '#server/documents/parse/page.ts'
import { findRules } from './cells.ts'
import {
  beforeFreeTurn,
  beforeQuarterTurn,
  isBlank,
  measureSkew,
  type QuarterTurn,
  type Raster,
  turnFreely,
  turnQuarter,
  whitenPaper,
} from './raster.ts'
import { readCellsAgain } from './read-cells.ts'
import { loadTesseract, type OcrLanguage, type Tesseract, type Word } from './tesseract.ts'
import { boxOf, writeWords } from './write-words.ts'

export type RecognisedText = Required<Pick<ParsedPage, 'text' | 'boxes' | 'confidence'>>

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

const ALL_LANGUAGES: readonly OcrLanguage[] = ['eng', 'deu', 'fra', 'spa', 'kor']
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

const NOTHING: RecognisedText = { text: '', boxes: [], confidence: 0 }

export function createRecogniser(): Recogniser {
  let loading: Promise<Tesseract> | undefined
  let languages = ALL_LANGUAGES

  return {
    async recognise(raster) {
      if (isBlank(raster)) return NOTHING
      loading ??= loadTesseract()
      const tesseract = await loading
      const paper = whitenPaper(raster)
      const turn = tesseract.findTurn(paper)
      let reading = readTurned(tesseract, paper, turn, languages)
      if (reading.confidence < CONTENT_ABOVE && languages !== ALL_LANGUAGES)
        reading = better(reading, readTurned(tesseract, paper, turn, ALL_LANGUAGES))
      if (reading.confidence < CONTENT_ABOVE && turn !== 0)
        reading = better(reading, readTurned(tesseract, paper, 0, ALL_LANGUAGES))
      if (!reading.words.some(({ confidence, text }) => confidence >= TEXT_ABOVE && /[\p{L}\p{N}]{2}/u.test(text)))
        return NOTHING
      const rules = findRules(reading.upright)
      const words = readCellsAgain(tesseract, reading.upright, reading.words, rules, languages)
      const { text, placed } = writeWords(words, rules)
      if (reading.confidence >= CONTENT_ABOVE && text.length >= ENOUGH_CHARACTERS)
        languages = READ_AS[detectLanguage(text)] ?? ALL_LANGUAGES
      return {
        text,
        boxes: placed.map((word) => boxOf(word, reading.toPage)),
        confidence: Math.round(reading.confidence),
      }
    },
  }
}

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
