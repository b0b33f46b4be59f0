/** OCR of a page image: turns it upright, levels it, reads its words and maps them back to the page. */
import type { ParsedPage } from '#server/parsing/page.ts'
import { findTextBlocks } from '#server/parsing/text/text-blocks.ts'
import { findRulingLines } from './ruling-lines.ts'
import { fitToInk } from './fit-to-ink.ts'
import {
  COMMON_MODELS,
  ENGLISH_MODEL,
  type OcrModels,
  modelsForLanguage,
  modelsForScript,
  modelsForText,
} from './page-models.ts'
import {
  beforeFreeTurn,
  beforeQuarterTurn,
  invert,
  isBlank,
  isDarkGround,
  measureSkew,
  type QuarterTurn,
  type Raster,
  turnFreely,
  turnQuarter,
  whitenPaper,
} from './raster.ts'
import { isListing } from './listings.ts'
import { readCellsAgain } from './read-cells.ts'
import { readMixedLines } from './read-mixed-lines.ts'
import { readSubscripts } from './read-subscripts.ts'
import { loadTesseract, type OcrLanguage, type Orientation, type Tesseract, type Word } from './tesseract.ts'
import { drawWarmUpImage } from './warm-up-image.ts'
import { boxOf, writeWords } from './write-words.ts'

export type RecognisedText = Required<Pick<ParsedPage, 'text' | 'boxes' | 'confidence'>> &
  Pick<ParsedPage, 'blocks' | 'gap'>

/** Pages of one document: the language of the first pages speeds up the later ones. */
export interface Recogniser {
  recognise(raster: Raster): Promise<RecognisedText>
}

interface OcrPage {
  orientation(): Orientation
  /** Turn to read first: most pages are upright, and detecting the orientation costs a fifth of reading. */
  firstTurn(): QuarterTurn
  read(turn: QuarterTurn, models: OcrModels): OcrResult
}

interface LevelPage {
  readonly upright: Raster
  readonly toPage: (x: number, y: number) => { readonly x: number; readonly y: number }
}

interface WordResult {
  readonly words: readonly Word[]
  readonly confidence: number
  readonly unknownShare: number
}

interface OcrResult extends LevelPage, WordResult {
  readonly turn: QuarterTurn
  readonly models: OcrModels
}

const MIN_PAGE_CHARACTERS = 300
/** Shorter text has too few common words to detect its language. */
const MIN_LANGUAGE_CHARACTERS = 100
/** Below this, other models are tried, and the opposite orientation if the page was turned. */
const GOOD_CONFIDENCE = 80
/** Less certain lines may use letters that the models do not know. */
const KNOWN_LINE_CONFIDENCE = 60
const MAX_UNKNOWN_SHARE = 0.03
/** A difference this small does not justify another model. */
const CONFIDENCE_TOLERANCE = 1
/** Less certain lines are stains and patterns. */
const MIN_LINE_CONFIDENCE = 25
/** Without a word of this confidence, nothing on the page is text. */
const MIN_WORD_CONFIDENCE = 50

const BLANK: RecognisedText = { text: '', boxes: [], confidence: 0, gap: 'blank' }
const NOT_RECOGNISED: RecognisedText = { ...BLANK, gap: 'not_recognised' }

const candidateModels = (preferred: readonly OcrLanguage[]): OcrModels =>
  preferred.length > 0 ? [...new Set(preferred.flatMap(modelsForLanguage))] : COMMON_MODELS

const firstModels = (candidates: OcrModels): OcrModels => (candidates.length > 2 ? ENGLISH_MODEL : candidates)

export async function warmUpOcr(preferred: readonly OcrLanguage[]): Promise<void> {
  const tesseract = await loadTesseract()
  tesseract.readWords(drawWarmUpImage(), firstModels(candidateModels(preferred)))
}

