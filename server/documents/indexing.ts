/** From the stored pages of a document to its passages and a segment of the index. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Scope } from '#server/database/scope.ts'
import { detectLanguage } from './language.ts'
import { cutPassages } from './passages.ts'
import { ParseFailure } from './parse/failure.ts'
import { encodeEntry, type Postings } from './segment-format.ts'
import { insertSegment } from './segments.ts'
import { stemWords, type Terms } from './stem.ts'
import { TOKENIZER_VERSION, wordsOf } from './tokenizer.ts'

export interface PageToIndex {
  readonly page: number
  readonly text: string
  /** Where each heading begins, its words, and its level (1 is the highest) where the format knows one. */
  readonly headings: readonly (readonly [offset: number, text: string, level?: number])[] | null
}

export interface DocumentToIndex {
  readonly id: string
  readonly owner: string
  readonly filename: string
}

interface Passage {
  readonly page: number
  readonly start: number
  readonly end: number
  /** The headings that it stands below, the highest first. */
  readonly heading: string | undefined
  /** In words. */
  readonly length: number
}

/** Passages of one document, and for every word the passages that hold it. */
interface CutDocument {
  readonly passages: readonly Passage[]
  readonly words: ReadonlyMap<string, Postings>
  /** Beginning of the text, to tell its language by. */
  readonly sample: string
}

const FILENAME_WEIGHT = 2
const HEADING_WEIGHT = 1
const MAX_PASSAGES = 65_536
const BATCH_ROWS = 5_000
const SAMPLE_CHARACTERS = 20_000
const WORDS_PER_TURN = 5_000
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

/** Cuts and counts in small steps, so that the server goes on answering meanwhile. */
async function cutDocument(pages: AsyncIterable<PageToIndex> | Iterable<PageToIndex>): Promise<CutDocument> {
  const passages: Passage[] = []
  const words = new Map<string, Postings>()
  const path = new HeadingPath()
  let sample = ''
  for await (const { page, text, headings } of pages) {
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
      countWords(words, passages.length, inside, heading === undefined ? [] : wordsOf(heading))
      passages.push({ page, start, end, heading, length: inside.length })
      enterUntil(end)
    }
    if (passages.length > MAX_PASSAGES) throw new ParseFailure('too_large')
    await nextTurn()
  }
  return { passages, words, sample }
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
    postings.positions.push(found)
    words.set(word, postings)
  }
}

/** Words of one stem share their postings; the words of the file name count in every passage. */
async function gatherByTerm(
  { passages, words }: CutDocument,
  title: readonly string[],
  terms: Terms,
): Promise<Map<string, Postings>> {
  const byTerm = new Map<string, Postings>()
  const add = (word: string, postings: Postings) => {
    for (const term of terms.get(word) ?? []) {
      const known = byTerm.get(term)
      byTerm.set(term, known ? joinPostings(known, postings) : postings)
    }
  }
  let added = 0
  for (const [word, postings] of words) {
    add(word, postings)
    added += 1
    if (added % WORDS_PER_TURN === 0) await nextTurn()
  }
  const everyPassage: Postings = {
    passages: passages.map((_, passage) => passage),
    counts: passages.map(() => FILENAME_WEIGHT),
    positions: passages.map(() => []),
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

async function encodeAll(byTerm: ReadonlyMap<string, Postings>): Promise<Map<string, Uint8Array>> {
  const entries = new Map<string, Uint8Array>()
  for (const [term, postings] of byTerm) {
    entries.set(term, encodeEntry(term, postings))
    if (entries.size % WORDS_PER_TURN === 0) await nextTurn()
  }
  return entries
}

/**
 * Replaces everything that the index holds of a document. To be called in the transaction that makes the document ready,
 * as the service.
 */
export async function indexDocument(
  scope: Scope,
  document: DocumentToIndex,
  pages: AsyncIterable<PageToIndex> | Iterable<PageToIndex>,
): Promise<void> {
  const cut = await cutDocument(pages)
  const { passages } = cut
  const language = detectLanguage(cut.sample)
  const title = filenameWords(document.filename)
  const terms = await stemWords(scope, [...cut.words.keys(), ...title], [language])
  const entries = await encodeAll(await gatherByTerm(cut, title, terms))

  await removeIndex(scope, document.id)
  for (let from = 0; from < passages.length; from += BATCH_ROWS) {
    const batch = passages.slice(from, from + BATCH_ROWS)
    await scope.query(
      `insert into passages (document_id, owner, passage, page, "start", "end", heading)
       select $1, $2, $3 + ordinality - 1, page, "start", "end", heading
       from unnest($4::int[], $5::int[], $6::int[], $7::text[]) with ordinality as given (page, "start", "end", heading, ordinality)`,
      [
        document.id,
        document.owner,
        from,
        batch.map(({ page }) => page),
        batch.map(({ start }) => start),
        batch.map(({ end }) => end),
        batch.map(({ heading }) => heading ?? null),
      ],
    )
  }
  const lengths = passages.map(({ length }) => length)
  const segment = passages.length === 0 ? null : await insertSegment(scope, document.owner, lengths, entries)
  await scope.query(
    `insert into document_index (document_id, owner, tokenizer, language, filename, passages, length, segment, first_passage)
     values ($1, $2, $3, $4, $5, $6, $7, $8, 0)`,
    [
      document.id,
      document.owner,
      TOKENIZER_VERSION,
      language,
      document.filename,
      passages.length,
      lengths.reduce((sum, length) => sum + length, 0),
      segment,
    ],
  )
}

/** The totals of the owner follow by trigger, and so does the segment. */
export async function removeIndex(scope: Scope, documentId: string): Promise<void> {
  for (const table of ['passages', 'document_index']) {
    await scope.query(`delete from ${table} where document_id = $1`, [documentId])
  }
}
