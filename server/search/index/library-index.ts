/**
 * Read under row-level security. Segments never change, so the process caches their contents by identity. Only the list of them
 * repeats the condition of the policies: it is empty for a role without policies, and all other reads start from it.
 */
import type { Scope } from '#server/database/scope.ts'
import { createByteCache } from './byte-cache.ts'
import { decodeLengths } from './segment-format.ts'

export interface IndexSegment {
  readonly segment: string
  /** Unlike the number, never reused. */
  readonly identity: string
  readonly blocks: number
  readonly base: number
  /** 1 for passages of deleted documents; undefined if there are none. */
  readonly deleted: Uint8Array | undefined
  /** A number of `numberOfLanguage` for each passage; undefined if the library has one language. */
  readonly languages: Uint8Array | undefined
}

export interface LibraryIndex {
  readonly passages: number
  readonly averageLength: number
  readonly languages: readonly string[]
  readonly lengths: Uint16Array
  readonly segments: readonly IndexSegment[]
}

const lengthCache = createByteCache<Uint16Array>(4_000_000)
const languageCache = createByteCache<Uint8Array>(2_000_000)

interface SegmentRow {
  segment: string
  identity: string
  buckets: number
  passages: number
  length: number
  languages: string[]
  dead: number[]
}

/** Whether a search finds the same in both: the same segments, and the same documents deleted from them. */
export const isUnchanged = (before: LibraryIndex, now: LibraryIndex): boolean =>
  before.segments.length === now.segments.length &&
  before.segments.every(({ identity, deleted }, index) => {
    const other = now.segments[index]
    return other?.identity === identity && haveEqualBytes(deleted, other.deleted)
  })

const haveEqualBytes = (one: Uint8Array | undefined, other: Uint8Array | undefined): boolean =>
  one === other || (one !== undefined && other !== undefined && Buffer.compare(one, other) === 0)

export async function openLibraryIndex(scope: Scope): Promise<LibraryIndex> {
  const { rows: stored } = await scope.prepared<SegmentRow>(
    `select s.segment::text, identity, buckets, passages, length, languages, dead from search_segments s
     where owner = any ((select libraries_to('read'))::uuid[]) order by s.segment`,
  )
  const languages = [...new Set(stored.flatMap((segment) => segment.languages))].sort()
  const [allLengths, allLanguages] = await Promise.all([
    readLengths(scope, stored),
    languages.length > 1 ? readLanguages(scope, stored) : undefined,
  ])
  let [base, total, length] = [0, 0, 0]
  const segments: IndexSegment[] = []
  for (const { segment, identity, buckets, passages, dead, ...row } of stored) {
    const ofPassages = allLanguages?.get(segment)
    segments.push({
      segment,
      identity,
      blocks: buckets,
      base,
      deleted: markDeleted(passages, dead),
      languages: ofPassages,
    })
    base += passages
    total += passages - countDeleted(dead)
    length += row.length
  }
  const lengths = new Uint16Array(base)
  for (const [index, found] of allLengths.entries()) lengths.set(found, segments[index]?.base ?? 0)
  return { passages: total, averageLength: Math.max(1, length / Math.max(1, total)), languages, lengths, segments }
}

type StoredSegment = Pick<IndexSegment, 'segment' | 'identity'> & { readonly passages: number }

const languageNumbers = new Map<string, number>()

export function numberOfLanguage(language: string): number {
  const number = languageNumbers.get(language) ?? languageNumbers.size + 1
  languageNumbers.set(language, number)
  return number
}

/** Per segment, the language of each passage; 0 for passages of deleted documents. */
async function readLanguages(scope: Scope, segments: readonly StoredSegment[]): Promise<Map<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>()
  const missing: StoredSegment[] = []
  for (const segment of segments) {
    const cached = languageCache.get(segment.identity)
    if (cached) found.set(segment.segment, cached)
    else missing.push(segment)
  }
  if (missing.length === 0) return found
  const { rows } = await scope.prepared<{ segment: string; first: number; count: number; language: string }>(
    `select segment::text, first_passage as first, passages as count, language from document_index where segment = any ($1)`,
    [missing.map(({ segment }) => segment)],
  )
  const documents = Map.groupBy(rows, ({ segment }) => segment)
  for (const { segment, identity, passages } of missing) {
    const languages = new Uint8Array(passages)
    const ofSegment = documents.get(segment) ?? []
    for (const { first, count, language } of ofSegment) languages.fill(numberOfLanguage(language), first, first + count)
    found.set(segment, languages)
    if (ofSegment.length > 0) languageCache.set(identity, languages)
  }
  return found
}

async function readLengths(scope: Scope, segments: readonly StoredSegment[]): Promise<Uint16Array[]> {
  const found = new Map(segments.map(({ segment, identity }) => [segment, lengthCache.get(identity)]))
  const missing = segments.filter(({ segment }) => found.get(segment) === undefined)
  if (missing.length > 0) {
    const { rows } = await scope.prepared<{ segment: string; identity: string; lengths: Buffer }>(
      'select segment::text, identity, lengths from search_segments where segment = any ($1)',
      [missing.map(({ segment }) => segment)],
    )
    for (const { segment, identity, lengths } of rows) {
      const decoded = decodeLengths(lengths)
      found.set(segment, decoded)
      lengthCache.set(identity, decoded)
    }
  }
  return segments.map(({ segment }) => found.get(segment) ?? new Uint16Array())
}

/** @param ranges first passage and number of passages of each deleted document, alternating */
const countDeleted = (ranges: readonly number[]): number =>
  ranges.reduce((sum, value, index) => (index % 2 === 1 ? sum + value : sum), 0)

function markDeleted(passages: number, ranges: readonly number[]): Uint8Array | undefined {
  if (ranges.length === 0) return undefined
  const marks = new Uint8Array(passages)
  for (let index = 0; index < ranges.length; index += 2) {
    const first = ranges[index] ?? 0
    marks.fill(1, first, first + (ranges[index + 1] ?? 0))
  }
  return marks
}

export async function readPassageFilter(
  scope: Scope,
  library: LibraryIndex,
  documentIds: readonly string[] | undefined,
): Promise<(passage: number) => boolean> {
  if (documentIds === undefined) return () => true
  const marks = new Uint8Array(library.lengths.length)
  const { rows } = await scope.prepared<{ segment: string; first_passage: number; passages: number }>(
    `select segment::text, first_passage, passages from document_index
     where document_id = any ($1) and segment is not null`,
    [documentIds],
  )
  const bases = new Map(library.segments.map(({ segment, base }) => [segment, base]))
  for (const { segment, first_passage, passages } of rows) {
    const base = bases.get(segment)
    if (base !== undefined) marks.fill(1, base + first_passage, base + first_passage + passages)
  }
  return (passage) => marks[passage] === 1
}

export interface PassageLocation {
  readonly segment: string
  readonly identity: string
  readonly number: number
}

export function locatePassage({ segments }: LibraryIndex, passage: number): PassageLocation {
  let [low, high] = [0, segments.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((segments[middle]?.base ?? 0) <= passage) low = middle
    else high = middle - 1
  }
  const found = segments[low]
  return { segment: found?.segment ?? '', identity: found?.identity ?? '', number: passage - (found?.base ?? 0) }
}