/** @param preferred languages that the person chose, likeliest first. */
export function createRecogniser(preferred: readonly OcrLanguage[] = []): Recogniser {
  const possible = candidateModels(preferred)
  let knownModels: OcrModels | undefined

  return {
    async recognise(raster) {
      if (isBlank(raster)) return BLANK
      const tesseract = await loadTesseract()
      const isDark = isDarkGround(raster)
      const page = createOcrPage(tesseract, whitenPaper(isDark ? invert(raster) : raster))
      let reading = readInLanguage(page, knownModels ? readUpright(page, knownModels) : readFirstPage(page, possible))
      // A dark photograph may still show dark words on a lighter sign.
      if (isDark && reading.confidence < GOOD_CONFIDENCE)
        reading = moreConfident(reading, createOcrPage(tesseract, whitenPaper(raster)).read(0, knownModels ?? possible))
      if (
        !reading.words.some(
          ({ confidence, text }) => confidence >= MIN_WORD_CONFIDENCE && /[\p{L}\p{N}]{2}/u.test(text),
        )
      )
        return NOT_RECOGNISED
      const rules = findRulingLines(reading.upright)
      const mixed = fitToInk(reading.upright, readMixedLines(tesseract, reading.upright, reading.words))
      const indexed = readSubscripts(tesseract, reading.upright, mixed)
      const words = readCellsAgain(tesseract, reading.upright, indexed, rules, reading.models)
      const { text, placed } = writeWords(words, rules)
      if (reading.confidence >= GOOD_CONFIDENCE && text.length >= MIN_PAGE_CHARACTERS)
        knownModels = modelsForText(text) ?? reading.models
      return {
        text,
        blocks: findTextBlocks(text),
        boxes: placed.map((word) => boxOf(word, reading.toPage)),
        confidence: Math.round(reading.confidence),
      }
    },
  }
}

/** The right single model is the most accurate and takes a third to half of the time of several, which come last. */
function readFirstPage(page: OcrPage, possible: OcrModels): OcrResult {
  if (firstModels(possible) === possible) return readUpright(page, possible)
  const guess = page.read(page.firstTurn(), ENGLISH_MODEL)
  const own = modelsForWords(guess)
  if (own) {
    const reading = own === ENGLISH_MODEL ? guess : page.read(guess.turn, own)
    if (isKnown(reading)) return reading
  }
  // A listing has too few common words to tell its language; other models would read its numbers no better.
  if (!own && isKnown(guess) && isListing(guess.upright)) return guess
  const reading = isKnown(guess) ? undefined : readInScript(page)
  return reading && reading.confidence >= GOOD_CONFIDENCE ? reading : readUpright(page, possible)
}

function readUpright(page: OcrPage, models: OcrModels): OcrResult {
  let reading = page.read(page.firstTurn(), models)
  if (isClear(reading)) return reading
  const { turn } = page.orientation()
  if (turn !== reading.turn) reading = moreConfident(reading, page.read(turn, models))
  if (models === COMMON_MODELS || reading.confidence >= GOOD_CONFIDENCE) return reading
  const inScript = readInScript(page)
  if (inScript) reading = moreConfident(reading, inScript)
  for (const other of new Set([turn, 0 as const]))
    if (reading.confidence < GOOD_CONFIDENCE) reading = moreConfident(reading, page.read(other, COMMON_MODELS))
  return reading
}

function readInScript(page: OcrPage): OcrResult | undefined {
  const { turn, scripts } = page.orientation()
  const readings = scripts.flatMap((script) => {
    const models = modelsForScript(script)
    if (!models) return []
    return models.others
      .map((candidate) => page.read(turn, candidate))
      .reduce(
        (one, other) => (other.confidence > one.confidence + models.margin ? other : one),
        page.read(turn, models.likeliest),
      )
  })
  return readings.length > 0 ? readings.reduce(moreConfident) : undefined
}

