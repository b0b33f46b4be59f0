import type { Scope } from '#server/database/scope.ts'
import { unpackBlock } from './block.ts'
import { createByteCache } from './byte-cache.ts'
import { type IndexSegment, type LibraryIndex, numberOfLanguage } from './library-index.ts'
import {
  blockOfHash,
  eachChunk,
  eachPositions,
  encodeTerm,
  type Entry,
  findEntry,
  hashTerm,
  type IndexBlock,
  type PostingChunk,
} from './segment-format.ts'

interface SegmentPostings {
  readonly segment: IndexSegment
  readonly entry: Entry
  /** 1 for each language number in which the term counts; undefined: all. */
  readonly inLanguages?: Uint8Array
}

export type PassageChunk = Readonly<Pick<PostingChunk, 'length' | 'passages' | 'counts'>>

/** Passages that hold a term, or a group of terms that a question treats as one. */
export interface TermPostings {
  /** Number of passages that are visited. */
  readonly frequency: number
  /** @param visit receives a chunk that is valid until it returns; counts may be weighted */
  eachChunk(visit: (chunk: PassageChunk) => void): void
  /**
   * Visits passages with the word positions of the term in them.
   * @param isWanted 1 for each passage of the library that is wanted
   */
  eachPositions(isWanted: Uint8Array, visit: (passage: number, positions: readonly number[]) => void): void
}

/** @returns marks for `eachPositions` @param size number of passages of the library, deleted ones included */
export function markPassages(size: number, passages: readonly number[]): Uint8Array {
  const marks = new Uint8Array(size)
  for (const passage of passages) marks[passage] = 1
  return marks
}

export interface IndexedTerm extends TermPostings {
  readonly parts: readonly SegmentPostings[]
  /** @param visit may change the chunk */
  eachChunk(visit: (chunk: PostingChunk) => void): void
}

interface CachedBlock extends IndexBlock {
  readonly byteLength: number
}

const blockCache = createByteCache<CachedBlock>(48_000_000)
export const EMPTY_BLOCK: CachedBlock = { bytes: new Uint8Array(), byteLength: 0 }

const openTerm = (parts: readonly SegmentPostings[]): IndexedTerm => ({
  parts,
  frequency: countPassages(parts),
  eachChunk(visit) {
    for (const part of parts) eachChunkOfPart(part, visit)
  },
  eachPositions(isWanted, visit) {
    for (const part of parts)
      eachPositions(part.entry, part.segment.base, isWanted, (passage, positions) => {
        if (countsIn(part, passage)) visit(passage, positions)
      })
  },
})

function eachChunkOfPart(part: SegmentPostings, visit: (chunk: PostingChunk) => void): void {
  const { segment, entry, inLanguages } = part
  if (segment.deleted === undefined && inLanguages === undefined) return eachChunk(entry, segment.base, visit)
  eachChunk(entry, segment.base, (chunk) => {
    leaveOut(chunk, part)
    if (chunk.length > 0) visit(chunk)
  })
}

const countsIn = ({ inLanguages, segment: { base, languages } }: SegmentPostings, passage: number): boolean =>
  inLanguages === undefined || inLanguages[languages?.[passage - base] ?? 0] === 1

/** Leaves out passages that are deleted, and those of languages in which the term does not count. */
function leaveOut(chunk: PostingChunk, part: SegmentPostings): void {
  const { passages, counts, places } = chunk
  const { base, deleted } = part.segment
  let length = 0
  for (let index = 0; index < chunk.length; index += 1) {
    const passage = passages[index] ?? 0
    if (deleted?.[passage - base] === 1 || !countsIn(part, passage)) continue
    passages[length] = passage
    counts[length] = counts[index] ?? 0
    places[length] = places[index] ?? 0
    length += 1
  }
  chunk.length = length
}

/** Titles and headings, which count for every passage below them, count only where the text does not hold the term. */
export const inText = (term: IndexedTerm): TermPostings => ({
  ...term,
  eachChunk: (visit) =>
    term.eachChunk((chunk) => {
      const { length, counts, places } = chunk
      for (let index = 0; index < length; index += 1) if ((places[index] ?? 0) > 0) counts[index] = places[index] ?? 0
      visit(chunk)
    }),
})

