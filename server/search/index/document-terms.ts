import { detectStemmer } from '#server/search/text/detect-language.ts'
import { splitPassages } from '#server/search/text/passages.ts'
import type { Terms } from '#server/search/text/stemmer.ts'
import { isPair, wordsOf } from '#server/search/text/tokenizer.ts'
import { isWrittenForm } from '#server/search/text/written-forms.ts'
import { type PackedSegment, packSegment } from './pack-segment.ts'
import { encodeEntry, type Postings } from './segment-format.ts'

export interface PageToIndex {
  readonly page: number
  readonly text: string
  /** The level (1 is the highest) is missing if the format has none. */
  readonly headings: readonly (readonly [offset: number, text: string, level?: number])[] | null
}

export interface Passage {
  readonly page: number
  readonly start: number
  readonly end: number
  readonly heading: string | undefined
  readonly length: number
}

export interface DocumentTerms {
  /** Takes pages in order; returns the number of passages so far. */
  add(pages: Iterable<PageToIndex>): number
  /** Distinct words, including those of the file name, and their stemming language. */
  words(filename: string): { readonly words: string[]; readonly language: string }
  addTerms(terms: Terms): void
  /** The passages, and the postings of each term among them. */
  group(filename: string, terms?: Terms): GroupedTerms
  pack(filename: string): { readonly passages: readonly Passage[]; readonly segment: PackedSegment }
}

export interface GroupedTerms {
  readonly passages: readonly Passage[]
  readonly byTerm: ReadonlyMap<string, Postings>
}

const FILENAME_WEIGHT = 2
const HEADING_WEIGHT = 1
const SAMPLE_CHARACTERS = 20_000
const MAX_HEADING_CHARACTERS = 300
const HEADING_SEPARATOR = ' › '

const filenameWords = (filename: string): string[] =>
  wordsOf(filename.replace(/\.[a-z0-9]{1,5}$/i, '').replaceAll('_', ' '))

class HeadingPath {
  readonly #open: { level: number; title: string }[] = []

  enter(title: string, level = 1): void {
    while ((this.#open.at(-1)?.level ?? 0) >= level) this.#open.pop()
    this.#open.push({ level, title })
  }

  toString(): string | undefined {
    if (this.#open.length === 0) return undefined
    const path = this.#open.map(({ title }) => title.replace(/\s+/g, ' ').trim()).join(HEADING_SEPARATOR)
    return path.slice(0, MAX_HEADING_CHARACTERS).toWellFormed()
  }
}

export function createDocumentTerms(): DocumentTerms {
  const passages: Passage[] = []
  const postingsOf = new Map<string, Postings>()
  const termsOf = new Map<string, readonly string[]>()
  const path = new HeadingPath()
  let sample = ''

  const group = (filename: string, terms: Terms = termsOf): GroupedTerms => ({
    passages,
    byTerm: groupByTerm(postingsOf, passages.length, filenameWords(filename), terms),
  })

  function addPage({ page, text, headings }: PageToIndex): void {
    if (sample.length < SAMPLE_CHARACTERS) sample += `${text.slice(0, SAMPLE_CHARACTERS)}\n`
    const upcoming = [...(headings ?? [])]
    const enterUntil = (offset: number) => {
      for (let next = upcoming[0]; next && next[0] < offset; next = upcoming[0]) {
        path.enter(next[1], next[2])
        upcoming.shift()
      }
    }
    for (const { start, end } of splitPassages(text)) {
      enterUntil(start + 1)
      const heading = path.toString()
      const inside = wordsOf(text.slice(start, end))
      countWords(postingsOf, passages.length, inside, heading === undefined ? [] : wordsOf(heading))
      // Other forms of what is counted anyway make a passage no longer.
      const length = inside.filter((word) => !isWrittenForm(word)).length
      passages.push({ page, start, end, heading, length })
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
    group,
    pack: (filename) => ({ passages, segment: packTerms([group(filename)]) }),
  }
}

/** One segment of the passages of all documents, in their order. */
export function packTerms(documents: readonly GroupedTerms[]): PackedSegment {
  const [first] = documents
  const entries = new Map<string, Uint8Array>()
  for (const [term, postings] of documents.length === 1 && first ? first.byTerm : joinDocuments(documents))
    entries.set(term, encodeEntry(term, postings))
  return packSegment(
    documents.flatMap(({ passages }) => passages.map(({ length }) => length)),
    entries,
  )
}

function joinDocuments(documents: readonly GroupedTerms[]): Map<string, Postings> {
  const joined = new Map<string, Postings>()
  let before = 0
  for (const { passages, byTerm } of documents) {
    for (const [term, postings] of byTerm) {
      const known = joined.get(term) ?? { passages: [], counts: [], positions: [] }
      for (const passage of postings.passages) known.passages.push(before + passage)
      for (const count of postings.counts) known.counts.push(count)
      for (const positions of postings.positions) known.positions.push(positions)
      joined.set(term, known)
    }
    before += passages.length
  }
  return joined
}

function countWords(
  words: Map<string, Postings>,
  passage: number,
  inside: readonly string[],
  heading: readonly string[],
): void {
  const positionsOf = new Map<string, number[]>()
  for (const [position, word] of inside.entries()) {
    const list = positionsOf.get(word)
    if (list) list.push(position)
    else positionsOf.set(word, [position])
  }
  const weights = new Map<string, number>()
  for (const word of heading) weights.set(word, (weights.get(word) ?? 0) + HEADING_WEIGHT)
  for (const word of new Set([...positionsOf.keys(), ...weights.keys()])) {
    const found = positionsOf.get(word) ?? []
    const postings = words.get(word) ?? { passages: [], counts: [], positions: [] }
    postings.passages.push(passage)
    postings.counts.push(found.length + (weights.get(word) ?? 0))
    // Positions of character pairs would be half of the index, and consecutive pairs overlap anyway.
    postings.positions.push(isPair(word) || isWrittenForm(word) ? [] : found)
    words.set(word, postings)
  }
}

/** Words with the same stem share postings; words of the file name count in every passage. */
function groupByTerm(
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
