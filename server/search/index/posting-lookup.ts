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

/** An occurrence count, which may be weighted, and the word positions of a passage. */
export interface ListedPassage {
  readonly count: number
  readonly positions: readonly number[]
}

export interface TermPostings {
  readonly parts: readonly SegmentPostings[]
  readonly frequency: number
  /** Passages of several terms, put together for one question. There are no parts then. */
  readonly listed?: ReadonlyMap<number, ListedPassage>
}

interface CachedBlock extends IndexBlock {
  readonly byteLength: number
}

const blockCache = createByteCache<CachedBlock>(48_000_000)
export const EMPTY_BLOCK: CachedBlock = { bytes: new Uint8Array(), byteLength: 0 }

export function eachPassage({ parts, listed }: TermPostings, visit: (passage: number, count: number) => void): void {
  if (listed) for (const [passage, { count }] of listed) visit(passage, count)
  for (const part of parts) {
    const { base, deleted } = part.segment
    eachPosting(part.entry, (passage, count) => {
      if (deleted?.[passage] !== 1 && countsIn(part, passage)) visit(base + passage, count)
    })
  }
}

const countsIn = ({ inLanguages, segment }: SegmentPostings, passage: number): boolean =>
  inLanguages === undefined || inLanguages[segment.languages?.[passage] ?? 0] === 1

export function eachPositions(
  { parts, listed }: TermPostings,
  isWanted: (passage: number) => boolean,
  visit: (passage: number, positions: readonly number[]) => void,
): void {
  if (listed) for (const [passage, { positions }] of listed) if (isWanted(passage)) visit(passage, positions)
  for (const part of parts) {
    const { base } = part.segment
    const positions = readPositions(part.entry, (passage) => isWanted(base + passage) && countsIn(part, passage))
    for (const [passage, list] of positions) visit(base + passage, list)
  }
}

export function joinForms(forms: readonly { postings: TermPostings; languages: readonly string[] }[]): TermPostings {
  const parts = forms.flatMap(({ postings, languages }) => {
    const inLanguages = new Uint8Array(256)
    for (const language of languages) inLanguages[numberOfLanguage(language)] = 1
    return postings.parts.map((part): SegmentPostings => ({ ...part, inLanguages }))
  })
  return { parts, frequency: countPassages(parts) }
}

export async function readTerms(
  scope: Scope,
  { segments }: LibraryIndex,
  terms: Iterable<string>,
): Promise<Map<string, TermPostings>> {
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
  const found = new Map<string, TermPostings>()
  for (const { term, name, hash } of wanted) {
    const parts: SegmentPostings[] = []
    for (const [nth, segment] of segments.entries()) {
      const address = addressesOf[nth]?.get(blockOfHash(hash, segment.blocks)) ?? -1
      const entry = findEntry(blocks[address] ?? EMPTY_BLOCK, name)
      if (entry) parts.push({ segment, entry })
    }
    if (parts.length > 0) found.set(term, { parts, frequency: countPassages(parts) })
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
    else eachPassage({ parts: [part], frequency: 0 }, () => (count += 1))
  }
  return count
}
