import type { Scope } from '#server/database/scope.ts'
import { unpackBlock } from './block.ts'
import { createByteCache } from './byte-cache.ts'
import { type IndexSegment, type LibraryIndex, numberOfLanguage } from './library-index.ts'
import {
  blockOfHash,
  eachPosting,
  encodeTerm,
  type Entry,
  findEntry,
  hashTerm,
  type IndexBlock,
  readPositions,
} from './segment-format.ts'

interface SegmentPostings {
  readonly segment: IndexSegment
  readonly entry: Entry
  /** 1 for each language number in which the term counts; undefined: all. */
  readonly inLanguages?: Uint8Array
}

/** Passages that hold a term, or a group of terms that a question treats as one. */
export interface TermPostings {
  /** Number of passages that are visited. */
  readonly frequency: number
  /** @param visit receives an occurrence count, which may be weighted */
  eachPassage(visit: (passage: number, count: number) => void): void
  /** Visits the passages that are wanted, with the word positions of the term in them. */
  eachPositions(
    isWanted: (passage: number) => boolean,
    visit: (passage: number, positions: readonly number[]) => void,
  ): void
}

export interface IndexedTerm extends TermPostings {
  readonly parts: readonly SegmentPostings[]
  eachPassage(visit: PlaceVisitor): void
}

/** @param places occurrences that have a position: those in the text, not in the title or a heading */
type PlaceVisitor = (passage: number, count: number, places: number) => void

interface CachedBlock extends IndexBlock {
  readonly byteLength: number
}

const blockCache = createByteCache<CachedBlock>(48_000_000)
export const EMPTY_BLOCK: CachedBlock = { bytes: new Uint8Array(), byteLength: 0 }

const openTerm = (parts: readonly SegmentPostings[]): IndexedTerm => ({
  parts,
  frequency: countPassages(parts),
  eachPassage(visit) {
    for (const part of parts) eachOfPart(part, visit)
  },
  eachPositions(isWanted, visit) {
    for (const part of parts) {
      const { base } = part.segment
      const positions = readPositions(part.entry, (passage) => isWanted(base + passage) && countsIn(part, passage))
      for (const [passage, list] of positions) visit(base + passage, list)
    }
  },
})

function eachOfPart(part: SegmentPostings, visit: PlaceVisitor): void {
  const { base, deleted } = part.segment
  if (deleted === undefined && part.inLanguages === undefined) {
    eachPosting(part.entry, (passage, count, places) => visit(base + passage, count, places))
    return
  }
  eachPosting(part.entry, (passage, count, places) => {
    if (deleted?.[passage] !== 1 && countsIn(part, passage)) visit(base + passage, count, places)
  })
}

const countsIn = ({ inLanguages, segment }: SegmentPostings, passage: number): boolean =>
  inLanguages === undefined || inLanguages[segment.languages?.[passage] ?? 0] === 1

/** Titles and headings, which count for every passage below them, count only where the text does not hold the term. */
export const inText = (term: IndexedTerm): TermPostings => ({
  ...term,
  eachPassage: (visit) => term.eachPassage((passage, count, places) => visit(passage, places > 0 ? places : count)),
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
    else eachOfPart(part, () => (count += 1))
  }
  return count
}