export function joinForms(forms: readonly { postings: IndexedTerm; languages: readonly string[] }[]): IndexedTerm {
  return openTerm(
    forms.flatMap(({ postings, languages }) => {
      const inLanguages = new Uint8Array(256)
      for (const language of languages) inLanguages[numberOfLanguage(language)] = 1
      return postings.parts.map((part): SegmentPostings => ({ ...part, inLanguages }))
    }),
  )
}

export async function readTerms(
  scope: Scope,
  { segments }: LibraryIndex,
  terms: Iterable<string>,
): Promise<Map<string, IndexedTerm>> {
  const wanted = [...new Set(terms)].map((term) => ({ term, name: encodeTerm(term), hash: hashTerm(term) }))
  const addresses: BlockAddress[] = []
  // A small segment is one block for all terms. Each map leads from a block of a segment to its index in `addresses`.
  const addressesOf = segments.map((segment) => {
    const byBlock = new Map<number, number>()
    for (const { hash } of wanted) {
      const block = blockOfHash(hash, segment.blocks)
      if (!byBlock.has(block)) byBlock.set(block, addresses.push({ segment, block }) - 1)
    }
    return byBlock
  })
  const blocks = await readBlocks(scope, addresses)
  const found = new Map<string, IndexedTerm>()
  for (const { term, name, hash } of wanted) {
    const parts: SegmentPostings[] = []
    for (const [nth, segment] of segments.entries()) {
      const address = addressesOf[nth]?.get(blockOfHash(hash, segment.blocks)) ?? -1
      const entry = findEntry(blocks[address] ?? EMPTY_BLOCK, name)
      if (entry) parts.push({ segment, entry })
    }
    if (parts.length > 0) found.set(term, openTerm(parts))
  }
  return found
}

export interface BlockAddress {
  readonly segment: IndexSegment
  readonly block: number
}

const keyOf = ({ segment, block }: BlockAddress): string => `${segment.identity} ${block}`

export async function readBlocks(scope: Scope, addresses: readonly BlockAddress[]): Promise<IndexBlock[]> {
  const keys = addresses.map(keyOf)
  const read = new Map<string, CachedBlock>()
  const missing = new Map<string, BlockAddress>()
  for (const [index, address] of addresses.entries()) {
    const key = keys[index] ?? ''
    const cached = read.get(key) ?? blockCache.get(key)
    if (cached) read.set(key, cached)
    else missing.set(key, address)
  }
  if (missing.size > 0) {
    const wanted = [...missing.values()]
    const { rows } = await scope.prepared<{ ordinal: number; content: Buffer }>(
      `select wanted.ordinal::int, b.content
       from unnest($1::bigint[], $2::int[]) with ordinality as wanted (segment, bucket, ordinal)
       join search_buckets b on b.segment = wanted.segment and b.bucket = wanted.bucket`,
      [wanted.map(({ segment }) => segment.segment), wanted.map(({ block }) => block)],
    )
    const contents = new Map(rows.map(({ ordinal, content }) => [ordinal, content]))
    for (const [index, key] of [...missing.keys()].entries()) {
      const block = copyForCache(unpackBlock(contents.get(index + 1) ?? EMPTY_BLOCK.bytes))
      read.set(key, block)
      blockCache.set(key, block)
    }
  }
  return keys.map((key) => read.get(key) ?? EMPTY_BLOCK)
}

/** The bytes may be part of a larger buffer, which the cache would keep alive. */
function copyForCache({ bytes, starts }: IndexBlock): CachedBlock {
  const copy = { bytes: new Uint8Array(bytes), byteLength: bytes.length + (starts?.byteLength ?? 0) }
  return starts ? { ...copy, starts } : copy
}

function countPassages(parts: readonly SegmentPostings[]): number {
  let count = 0
  for (const part of parts) {
    if (part.segment.deleted === undefined && part.inLanguages === undefined) count += part.entry.size
    else eachChunkOfPart(part, ({ length }) => (count += length))
  }
  return count
}