/** Rereads with the detected language's own model: of several, the wrong one may win a word and write é for ö. */
function readInLanguage(page: OcrPage, reading: OcrResult): OcrResult {
  const own = reading.confidence >= GOOD_CONFIDENCE ? modelsForWords(reading) : undefined
  if (!own || (own === ENGLISH_MODEL && reading.models.includes('eng'))) return reading
  if (reading.models.length <= 2 && own.every((language) => reading.models.includes(language))) return reading
  const again = page.read(reading.turn, own)
  return again.confidence >= reading.confidence - CONFIDENCE_TOLERANCE ? again : reading
}

function modelsForWords({ words }: OcrResult): OcrModels | undefined {
  return countCharacters(words) < MIN_LANGUAGE_CHARACTERS
    ? undefined
    : modelsForText(words.map(({ text }) => text).join(' '))
}

/** A sideways page also yields a few letters, some of them with high confidence. */
const isClear = ({ words, confidence }: OcrResult): boolean =>
  confidence >= GOOD_CONFIDENCE && countCharacters(words) >= MIN_PAGE_CHARACTERS

const isKnown = (reading: OcrResult): boolean => isClear(reading) && reading.unknownShare <= MAX_UNKNOWN_SHARE

const moreConfident = (one: OcrResult, other: OcrResult): OcrResult => (other.confidence > one.confidence ? other : one)

function createOcrPage(tesseract: Tesseract, picture: Raster): OcrPage {
  let found: Orientation | undefined
  let firstTurn: QuarterTurn | undefined
  const orientation = () => (found ??= tesseract.findOrientation(picture))
  const levelled = new Map<QuarterTurn, LevelPage>()
  const readings = new Map<string, OcrResult>()
  const level = (turn: QuarterTurn): LevelPage => {
    const known = levelled.get(turn) ?? levelAt(picture, turn)
    levelled.set(turn, known)
    return known
  }
  return {
    orientation,
    firstTurn: () => (firstTurn ??= chooseFirstTurn(level, orientation)),
    read(turn, models) {
      const page = level(turn)
      const key = [turn, ...models].join(' ')
      const reading = readings.get(key) ?? {
        ...page,
        ...readWords(tesseract, page.upright, models),
        turn,
        models,
      }
      readings.set(key, reading)
      return reading
    },
  }
}

/** A listing on its side is noticed by its columns, before it is read for nothing. */
function chooseFirstTurn(level: (turn: QuarterTurn) => LevelPage, orientation: () => Orientation): QuarterTurn {
  if (isListing(level(0).upright) || !isListing(level(90).upright)) return 0
  return orientation().turn
}

function levelAt(picture: Raster, turn: QuarterTurn): LevelPage {
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

function readWords(tesseract: Tesseract, upright: Raster, models: OcrModels): WordResult {
  const read = isListing(upright) ? readAsOneBlock(tesseract, upright, models) : tesseract.readWords(upright, models)
  const words = withLinesAbove(read, MIN_LINE_CONFIDENCE)
  return {
    words,
    confidence: meanConfidence(words),
    unknownShare: 1 - countCharacters(withLinesAbove(read, KNOWN_LINE_CONFIDENCE)) / Math.max(1, countCharacters(read)),
  }
}

/** Keeps the rows of a listing together, where the engine would find columns. */
function readAsOneBlock(tesseract: Tesseract, upright: Raster, models: OcrModels): Word[] {
  const whole = { left: 0, top: 0, right: upright.width, bottom: upright.height }
  return tesseract.readBlocks(upright, [whole], models).flat()
}

function withLinesAbove(words: readonly Word[], least: number): Word[] {
  const byLine = Map.groupBy(words, ({ line }) => line)
  return words.filter(({ line }) => meanConfidence(byLine.get(line) ?? []) >= least)
}

const countCharacters = (words: readonly Word[]): number => words.reduce((sum, { text }) => sum + text.length, 0)

/** Weighted by length: a long word is stronger evidence than a stain. */
function meanConfidence(words: readonly Word[]): number {
  const weighed = words.reduce((sum, { text, confidence }) => sum + text.length * confidence, 0)
  return weighed / Math.max(1, countCharacters(words))
}
