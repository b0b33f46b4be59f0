/**
 * The binary format of an index segment. A hash assigns terms to blocks; a block is a sequence of entries:
 *
 *   bytes of the term, term (UTF-8), passages that hold it, bytes of the postings, bytes of the positions, postings, positions
 *
 * A posting is the distance from the previous passage << 2 | flags. Flag 1: the term counts more than once, and its count
 * follows. Flag 2: it has fewer positions than its count (title and heading count too), and their number follows.
 * Positions are word offsets in the passage, as distances. All numbers are varints.
 */
import { type ByteWriter, createByteReader, createByteWriter, skipVarints, varintAt, varintEnd } from './byte-writer.ts'

/** Trades the rows that a question reads against the bytes of other terms in each. */
const BLOCK_BYTES = 3_000
/** Smaller segments are one block: it compresses best, and is read within milliseconds. */
const SMALL_SEGMENT_BYTES = 384_000
const MAX_BLOCKS = 1 << 16

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** FNV-1a over UTF-16 code units. Part of the stored format. */
export function hashTerm(term: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < term.length; index += 1) {
    hash = Math.imul(hash ^ term.charCodeAt(index), 0x01000193)
  }
  // Only the lowest bits choose the block, so the higher ones are folded in.
  return (hash ^ (hash >>> 15)) >>> 0
}

export const blockOf = (term: string, blocks: number): number => blockOfHash(hashTerm(term), blocks)
export const blockOfHash = (hash: number, blocks: number): number => hash & (blocks - 1)

export function chooseBlocks(bytes: number): number {
  if (bytes <= SMALL_SEGMENT_BYTES) return 1
  let blocks = 1
  while (blocks * BLOCK_BYTES < bytes && blocks < MAX_BLOCKS) blocks *= 2
  return blocks
}

export interface EntryWriter {
  readonly size: number
  /**
   * @param count term frequency for BM25: occurrences in the text plus the weights of title and heading
   * @param positions from `from` to `to`, of which negative ones are left out
   */
  add(passage: number, count: number, positions: ArrayLike<number>, from?: number, to?: number): void
  addRenumbered(entry: Entry, renumber: (passage: number) => number): void
  /** Appends the entry; the writer is then empty. */
  encodeInto(target: ByteWriter, term: string): void
}

export function createEntryWriter(): EntryWriter {
  const [postings, places] = [createByteWriter(), createByteWriter()]
  let [size, previous] = [0, 0]

  function addHead(passage: number, count: number, found: number): void {
    postings.varint((passage - previous) * 4 + (count > 1 ? 1 : 0) + (found === count ? 0 : 2))
    if (count > 1) postings.varint(count)
    if (found !== count) postings.varint(found)
    previous = passage
    size += 1
  }

  return {
    get size() {
      return size
    },
    add(passage, count, positions, from = 0, to = positions.length) {
      let [found, last] = [0, 0]
      for (let index = from; index < to; index += 1) {
        const position = positions[index] ?? -1
        if (position < 0) continue
        places.varint(position - last)
        last = position
        found += 1
      }
      addHead(passage, count, found)
    },
    addRenumbered(entry, renumber) {
      const reader = createByteReader(entry.bytes, entry.positionsAt)
      eachChunk(entry, 0, (chunk) => {
        for (let index = 0; index < chunk.length; index += 1) {
          const found = chunk.places[index] ?? 0
          const from = reader.at
          reader.skip(found)
          const number = renumber(chunk.passages[index] ?? 0)
          if (number < 0) continue
          addHead(number, chunk.counts[index] ?? 0, found)
          places.bytes(entry.bytes, from, reader.at)
        }
      })
    },
    encodeInto(target, term) {
      writeName(target, term)
      target.varint(size)
      target.varint(postings.length)
      target.varint(places.length)
      target.bytes(postings.written())
      target.bytes(places.written())
      postings.clear()
      places.clear()
      size = 0
      previous = 0
    },
  }
}

function writeName(target: ByteWriter, term: string): void {
  const name = encoder.encode(term)
  target.varint(name.length)
  target.bytes(name)
}

export interface Entry {
  readonly bytes: Uint8Array
  readonly size: number
  readonly postingsAt: number
  readonly positionsAt: number
  readonly end: number
}

export interface IndexBlock {
  readonly bytes: Uint8Array
  /** Offsets of the entries sorted by term bytes, for binary search; without them the search is linear. */
  readonly starts?: Uint32Array
}

export function* readBlock(bytes: Uint8Array): Generator<[term: string, entry: Entry]> {
  for (const [name, entry] of readEncoded(bytes)) yield [decoder.decode(name), entry]
}

export function* readEncoded(bytes: Uint8Array): Generator<[name: Uint8Array, entry: Entry]> {
  const reader = createByteReader(bytes)
  while (reader.at < bytes.length) {
    const nameLength = reader.varint()
    const nameAt = reader.at
    reader.at += nameLength
    yield [bytes.subarray(nameAt, nameAt + nameLength), readEntry(bytes, reader)]
  }
}

function readEntry(bytes: Uint8Array, reader: ReturnType<typeof createByteReader>): Entry {
  const size = reader.varint()
  const postingsLength = reader.varint()
  const positionsLength = reader.varint()
  const postingsAt = reader.at
  reader.at += postingsLength + positionsLength
  return { bytes, size, postingsAt, positionsAt: postingsAt + postingsLength, end: reader.at }
}

export const encodeTerm = (term: string): Uint8Array => encoder.encode(term)

