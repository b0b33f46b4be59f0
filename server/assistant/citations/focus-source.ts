/** Narrows a page that a model read whole to the part that an answer cites, for its card and the mark in the viewer. Pure. */
import { MARKER } from '#contract/citation-marker.ts'
import type { PassageSource } from '#contract/source.ts'
import type { PassageRange } from '#server/search/text/passages.ts'
import { wordsOf } from '#server/search/text/tokenizer.ts'

const MAX_PART_CHARACTERS = 400
/** Bounds the work on one page, which blocks the event loop. */
const MAX_SCANNED_CHARACTERS = 100_000
const MAX_LINE_CHARACTERS = 200
const MAX_MARKERS = 40
const MAX_UNITS = 3_000
const MAX_CITING_CHARACTERS = 1_000
const MAX_CITING_WORDS = 50
const sentences = new Intl.Segmenter(undefined, { granularity: 'sentence' })
const SENTENCE_BORDER = /[.!?]["'”’»)]*\s+|[。！？]|\]/u
/** The punctuation and markers of a sentence. */
const ENDING = new RegExp(String.raw`(?<![.!?。！？\s])[.!?。！？\s]*(?:${MARKER}\s?)*$`, 'u')

interface TextUnit {
  readonly start: number
  readonly end: number
  readonly words: ReadonlySet<string>
}

function splitUnits(text: string): TextUnit[] {
  const units: TextUnit[] = []
  for (const line of text.slice(0, MAX_SCANNED_CHARACTERS).matchAll(/[^\n]+/g)) {
    const pieces = line[0].length > MAX_LINE_CHARACTERS ? sentences.segment(line[0]) : [{ segment: line[0], index: 0 }]
    for (const { segment: piece, index } of pieces) {
      const start = line.index + index
      if (units.length === MAX_UNITS) return units
      if (piece.trim() !== '')
        units.push({ start, end: start + piece.trimEnd().length, words: new Set(wordsOf(piece)) })
    }
  }
  return units
}

function citingWords(answer: string, place: number): Set<string> {
  const from = Math.max(answer.lastIndexOf('\n', place) + 1, place - MAX_CITING_CHARACTERS)
  const line = answer.slice(from, place)
  const said = line.replace(ENDING, '')
  return new Set(wordsOf(said.split(SENTENCE_BORDER).at(-1) ?? '').slice(-MAX_CITING_WORDS))
}

/** The range where most of these words occur close together, weighted by rarity; undefined where none occurs. */
function findDensestRange(units: readonly TextUnit[], asked: ReadonlySet<string>): PassageRange | undefined {
  const weights = new Map<string, number>()
  for (const word of asked) {
    const holding = units.filter(({ words }) => words.has(word)).length
    if (holding > 0) weights.set(word, Math.log(1 + units.length / holding))
  }
  let best: (PassageRange & { score: number }) | undefined
  for (const [first, { start, words }] of units.entries()) {
    if (![...words].some((word) => weights.has(word))) continue
    const held = new Set<string>()
    for (let last = first; last < units.length; last += 1) {
      const unit = units[last]
      if (!unit || (last > first && unit.end - start > MAX_PART_CHARACTERS)) break
      for (const word of unit.words) if (weights.has(word)) held.add(word)
      const score = [...held].reduce((sum, word) => sum + (weights.get(word) ?? 0), 0)
      const isShorter = best && score === best.score && unit.end - start < best.end - best.start
      if (score > 0 && (!best || score > best.score || isShorter)) best = { score, start, end: unit.end }
    }
  }
  return best
}

/** Narrows to most words of the citing sentences, else to the beginning. `places`: offsets of its markers. */
export function focusSource(source: PassageSource, answer: string, places: readonly number[] = []): PassageSource {
  const units = splitUnits(source.text)
  const said = places.slice(0, MAX_MARKERS).map((place) => citingWords(answer, place))
  const beginning = { start: 0, end: beginningEnd(source.text) }
  const focused = narrowSource(
    source,
    findDensestRange(units, new Set(said.flatMap((words) => [...words]))) ?? beginning,
  )
  const cited = said.map((words) => {
    const range = findDensestRange(units, words)
    const { start, end } = range ? narrowSource(source, range) : focused
    return { start, end }
  })
  const isOne = cited.every(({ start, end }) => start === focused.start && end === focused.end)
  return isOne ? focused : { ...focused, cited }
}

export const truncateSource = (source: PassageSource): PassageSource =>
  narrowSource(source, { start: 0, end: beginningEnd(source.text) })

function narrowSource(source: PassageSource, { start, end }: PassageRange): PassageSource {
  const text = source.text.slice(start, Math.min(end, start + MAX_PART_CHARACTERS)).toWellFormed()
  return { ...source, start: source.start + start, end: source.start + start + text.length, text }
}

function beginningEnd(text: string): number {
  if (text.length <= MAX_PART_CHARACTERS) return text.length
  const window = text.slice(0, MAX_PART_CHARACTERS)
  const border = Math.max(window.lastIndexOf('\n'), window.lastIndexOf('. ') + 1)
  return border > MAX_PART_CHARACTERS / 2 ? border : Math.max(window.lastIndexOf(' '), MAX_PART_CHARACTERS / 2)
}
