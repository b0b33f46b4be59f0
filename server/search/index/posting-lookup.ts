/**
 * Reads a person's index: its segments, and the postings of the terms that a question asks for. Which segments there are
 * to read, and what is gone from them, is asked under the policy each time; what stands in one never changes, so the
 * process keeps it under the name that the policy gave out.
 */
import { type Scope } from '#server/database/scope.ts'
import { wordListOf, type WordList } from '#server/search/query/spelling.ts'
import { unpackBucket, unpackWords } from './block.ts'
import { createKeptBytes } from './lru-cache.ts'
import { isSpelt, numberOfWords } from './pack-segment.ts'
import {
  type Bucket,
  bucketOfHash,
  decodeLengths,
  eachPosting,
  encodeName,
  type Entry,
  findEntry,
  hashTerm,
  readBucket,
  readPositions,
} from './segment-format.ts'

interface Segment {
  readonly segment: string
  /** Unlike its number, never that of another. */
  readonly identity: string
  readonly buckets: number
  /** Number of its first passage when the passages of all segments are counted through. */
  readonly base: number
  /** 1 where the document of a passage is gone; undefined where none is. */
  readonly dead: Uint8Array | undefined
  /** Of each passage, by the numbers of `numberOfLanguage`; undefined where the library has but one. */
  readonly languages: Uint8Array | undefined
}

interface Part {
  readonly segment: Segment
  readonly entry: Entry
  /** 1 at the number of each language in whose passages it counts; undefined: in all. */
  readonly spoken?: Uint8Array
}

/** What the person's library holds of one term. */
export interface TermPostings {
  readonly parts: readonly Part[]
  /** Passages that hold it. */
  readonly frequency: number
}

export interface Library {
  /** Passages that can be found. */
  readonly passages: number
  /** Their average length in words. */
  readonly averageLength: number
  /** Of its documents. */
  readonly languages: readonly string[]
  /** Of each passage, counted through all segments, those of removed documents included. */
  readonly lengths: Uint16Array
  readonly segments: readonly Segment[]
}

interface KeptBucket extends Bucket {
  readonly byteLength: number
}

/** About a hundred thousand passages. */
const keptBuckets = createKeptBytes<KeptBucket>(48_000_000)
const keptLengths = createKeptBytes<Uint16Array>(4_000_000)
const keptLanguages = createKeptBytes<Uint8Array>(2_000_000)
const keptWords = createKeptBytes<WordList>(8_000_000)
const NOTHING: KeptBucket = { bytes: new Uint8Array(), byteLength: 0 }

interface SegmentRow {
  segment: string
  identity: string
  buckets: number
  passages: number
  length: number
  languages: string[]
  dead: number[]
}

/** Run as the person, as everything here. */
export async function openLibrary(scope: Scope): Promise<Library> {
  const { rows: stored } = await scope.prepared<SegmentRow>(
    `select s.segment::text, identity, buckets, passages, length, languages, dead
     from search_segments s where owner = (select auth.uid()) order by s.segment`,
  )
  const languages = [...new Set(stored.flatMap((segment) => segment.languages))].sort()
  const [allLengths, allLanguages] = await Promise.all([
    readLengths(scope, stored),
    languages.length > 1 ? readLanguages(scope, stored) : undefined,
  ])
  let [base, total, length] = [0, 0, 0]
  const segments: Segment[] = []
  for (const { segment, identity, buckets, passages, dead, ...row } of stored) {
    const spoken = allLanguages?.get(segment)
    segments.push({ segment, identity, buckets, base, dead: markDead(passages, dead), languages: spoken })
    base += passages
    total += passages - countDead(dead)
    length += row.length
  }
  const lengths = new Uint16Array(base)
  for (const [index, found] of allLengths.entries()) lengths.set(found, segments[index]?.base ?? 0)
  return { passages: total, averageLength: Math.max(1, length / Math.max(1, total)), languages, lengths, segments }
}

type StoredSegment = Pick<Segment, 'segment' | 'identity'> & { readonly passages: number }

/** Numbers of languages, from 1, as long as the process lives. */
const languageNumbers = new Map<string, number>()

function numberOfLanguage(language: string): number {
  const number = languageNumbers.get(language) ?? languageNumbers.size + 1
  languageNumbers.set(language, number)
  return number
}

/** Of the passages of each segment; 0 where the document of one is gone. */
async function readLanguages(scope: Scope, segments: readonly StoredSegment[]): Promise<Map<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>()
  const missing: StoredSegment[] = []
  for (const segment of segments) {
    const kept = keptLanguages.get(segment.identity)
    if (kept) found.set(segment.segment, kept)
    else missing.push(segment)
  }
  if (missing.length === 0) return found
  const { rows } = await scope.prepared<{ segment: string; first: number; count: number; language: string }>(
    `select segment::text, first_passage as first, passages as count, language from document_index
     where segment = any ($1) and owner = (select auth.uid())`,
    [missing.map(({ segment }) => segment)],
  )
  const documents = Map.groupBy(rows, ({ segment }) => segment)
  for (const { segment, identity, passages } of missing) {
    const languages = new Uint8Array(passages)
    const inIt = documents.get(segment) ?? []
    for (const { first, count, language } of inIt) languages.fill(numberOfLanguage(language), first, first + count)
    found.set(segment, languages)
    // Where it has just been merged away, nothing is known of it.
    if (inIt.length > 0) keptLanguages.set(identity, languages)
  }
  return found
}

