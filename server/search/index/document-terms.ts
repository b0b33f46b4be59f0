/** From the pages of a document to its passages and to what a segment holds of its words. Pure. */
import { detectStemmer } from '#server/search/text/detect-language.ts'
import { cutPassages } from '#server/search/text/passages.ts'
import { type Terms } from '#server/search/text/stemmer.ts'
import { isPair, wordsOf } from '#server/search/text/tokenizer.ts'
import { type PackedSegment, packSegment } from './pack-segment.ts'
import { encodeEntry, type Postings } from './segment-format.ts'

export interface PageToIndex {
  readonly page: number
  readonly text: string
  /** Where each heading begins, its words, and its level (1 is the highest) where the format knows one. */
  readonly headings: readonly (readonly [offset: number, text: string, level?: number])[] | null
}

export interface Passage {
  readonly page: number
  readonly start: number
  readonly end: number
  /** The headings that it stands below, the highest first. */
  readonly heading: string | undefined
  /** In words. */
  readonly length: number
}

/** One document on its way into the index. */
export interface DocumentTerms {
  /** Pages in their order. @returns how many passages there are so far. */
  add(pages: Iterable<PageToIndex>): number
  /** Each distinct word once, those of the file name included, and the language that they are to be stemmed in. */
  words(filename: string): { readonly words: string[]; readonly language: string }
  /** Of those words, some at a time. */
  addTerms(terms: Terms): void
  /** Once the terms of all words are there. */
  pack(filename: string): { readonly passages: readonly Passage[]; readonly segment: PackedSegment }
}

const FILENAME_WEIGHT = 2
const HEADING_WEIGHT = 1
const SAMPLE_CHARACTERS = 20_000
const LONGEST_HEADING = 300
const HEADING_SEPARATOR = ' › '

/** The words of a file name without its extension. */
const filenameWords = (filename: string): string[] =>
  wordsOf(filename.replace(/\.[a-z0-9]{1,5}$/i, '').replaceAll('_', ' '))

/** The headings that are open at a place of the document. A heading without a level closes all others. */
class HeadingPath {
  readonly #open: { level: number; title: string }[] = []

  enter(title: string, level = 1): void {
    while ((this.#open.at(-1)?.level ?? 0) >= level) this.#open.pop()
    this.#open.push({ level, title })
  }

  toString(): string | undefined {
    if (this.#open.length === 0) return undefined
    const path = this.#open.map(({ title }) => title.replace(/\s+/g, ' ').trim()).join(HEADING_SEPARATOR)
    return path.slice(0, LONGEST_HEADING).toWellFormed()
  }
}

export function createDocumentTerms(): DocumentTerms {
  const passages: Passage[] = []
  /** For every word the passages that hold it. */
  const postingsOf = new Map<string, Postings>()
  const termsOf = new Map<string, readonly string[]>()
  const path = new HeadingPath()
  /** Beginning of the text, to tell its language by. */
  let sample = ''

  function addPage({ page, text, headings }: PageToIndex): void {
    if (sample.length < SAMPLE_CHARACTERS) sample += `${text.slice(0, SAMPLE_CHARACTERS)}\n`
    const ahead = [...(headings ?? [])]
    const enterUntil = (offset: number) => {
      for (let next = ahead[0]; next && next[0] < offset; next = ahead[0]) {
        path.enter(next[1], next[2])
        ahead.shift()
      }
    }
    for (const { start, end } of cutPassages(text)) {
      enterUntil(start + 1)
      const heading = path.toString()
      const inside = wordsOf(text.slice(start, end))
      countWords(postingsOf, passages.length, inside, heading === undefined ? [] : wordsOf(heading))
      passages.push({ page, start, end, heading, length: inside.length })
      enterUntil(end)
    }
  }

  return {
    add(pages) {
      for (const page of pages) addPage(page)
      return passages.length
    },
    words: (filename) => ({
      words: [...new Set([...postingsOf.keys(), ...filenameWords(filename)])],
      language: detectStemmer(sample),
    }),
    addTerms(terms) {
      for (const [word, list] of terms) termsOf.set(word, list)
    },
    pack(filename) {
      const entries = new Map<string, Uint8Array>()
      for (const [term, postings] of gatherByTerm(postingsOf, passages.length, filenameWords(filename), termsOf))
        entries.set(term, encodeEntry(term, postings))
      const lengths = passages.map(({ length }) => length)
      return { passages, segment: packSegment(lengths, entries) }
    },
  }
}

function countWords(
  words: Map<string, Postings>,
  passage: number,
  inside: readonly string[],
  heading: readonly string[],
): void {
  const places = new Map<string, number[]>()
  for (const [position, word] of inside.entries()) {
    const list = places.get(word)
    if (list) list.push(position)
    else places.set(word, [position])
  }
  const weights = new Map<string, number>()
  for (const word of heading) weights.set(word, (weights.get(word) ?? 0) + HEADING_WEIGHT)
  for (const word of new Set([...places.keys(), ...weights.keys()])) {
    const found = places.get(word) ?? []
    const postings = words.get(word) ?? { passages: [], counts: [], positions: [] }
    postings.passages.push(passage)
    postings.counts.push(found.length + (weights.get(word) ?? 0))
    // Pairs of characters that follow one another already tell which stand together: their places would be half of an index.
    postings.positions.push(isPair(word) ? [] : found)
    words.set(word, postings)
  }
}

/** Words of one stem share their postings; the words of the file name count in every passage. */
function gatherByTerm(
  words: ReadonlyMap<string, Postings>,
  passages: number,
  title: readonly string[],
  terms: Terms,
): Map<string, Postings> {
  const byTerm = new Map<string, Postings>()
  const add = (word: string, postings: Postings) => {
    for (const term of terms.get(word) ?? []) {
      const known = byTerm.get(term)
      byTerm.set(term, known ? joinPostings(known, postings) : postings)
    }
  }
  for (const [word, postings] of words) add(word, postings)
  const everyPassage: Postings = {
    passages: Array.from({ length: passages }, (_, passage) => passage),
    counts: Array.from({ length: passages }, () => FILENAME_WEIGHT),
    positions: Array.from({ length: passages }, () => []),
  }
  for (const word of title) add(word, everyPassage)
  return byTerm
}

/** Both are in the order of their passages. */
function joinPostings(left: Postings, right: Postings): Postings {
  const joined: Postings = { passages: [], counts: [], positions: [] }
  let [one, other] = [0, 0]
  while (one < left.passages.length || other < right.passages.length) {
    const [first, second] = [left.passages[one] ?? Infinity, right.passages[other] ?? Infinity]
    const passage = Math.min(first, second)
    const here = first === passage ? (left.positions[one] ?? []) : []
    const there = second === passage ? (right.positions[other] ?? []) : []
    joined.passages.push(passage)
    joined.counts.push(
      (first === passage ? (left.counts[one] ?? 0) : 0) + (second === passage ? (right.counts[other] ?? 0) : 0),
    )
    joined.positions.push(
      here.length === 0 ? there : there.length === 0 ? here : [...here, ...there].sort((a, b) => a - b),
    )
    if (first === passage) one += 1
    if (second === passage) other += 1
  }
  return joined
}