export function findEntry({ bytes, starts }: IndexBlock, name: Uint8Array): Entry | undefined {
  return starts ? findInOrder(bytes, starts, name) : findOneByOne(bytes, name)
}

function findInOrder(bytes: Uint8Array, starts: Uint32Array, name: Uint8Array): Entry | undefined {
  const reader = createByteReader(bytes)
  let [low, high] = [0, starts.length - 1]
  while (low <= high) {
    const middle = (low + high) >> 1
    reader.at = starts[middle] ?? 0
    const length = reader.varint()
    const order = compareNames(bytes, reader.at, length, name)
    if (order === 0) {
      reader.at += length
      return readEntry(bytes, reader)
    }
    if (order < 0) low = middle + 1
    else high = middle - 1
  }
  return undefined
}

function compareNames(bytes: Uint8Array, at: number, length: number, name: Uint8Array): number {
  const shorter = Math.min(length, name.length)
  for (let index = 0; index < shorter; index += 1) {
    const difference = (bytes[at + index] ?? 0) - (name[index] ?? 0)
    if (difference !== 0) return difference
  }
  return length - name.length
}

function findOneByOne(bytes: Uint8Array, name: Uint8Array): Entry | undefined {
  const reader = createByteReader(bytes)
  while (reader.at < bytes.length) {
    const length = reader.varint()
    let isSame = length === name.length
    for (let index = 0; isSame && index < length; index += 1) isSame = bytes[reader.at + index] === name[index]
    reader.at += length
    const entry = readEntry(bytes, reader)
    if (isSame) return entry
  }
  return undefined
}

/** Postings decoded together, so that what is made of them is a plain loop over arrays. */
export interface PostingChunk {
  length: number
  readonly passages: Int32Array
  readonly counts: Float64Array
  /** Occurrences that have a position: those in the text, not in the title or a heading. */
  readonly places: Int32Array
}

/** Fits the processor's fastest cache. */
const CHUNK_POSTINGS = 512

const createChunk = (): PostingChunk => ({
  length: 0,
  passages: new Int32Array(CHUNK_POSTINGS),
  counts: new Float64Array(CHUNK_POSTINGS),
  places: new Int32Array(CHUNK_POSTINGS),
})

/** Taken while it is in use: a visitor may read other postings. */
let spare: PostingChunk | undefined

/**
 * Plain offsets instead of a reader, for speed: a search in a large library spends most of its time here.
 *
 * @param base added to the numbers of passages
 * @param visit may change the chunk, which is valid until it returns
 */
export function eachChunk(
  { bytes, size, postingsAt }: Entry,
  base: number,
  visit: (chunk: PostingChunk) => void,
): void {
  const chunk = spare ?? createChunk()
  spare = undefined
  const { passages, counts, places } = chunk
  let [at, passage] = [postingsAt, base]
  for (let left = size; left > 0;) {
    const length = Math.min(left, CHUNK_POSTINGS)
    for (let index = 0; index < length; index += 1) {
      let head = bytes[at] ?? 0
      at += 1
      if (head > 127) {
        head = varintAt(bytes, at - 1)
        at = varintEnd(bytes, at)
      }
      passage += head >>> 2
      // Sums instead of branches, which no processor could predict; numbers above 127 are rare.
      const hasCount = head & 1
      let count = bytes[at] ?? 0
      at += hasCount
      if (count * hasCount > 127) {
        count = varintAt(bytes, at - 1)
        at = varintEnd(bytes, at)
      }
      count = 1 + (count - 1) * hasCount
      const hasPlaces = (head >> 1) & 1
      let found = bytes[at] ?? 0
      at += hasPlaces
      if (found * hasPlaces > 127) {
        found = varintAt(bytes, at - 1)
        at = varintEnd(bytes, at)
      }
      passages[index] = passage
      counts[index] = count
      places[index] = count + (found - count) * hasPlaces
    }
    chunk.length = length
    left -= length
    visit(chunk)
  }
  spare = chunk
}

/** Visits the positions of wanted passages. @param isWanted 1 for each of them, by the number that `base` makes */
export function eachPositions(
  entry: Entry,
  base: number,
  isWanted: Uint8Array,
  visit: (passage: number, positions: readonly number[]) => void,
): void {
  const { bytes } = entry
  let [at, skipped] = [entry.positionsAt, 0]
  eachChunk(entry, base, ({ length, passages, places }) => {
    for (let index = 0; index < length; index += 1) {
      const passage = passages[index] ?? 0
      const found = places[index] ?? 0
      if (isWanted[passage] !== 1) {
        skipped += found
        continue
      }
      at = skipVarints(bytes, at, skipped)
      skipped = 0
      const positions: number[] = []
      let last = 0
      for (let nth = 0; nth < found; nth += 1) {
        last += varintAt(bytes, at)
        at = varintEnd(bytes, at)
        positions.push(last)
      }
      visit(passage, positions)
    }
  })
}

export function encodeLengths(lengths: readonly number[]): Buffer {
  const bytes = Buffer.alloc(lengths.length * 2)
  for (const [index, length] of lengths.entries()) bytes.writeUInt16LE(Math.min(length, 65_535), index * 2)
  return bytes
}

export function decodeLengths(bytes: Uint8Array): Uint16Array {
  const lengths = new Uint16Array(bytes.length >> 1)
  for (let index = 0; index < lengths.length; index += 1) {
    lengths[index] = (bytes[index * 2] ?? 0) | ((bytes[index * 2 + 1] ?? 0) << 8)
  }
  return lengths
}