/** Of the passages of each segment, in the order given. */
async function readLengths(scope: Scope, segments: readonly StoredSegment[]): Promise<Uint16Array[]> {
  const found = new Map(segments.map(({ segment, identity }) => [segment, keptLengths.get(identity)]))
  const missing = segments.filter(({ segment }) => found.get(segment) === undefined)
  if (missing.length > 0) {
    const { rows } = await scope.prepared<{ segment: string; identity: string; lengths: Buffer }>(
      `select segment::text, identity, lengths from search_segments
       where segment = any ($1) and owner = (select auth.uid())`,
      [missing.map(({ segment }) => segment)],
    )
    for (const { segment, identity, lengths } of rows) {
      const decoded = decodeLengths(lengths)
      found.set(segment, decoded)
      keptLengths.set(identity, decoded)
    }
  }
  return segments.map(({ segment }) => found.get(segment) ?? new Uint16Array())
}

/** Of the first passage and the number of passages of each document that is gone, in turn. */
const countDead = (dead: readonly number[]): number =>
  dead.reduce((sum, value, index) => (index % 2 === 1 ? sum + value : sum), 0)

function markDead(passages: number, dead: readonly number[]): Uint8Array | undefined {
  if (dead.length === 0) return undefined
  const marks = new Uint8Array(passages)
  for (let index = 0; index < dead.length; index += 2) {
    const first = dead[index] ?? 0
    marks.fill(1, first, first + (dead[index + 1] ?? 0))
  }
  return marks
}

/** Calls back with each passage that can still be found and how often the term counts in it. */
export function eachPassage({ parts }: TermPostings, visit: (passage: number, count: number) => void): void {
  for (const part of parts) {
    const { base, dead } = part.segment
    eachPosting(part.entry, (passage, count) => {
      if (dead?.[passage] !== 1 && countsIn(part, passage)) visit(base + passage, count)
    })
  }
}

/** @param passage by its number in the segment. */
const countsIn = ({ spoken, segment }: Part, passage: number): boolean =>
  spoken === undefined || spoken[segment.languages?.[passage] ?? 0] === 1

/** Where a term stands in those passages that are wanted, counted through all segments. */
export function eachPlace(
  { parts }: TermPostings,
  isWanted: (passage: number) => boolean,
  visit: (passage: number, positions: readonly number[]) => void,
): void {
  for (const part of parts) {
    const { base } = part.segment
    const positions = readPositions(part.entry, (passage) => isWanted(base + passage) && countsIn(part, passage))
    for (const [passage, list] of positions) visit(base + passage, list)
  }
}

/**
 * One word, whose terms differ by language: each counts in the passages of its languages alone. The stem of another
 * language may be a word of its own there.
 */
export function joinForms(forms: readonly { postings: TermPostings; languages: readonly string[] }[]): TermPostings {
  const parts = forms.flatMap(({ postings, languages }) => {
    const spoken = new Uint8Array(256)
    for (const language of languages) spoken[numberOfLanguage(language)] = 1
    return postings.parts.map((part): Part => ({ ...part, spoken }))
  })
  return { parts, frequency: countPassages(parts) }
}

/** The postings of all terms in at most one statement. A term that the library does not hold is left out. */
export async function readTerms(
  scope: Scope,
  { segments }: Library,
  terms: Iterable<string>,
): Promise<Map<string, TermPostings>> {
  const wanted = [...new Set(terms)].map((term) => ({ term, name: encodeName(term), hash: hashTerm(term) }))
  const places = wanted.flatMap(({ hash }) =>
    segments.map((segment): Place => ({ segment, bucket: bucketOfHash(hash, segment.buckets) })),
  )
  const contents = await readBuckets(scope, places)
  const found = new Map<string, TermPostings>()
  for (const [index, { term, name }] of wanted.entries()) {
    const parts: Part[] = []
    for (const [nth, segment] of segments.entries()) {
      const entry = findEntry(contents[index * segments.length + nth] ?? NOTHING, name)
      if (entry) parts.push({ segment, entry })
    }
    if (parts.length > 0) found.set(term, { parts, frequency: countPassages(parts) })
  }
  return found
}

interface Place {
  readonly segment: Segment
  readonly bucket: number
}

const keyOf = ({ segment, bucket }: Place): string => `${segment.identity} ${bucket}`

