/** Stores segments of the index and merges small ones. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Database, type Scope } from '#server/database/scope.ts'
import {
  bucketOf,
  chooseBuckets,
  createEntryWriter,
  decodeLengths,
  encodeLengths,
  type EntryWriter,
  packBucket,
  readBucket,
  unpackBucket,
} from './segment-format.ts'

/** A segment of at least this many buckets has a vocabulary of its own. */
export const BUCKETS_WITH_VOCABULARY = 8
/** So many segments of one size are merged to one of the next. */
const MERGE_AT = 8
/** Passages of the largest segment that is merged with others: rewriting more at a time would keep people waiting. */
const MOST_MERGED_PASSAGES = 12_000
/** Share of passages of removed documents from which a segment is written anew. */
const MOST_DEAD = 0.3
const BATCH_BYTES = 4_000_000

/**
 * As the service.
 * @param entries each term once, encoded.
 * @returns its number.
 */
export async function insertSegment(
  scope: Scope,
  owner: string,
  lengths: readonly number[],
  entries: ReadonlyMap<string, Uint8Array>,
): Promise<string> {
  let bytes = 0
  for (const entry of entries.values()) bytes += entry.length
  const buckets = chooseBuckets(bytes)
  const filled = new Map<number, Uint8Array[]>()
  for (const [term, entry] of entries) {
    const bucket = bucketOf(term, buckets)
    const list = filled.get(bucket)
    if (list) list.push(entry)
    else filled.set(bucket, [entry])
  }
  const { rows } = await scope.query<{ segment: string }>(
    'insert into search_segments (owner, buckets, passages, lengths) values ($1, $2, $3, $4) returning segment::text',
    [owner, buckets, lengths.length, encodeLengths(lengths)],
  )
  const segment = rows[0]?.segment ?? ''
  await insertBuckets(scope, { owner, segment, buckets }, filled)
  if (buckets >= BUCKETS_WITH_VOCABULARY) await insertVocabulary(scope, owner, segment, entries.keys())
  return segment
}

async function insertBuckets(
  scope: Scope,
  { owner, segment, buckets }: { owner: string; segment: string; buckets: number },
  filled: ReadonlyMap<number, readonly Uint8Array[]>,
): Promise<void> {
  let batch: [bucket: number, content: Buffer][] = []
  let bytes = 0
  const flush = async () => {
    await scope.query(
      `insert into search_buckets (segment, bucket, owner, content)
       select $1, bucket, $2, content from unnest($3::int[], $4::bytea[]) as given (bucket, content)`,
      [segment, owner, batch.map(([bucket]) => bucket), batch.map(([, content]) => content)],
    )
    batch = []
    bytes = 0
  }
  for (const [bucket, entries] of filled) {
    const content = packBucket(entries, buckets)
    batch.push([bucket, content])
    bytes += content.length
    if (bytes > BATCH_BYTES) await flush()
  }
  if (batch.length > 0) await flush()
}

async function insertVocabulary(scope: Scope, owner: string, segment: string, terms: Iterable<string>): Promise<void> {
  const byLength = new Map<number, string[]>()
  for (const term of terms) {
    if (!isSpelt(term)) continue
    const list = byLength.get(term.length)
    if (list) list.push(term)
    else byLength.set(term.length, [term])
  }
  await scope.query(
    `insert into search_vocabulary (segment, length, owner, content)
     select $1, length, $2, content from unnest($3::smallint[], $4::text[]) as given (length, content)`,
    [segment, owner, [...byLength.keys()], [...byLength.values()].map((list) => list.sort().join(' '))],
  )
}

const LEAST_SPELT = 4
const MOST_SPELT = 30

/** Whether a term can be the right spelling of a misspelt word: letters only, neither very short nor very long. */
export const isSpelt = (term: string): boolean =>
  term.length >= LEAST_SPELT - 1 && term.length <= MOST_SPELT && /^[\p{L}\p{M}]+$/u.test(term)

interface SegmentSize {
  segment: string
  passages: number
  dead: number
}

/** Segments that are due to be merged, of one owner or of all who have any. As the service. */
export async function findMerges(scope: Scope, owner?: string): Promise<{ owner: string; segments: string[] }[]> {
  const { rows } = await scope.query<SegmentSize & { owner: string }>(
    `select segment::text, owner, passages,
       coalesce((select sum(d) from unnest(dead) with ordinality as given (d, n) where n % 2 = 0), 0)::int as dead
     from search_segments s
     where ($2::uuid is null or owner = $2) and owner in (
       select owner from search_segments group by owner having count(*) >= $1 or bool_or(dead <> '{}')
     )`,
    [MERGE_AT, owner],
  )
  const byOwner = Map.groupBy(rows, ({ owner }) => owner)
  return [...byOwner].flatMap(([owner, segments]) =>
    chooseMerge(segments).map((chosen) => ({ owner, segments: chosen })),
  )
}

