import type { Database, Scope } from '#server/database/scope.ts'
import { joinRuns } from './byte-runs.ts'
import { DELETED_PASSAGE, type PackedSegment } from './pack-segment.ts'
import { decodeLengths } from './segment-format.ts'
import { inIndexThread, type RunIndexTask } from './worker-thread.ts'

/** Number of segments of one size that merge into one of the next; fewer than twice as many are merged at once. */
const MERGE_AT = 8
/** Larger segments are not merged with others: rewriting them would make people wait. */
const MAX_MERGED_PASSAGES = 12_000
const MAX_DELETED_SHARE = 0.3
const BATCH_BYTES = 1_000_000

export interface SegmentTotals {
  readonly length: number
  readonly languages: readonly string[]
}

export async function insertSegment(
  scope: Scope,
  owner: string,
  packed: PackedSegment,
  { length, languages }: SegmentTotals,
): Promise<string> {
  const { blocks, passages, lengths } = packed
  const { rows } = await scope.query<{ segment: string }>(
    `insert into search_segments (owner, buckets, passages, lengths, length, languages)
     values ($1, $2, $3, $4, $5, $6) returning segment::text`,
    [owner, blocks, passages, Buffer.from(lengths), length, languages],
  )
  const segment = rows[0]?.segment ?? ''
  await insertBlocks(scope, owner, segment, packed)
  return segment
}

/** Sends the contents as one value, which the driver sends in binary; it would send arrays as text. */
async function insertBlocks(
  scope: Scope,
  owner: string,
  segment: string,
  { numbers, contents: { bytes, ends } }: PackedSegment,
): Promise<void> {
  for (let from = 0; from < numbers.length;) {
    const start = ends[from - 1] ?? 0
    let to = from + 1
    while (to < numbers.length && (ends[to] ?? 0) - start <= BATCH_BYTES) to += 1
    const batch = [...ends.subarray(from, to)]
    await scope.query(
      `insert into search_buckets (segment, bucket, owner, content)
       select $1, bucket, $2, substring($3::bytea from start + 1 for "end" - start)
       from unnest($4::int[], $5::int[], $6::int[]) as given (bucket, start, "end")`,
      [
        segment,
        owner,
        Buffer.from(bytes.buffer, bytes.byteOffset + start, (batch.at(-1) ?? start) - start),
        [...numbers.subarray(from, to)],
        [start, ...batch.slice(0, -1)].map((at) => at - start),
        batch.map((at) => at - start),
      ],
    )
    from = to
  }
}

export async function listLanguages(scope: Scope): Promise<string[]> {
  const { rows } = await scope.query<{ language: string }>(
    'select distinct unnest(languages) as language from search_segments order by language',
  )
  return rows.map(({ language }) => language)
}

interface SegmentSize {
  segment: string
  passages: number
  dead: number
}

/** Runs as the service. Without an owner, for all owners. */
export async function findMerges(scope: Scope, owner?: string): Promise<{ owner: string; segments: string[] }[]> {
  const { rows } = await scope.query<SegmentSize & { owner: string }>(
    `select segment::text, owner, passages,
       coalesce((select sum(d) from unnest(dead) with ordinality as given (d, n) where n % 2 = 0), 0)::int as dead
     from search_segments s
     where ($2::uuid is null or owner = $2) and owner in (
       select owner from search_segments group by owner having count(*) >= $1 or bool_or(dead <> '{}')
     ) order by s.segment`,
    [MERGE_AT, owner],
  )
  const byOwner = Map.groupBy(rows, ({ owner }) => owner)
  return [...byOwner].flatMap(([owner, segments]) =>
    chooseMerge(segments).map((chosen) => ({ owner, segments: chosen })),
  )
}

function chooseMerge(segments: readonly SegmentSize[]): string[][] {
  const sparse = segments.filter(({ passages, dead }) => dead > MAX_DELETED_SHARE * passages)
  const isSparse = new Set(sparse)
  const mergeable = segments.filter((segment) => !isSparse.has(segment) && segment.passages <= MAX_MERGED_PASSAGES)
  const bySize = Map.groupBy(mergeable, ({ passages }) => Math.floor(Math.log(passages) / Math.log(MERGE_AT)))
  const full = [...bySize.values()].flatMap(splitEvenly)
  return [...full, ...sparse.map((segment) => [segment])].map((group) => group.map(({ segment }) => segment))
}

/** A merge is one transaction that holds its segments in memory, so that a backlog takes several. */
function splitEvenly(group: readonly SegmentSize[]): SegmentSize[][] {
  const merges = Math.floor(group.length / MERGE_AT)
  return Array.from({ length: merges }, (_, index) =>
    group.slice(Math.floor((index * group.length) / merges), Math.floor(((index + 1) * group.length) / merges)),
  )
}

interface StoredSegment {
  segment: string
  passages: number
  buckets: number
  lengths: Buffer
}

interface IndexedDocument {
  document_id: string
  segment: string
  first_passage: number
  passages: number
  length: number
  language: string
}

/** Replaces segments by one without deleted passages. Searches read the old segments meanwhile; deletions wait. */
export async function mergeSegments(database: Database, owner: string, segments: readonly string[]): Promise<void> {
  await database.asService(async (scope) => {
    // Lock rows in the order of a delete, documents first. No document leaves its segment afterwards.
    const { rows: placed } = await scope.query<IndexedDocument>(
      `select document_id, segment::text, first_passage, passages, length, language from document_index
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
      const packed = await inIndexThread((run) => readAndMerge(run, scope, { stored, numbers, lengths }))
      const merged = await insertSegment(scope, owner, packed, {
        length: moved.reduce((sum, document) => sum + document.length, 0),
        languages: [...new Set(moved.map(({ language }) => language))],
      })
      await scope.query(
        `update document_index i set segment = $1, first_passage = given.first
         from unnest($2::uuid[], $3::int[]) as given (document_id, first) where i.document_id = given.document_id`,
        [merged, moved.map(({ document_id }) => document_id), firsts],
      )
    }
    await scope.query('delete from search_segments where owner = $1 and segment = any ($2)', [
      owner,
      stored.map(({ segment }) => segment),
    ])
  })
}

interface Renumbered {
  readonly numbers: ReadonlyMap<string, Int32Array>
  readonly lengths: readonly number[]
  readonly firsts: readonly number[]
}

function renumber(stored: readonly StoredSegment[], moved: readonly IndexedDocument[]): Renumbered {
  const numbers = new Map(
    stored.map(({ segment, passages }) => [segment, new Int32Array(passages).fill(DELETED_PASSAGE)]),
  )
  const known = new Map(stored.map(({ segment, lengths }) => [segment, decodeLengths(lengths)]))
  const lengths: number[] = []
  const bySegment = Map.groupBy(moved, ({ segment }) => segment)
  const firsts = new Map<IndexedDocument, number>()
  // Ascending within each segment, so that the postings stay in order.
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

async function readAndMerge(
  run: RunIndexTask,
  scope: Scope,
  { stored, numbers, lengths }: { stored: readonly StoredSegment[] } & Pick<Renumbered, 'numbers' | 'lengths'>,
): Promise<PackedSegment> {
  for (const { segment, passages } of stored) {
    const { rows } = await scope.query<{ content: Buffer }>(
      'select content from search_buckets where segment = $1 and bucket >= 0',
      [segment],
    )
    const contents = joinRuns(rows.map(({ content }) => content))
    await run('addSegment', contents, numbers.get(segment) ?? new Int32Array(passages).fill(DELETED_PASSAGE))
  }
  return await run('packMerged', lengths)
}
