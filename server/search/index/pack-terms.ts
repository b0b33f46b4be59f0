import type { ByteRuns } from './byte-runs.ts'
import { createByteWriter } from './byte-writer.ts'
import { type PackedSegment, packSegment } from './pack-segment.ts'
import { createEntryWriter } from './segment-format.ts'
import type { NumberedWords, WordLog } from './word-log.ts'

/** The term of each word by its number; words with the same stem share one. */
export type TermOfWord = readonly (string | undefined)[]

export interface DocumentToPack {
  readonly log: WordLog
  /** Lengths of its passages, in words. */
  readonly lengths: readonly number[]
  /** Words of the file name, which count in every passage. */
  readonly title: readonly number[]
  readonly termOfWord: TermOfWord
}

/** A word in the text or in a heading counts once. */
const FILENAME_WEIGHT = 2
const WITHOUT_POSITION = -1
const IN_TITLE = -2

const [UNKNOWN, WITHOUT_TERM] = [-1, -2]

/** Numbers terms in the order of their first occurrence. */
class TermNumbers {
  readonly names: string[] = []
  readonly #numbers = new Map<string, number>()
  readonly #ofWords = new Map<TermOfWord, Int32Array>()

  /** Term number by word number, for the words seen by `look`. */
  of(termOfWord: TermOfWord): Int32Array {
    const known = this.#ofWords.get(termOfWord) ?? new Int32Array(termOfWord.length).fill(UNKNOWN)
    this.#ofWords.set(termOfWord, known)
    return known
  }

  look(termOfWord: TermOfWord, word: number): number {
    const name = termOfWord[word]
    if (name === undefined) return WITHOUT_TERM
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    this.#numbers.set(name, this.names.length)
    return this.names.push(name) - 1
  }
}

/**
 * One segment of the passages of all documents, in their order. Occurrences are sorted by term by counting them first, so
 * that three arrays of numbers hold all of them.
 */
export function packTerms(numbered: NumberedWords, documents: readonly DocumentToPack[]): PackedSegment {
  const terms = new TermNumbers()
  const counts: number[] = []
  for (const { log, title, termOfWord } of documents) {
    const ofWord = terms.of(termOfWord)
    const count = (word: number, times: number) => {
      let term = ofWord[word] ?? WITHOUT_TERM
      if (term === UNKNOWN) ofWord[word] = term = terms.look(termOfWord, word)
      if (term >= 0) counts[term] = (counts[term] ?? 0) + times
    }
    log.forEach((word) => count(word, 1))
    if (log.passages > 0) for (const word of title) count(word, log.passages)
  }
  const ends = Int32Array.from(counts)
  for (let term = 1; term < ends.length; term += 1) ends[term] = (ends[term] ?? 0) + (ends[term - 1] ?? 0)
  const total = ends.at(-1) ?? 0
  const occurrences = { ends, passages: new Int32Array(total), positions: new Int32Array(total) }
  fillOccurrences(numbered, documents, terms, occurrences)
  return packSegment(
    documents.flatMap(({ lengths }) => lengths),
    terms.names,
    encodeTerms(terms.names, occurrences),
  )
}

/** Sorted by term, then by passage and position. */
interface Occurrences {
  /** By term. */
  readonly ends: Int32Array
  readonly passages: Int32Array
  readonly positions: Int32Array
}

function fillOccurrences(
  { hasPositions }: NumberedWords,
  documents: readonly DocumentToPack[],
  terms: TermNumbers,
  { ends, passages, positions }: Occurrences,
): void {
  const next = new Int32Array(ends.length)
  for (let term = 1; term < next.length; term += 1) next[term] = ends[term - 1] ?? 0
  let before = 0
  for (const { log, title, termOfWord } of documents) {
    const ofWord = terms.of(termOfWord)
    const put = (word: number, passage: number, position: number) => {
      const term = ofWord[word] ?? WITHOUT_TERM
      if (term < 0) return
      const at = next[term] ?? 0
      passages[at] = passage
      positions[at] = position
      next[term] = at + 1
    }
    const first = before
    let entered = -1
    log.forEach((word, passage, position) => {
      for (; entered < passage; entered += 1) for (const one of title) put(one, first + entered + 1, IN_TITLE)
      put(word, first + passage, position >= 0 && hasPositions(word) ? position : WITHOUT_POSITION)
    })
    for (; entered + 1 < log.passages; entered += 1) for (const one of title) put(one, first + entered + 1, IN_TITLE)
    before += log.passages
  }
}

function encodeTerms(names: readonly string[], { ends, passages, positions }: Occurrences): ByteRuns {
  const encoded = createByteWriter()
  const entryEnds = new Int32Array(names.length)
  const writer = createEntryWriter()
  let at = 0
  for (const [term, name] of names.entries()) {
    const end = ends[term] ?? 0
    while (at < end) {
      const [passage, from] = [passages[at] ?? 0, at]
      let count = 0
      for (; at < end && passages[at] === passage; at += 1) count += positions[at] === IN_TITLE ? FILENAME_WEIGHT : 1
      writer.add(passage, count, positions, from, at)
    }
    writer.encodeInto(encoded, name)
    entryEnds[term] = encoded.length
  }
  return { bytes: encoded.written(), ends: entryEnds }
}