/** In the order given; a bucket without terms has no row. */
async function readBuckets(scope: Scope, places: readonly Place[]): Promise<Bucket[]> {
  const keys = places.map(keyOf)
  const read = new Map<string, KeptBucket>()
  const missing = new Map<string, Place>()
  for (const [index, place] of places.entries()) {
    const key = keys[index] ?? ''
    const kept = read.get(key) ?? keptBuckets.get(key)
    if (kept) read.set(key, kept)
    else missing.set(key, place)
  }
  if (missing.size > 0) {
    const asked = [...missing.values()]
    const { rows } = await scope.prepared<{ ordinal: number; content: Buffer }>(
      `select wanted.ordinal::int, b.content
       from unnest($1::bigint[], $2::int[]) with ordinality as wanted (segment, bucket, ordinal)
       join search_buckets b on b.segment = wanted.segment and b.bucket = wanted.bucket
       where b.owner = (select auth.uid())`,
      [asked.map(({ segment }) => segment.segment), asked.map(({ bucket }) => bucket)],
    )
    const contents = new Map(rows.map(({ ordinal, content }) => [ordinal, content]))
    for (const [index, key] of [...missing.keys()].entries()) {
      const bucket = toKeep(unpackBucket(contents.get(index + 1) ?? NOTHING.bytes))
      read.set(key, bucket)
      keptBuckets.set(key, bucket)
    }
  }
  return keys.map((key) => read.get(key) ?? NOTHING)
}

/** Copied: its bytes may be part of a larger buffer, which would be kept with them. */
function toKeep({ bytes, starts }: Bucket): KeptBucket {
  const own = { bytes: new Uint8Array(bytes), byteLength: bytes.length + (starts?.byteLength ?? 0) }
  return starts ? { ...own, starts } : own
}

function countPassages(parts: readonly Part[]): number {
  let count = 0
  for (const part of parts) {
    if (part.segment.dead === undefined && part.spoken === undefined) count += part.entry.size
    else eachPassage({ parts: [part], frequency: 0 }, () => (count += 1))
  }
  return count
}

/** Words of the library of the given lengths in characters, from which a misspelt word may have come; some more than once. */
export async function readVocabulary(
  scope: Scope,
  { segments }: Library,
  lengths: readonly number[],
): Promise<WordList[]> {
  const lists: WordList[] = []
  const missing = new Map<Segment, number[]>()
  for (const segment of segments) {
    for (const length of lengths) {
      const kept = keptWords.get(`${segment.identity} ${length}`)
      if (kept) lists.push(kept)
      else missing.set(segment, [...(missing.get(segment) ?? []), length])
    }
  }
  if (missing.size === 0) return lists
  const words = await readWords(scope, [...missing.keys()], [...new Set([...missing.values()].flat())])
  for (const [segment, ofSegment] of missing) {
    for (const length of ofSegment) {
      const list = wordListOf(length, words.get(`${segment.segment} ${length}`) ?? [])
      keptWords.set(`${segment.identity} ${length}`, list)
      lists.push(list)
    }
  }
  return lists
}

const isSingle = ({ buckets }: Segment): boolean => buckets === 1

/** By number of the segment and length of the words. */
async function readWords(
  scope: Scope,
  segments: readonly Segment[],
  lengths: readonly number[],
): Promise<Map<string, string[]>> {
  // A segment of a single bucket is its own vocabulary.
  const [single, several] = [segments.filter(isSingle), segments.filter((segment) => !isSingle(segment))]
  const words = new Map<string, string[]>()
  if (several.length > 0) {
    const { rows } = await scope.prepared<{ segment: string; bucket: number; content: Buffer }>(
      `select segment::text, bucket, content from search_buckets
       where segment = any ($1) and bucket = any ($2) and owner = (select auth.uid())`,
      [several.map(({ segment }) => segment), lengths.map(numberOfWords)],
    )
    for (const { segment, bucket, content } of rows) words.set(`${segment} ${-bucket}`, unpackWords(content))
  }
  const buckets = await readBuckets(
    scope,
    single.map((segment) => ({ segment, bucket: 0 })),
  )
  const isWished = new Set(lengths)
  for (const [index, { segment }] of single.entries()) {
    for (const [term] of readBucket(buckets[index]?.bytes ?? NOTHING.bytes)) {
      if (!isWished.has(term.length) || !isSpelt(term)) continue
      const key = `${segment} ${term.length}`
      const list = words.get(key)
      if (list) list.push(term)
      else words.set(key, [term])
    }
  }
  return words
}

export interface StoredPlace {
  readonly segment: string
  /** Of the segment. */
  readonly identity: string
  /** Of the passage in it. */
  readonly number: number
}

/** Where a passage counted through all segments is stored. */
export function locate({ segments }: Library, passage: number): StoredPlace {
  let [low, high] = [0, segments.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((segments[middle]?.base ?? 0) <= passage) low = middle
    else high = middle - 1
  }
  const found = segments[low]
  return { segment: found?.segment ?? '', identity: found?.identity ?? '', number: passage - (found?.base ?? 0) }
}
