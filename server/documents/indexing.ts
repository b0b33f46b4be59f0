/** From the stored pages of a document to its passages and postings. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Scope } from '#server/database/scope.ts'
import { detectLanguage } from './language.ts'
import { cutPassages } from './passages.ts'
import { ParseFailure } from './parse/failure.ts'
import { type Heading } from './parse/page.ts'
import { stemWords, type Terms } from './stem.ts'
import { TOKENIZER_VERSION, wordsOf } from './tokenizer.ts'

export interface PageToIndex {
  readonly page: number
  readonly text: string
  readonly headings: readonly Heading[] | null
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
  readonly heading: string | undefined
  /** In words. */
  readonly length: number
}

/** Passages of one document, and for every word the passages that hold it, packed as 0005_passages.sql says. */
interface CutDocument {
  readonly passages: readonly Passage[]
  readonly postings: ReadonlyMap<string, readonly number[]>
  /** Beginning of the text, to tell its language by. */
  readonly sample: string
}

const FILENAME_WEIGHT = 2
const HEADING_WEIGHT = 1
const MAX_PASSAGES = 65_536
const BATCH_ROWS = 5_000
const SAMPLE_CHARACTERS = 20_000

/** The words of a file name without its extension. */
const filenameWords = (filename: string): string[] =>
  wordsOf(filename.replace(/\.[a-z0-9]{1,5}$/i, '').replaceAll('_', ' '))

const MOST_COUNTED = 63
const LONGEST_COUNTED = 1_023
const WORDS_PER_TURN = 5_000

const pack = (passage: number, count: number, length: number): number =>
  (passage << 16) | (Math.min(count, MOST_COUNTED) << 10) | Math.min(length, LONGEST_COUNTED)
const passageOf = (posting: number): number => posting >>> 16
const countOf = (posting: number): number => (posting >> 10) & MOST_COUNTED
const addCount = (posting: number, count: number): number =>
  pack(passageOf(posting), countOf(posting) + count, posting & LONGEST_COUNTED)

/** Cuts and counts in small steps, so that the server goes on answering meanwhile. */
async function cutDocument(pages: AsyncIterable<PageToIndex> | Iterable<PageToIndex>): Promise<CutDocument> {
  const passages: Passage[] = []
  const postings = new Map<string, number[]>()
  let sample = ''
  let heading: string | undefined
  for await (const { page, text, headings } of pages) {
    if (sample.length < SAMPLE_CHARACTERS) sample += `${text.slice(0, SAMPLE_CHARACTERS)}\n`
    for (const { start, end } of cutPassages(text)) {
      for (const [offset, title] of headings ?? []) if (offset <= start) heading = title
      const words = wordsOf(text.slice(start, end))
      countWords(postings, passages.length, words, heading === undefined ? [] : wordsOf(heading))
      passages.push({ page, start, end, heading, length: words.length })
      for (const [offset, title] of headings ?? []) if (offset < end) heading = title
    }
    if (passages.length > MAX_PASSAGES) throw new ParseFailure('too_large')
    await nextTurn()
  }
  return { passages, postings, sample }
}

function countWords(
  postings: Map<string, number[]>,
  passage: number,
  words: readonly string[],
  headingWords: readonly string[],
): void {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  for (const word of headingWords) counts.set(word, (counts.get(word) ?? 0) + HEADING_WEIGHT)
  for (const [word, count] of counts) {
    const posting = pack(passage, count, words.length)
    const list = postings.get(word)
    if (list) list.push(posting)
    else postings.set(word, [posting])
  }
}

/** Words of one stem share their postings; the words of the file name count in every passage. */
async function gatherByTerm(
  { passages, postings }: CutDocument,
  title: readonly string[],
  terms: Terms,
): Promise<Map<string, readonly number[]>> {
  const byTerm = new Map<string, readonly number[]>()
  const add = (word: string, list: readonly number[]) => {
    for (const term of terms.get(word) ?? []) {
      const known = byTerm.get(term)
      byTerm.set(term, known ? mergePostings(known, list) : list)
    }
  }
  let added = 0
  for (const [word, list] of postings) {
    add(word, list)
    added += 1
    if (added % WORDS_PER_TURN === 0) await nextTurn()
  }
  const everyPassage = passages.map(({ length }, passage) => pack(passage, FILENAME_WEIGHT, length))
  for (const word of title) add(word, everyPassage)
  return byTerm
}

/** Both are in the order of their passages. */
function mergePostings(left: readonly number[], right: readonly number[]): number[] {
  const merged: number[] = []
  let next = 0
  for (const posting of left) {
    for (let other = right[next]; other !== undefined && passageOf(other) < passageOf(posting); other = right[next]) {
      merged.push(other)
      next += 1
    }
    const same = right[next]
    const isShared = same !== undefined && passageOf(same) === passageOf(posting)
    merged.push(isShared ? addCount(posting, countOf(same)) : posting)
    if (isShared) next += 1
  }
  return [...merged, ...right.slice(next)]
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
  const terms = await stemWords(scope, [...cut.postings.keys(), ...title], [language])
  const postings = [...(await gatherByTerm(cut, title, terms))]

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
  for (let from = 0; from < postings.length; from += BATCH_ROWS) {
    const batch = postings.slice(from, from + BATCH_ROWS)
    await scope.query(
      `insert into postings (owner, document_id, term, packed)
       select $1, $2, term, packed::int[] from unnest($3::text[], $4::text[]) as given (term, packed)`,
      [document.owner, document.id, batch.map(([term]) => term), batch.map(([, packed]) => `{${packed.join(',')}}`)],
    )
    await nextTurn()
  }
  const length = passages.reduce((sum, passage) => sum + passage.length, 0)
  await scope.query(
    `insert into document_index (document_id, owner, tokenizer, language, filename, passages, length) values ($1, $2, $3, $4, $5, $6, $7)`,
    [document.id, document.owner, TOKENIZER_VERSION, language, document.filename, passages.length, length],
  )
}

/** The totals of the owner follow by trigger. */
export async function removeIndex(scope: Scope, documentId: string): Promise<void> {
  for (const table of ['postings', 'passages', 'document_index']) {
    await scope.query(`delete from ${table} where document_id = $1`, [documentId])
  }
}