/** Eight segments of one order of magnitude, or one that has lost much. */
function chooseMerge(segments: readonly SegmentSize[]): string[][] {
  const hollow = segments.filter(({ passages, dead }) => dead > MOST_DEAD * passages)
  const isHollow = new Set(hollow)
  const whole = segments.filter((segment) => !isHollow.has(segment) && segment.passages <= MOST_MERGED_PASSAGES)
  const bySize = Map.groupBy(whole, ({ passages }) => Math.floor(Math.log(passages) / Math.log(MERGE_AT)))
  const full = [...bySize.values()].filter((group) => group.length >= MERGE_AT)
  return [...full, ...hollow.map((segment) => [segment])].map((group) => group.map(({ segment }) => segment))
}

interface StoredSegment {
  segment: string
  passages: number
  buckets: number
  lengths: Buffer
}

interface Placed {
  document_id: string
  segment: string
  first_passage: number
  passages: number
}

/**
 * Writes one segment in place of several, without the passages of removed documents. Whoever searches meanwhile reads
 * the old ones; whoever deletes a document waits.
 */
export async function mergeSegments(database: Database, owner: string, segments: readonly string[]): Promise<void> {
  await database.asService(async (scope) => {
    // The rows of the documents first, as a delete takes them: afterwards none of them can leave its segment.
    const { rows: placed } = await scope.query<Placed>(
      `select document_id, segment::text, first_passage, passages from document_index
       where owner = $1 and segment = any ($2) order by document_id for update`,
      [owner, segments],
    )
    const { rows: stored } = await scope.query<StoredSegment>(
      `select segment::text, passages, buckets, lengths from search_segments
       where owner = $1 and segment = any ($2) order by segment for update`,
      [owner, segments],
    )
    const present = new Set(stored.map(({ segment }) => segment))
    const moved = placed.filter(({ segment }) => present.has(segment))
    const { numbers, lengths, firsts } = renumber(stored, moved)
    if (lengths.length > 0) {
      const merged = await insertSegment(scope, owner, lengths, await joinEntries(scope, stored, numbers))
      await scope.query(
        `update document_index i set segment = $1, first_passage = given.first
         from unnest($2::uuid[], $3::int[]) as given (document_id, first) where i.document_id = given.document_id`,
        [merged, moved.map(({ document_id }) => document_id), firsts],
      )
    }
    await scope.query('delete from search_segments where segment = any ($1)', [stored.map(({ segment }) => segment)])
  })
}

const GONE = -1

/** New numbers for the passages of the documents that are still there, one after the other. */
function renumber(stored: readonly StoredSegment[], moved: readonly Placed[]) {
  const numbers = new Map(stored.map(({ segment, passages }) => [segment, new Int32Array(passages).fill(GONE)]))
  const known = new Map(stored.map(({ segment, lengths }) => [segment, decodeLengths(lengths)]))
  const lengths: number[] = []
  const bySegment = Map.groupBy(moved, ({ segment }) => segment)
  const firsts = new Map<Placed, number>()
  // Rising within each segment, so that the postings stay in order.
  for (const { segment } of stored) {
    const inOrder = (bySegment.get(segment) ?? []).toSorted((one, other) => one.first_passage - other.first_passage)
    for (const document of inOrder) {
      firsts.set(document, lengths.length)
      for (let number = document.first_passage; number < document.first_passage + document.passages; number += 1) {
        const into = numbers.get(segment)
        if (into) into[number] = lengths.length
        lengths.push(known.get(segment)?.[number] ?? 0)
      }
    }
  }
  return { numbers, lengths, firsts: moved.map((document) => firsts.get(document) ?? 0) }
}

async function joinEntries(
  scope: Scope,
  stored: readonly StoredSegment[],
  numbers: ReadonlyMap<string, Int32Array>,
): Promise<Map<string, Uint8Array>> {
  const joined = new Map<string, EntryWriter>()
  for (const { segment } of stored) {
    const renumbered = numbers.get(segment)
    const renumber = (passage: number) => renumbered?.[passage] ?? GONE
    const { rows } = await scope.query<{ content: Buffer }>('select content from search_buckets where segment = $1', [
      segment,
    ])
    for (const { content } of rows) {
      for (const [term, entry] of readBucket(unpackBucket(content))) {
        const writer = joined.get(term) ?? createEntryWriter()
        writer.addRenumbered(entry, renumber)
        joined.set(term, writer)
      }
      await nextTurn()
    }
  }
  const entries = new Map<string, Uint8Array>()
  for (const [term, writer] of joined) if (writer.size > 0) entries.set(term, writer.encode(term))
  return entries
}
