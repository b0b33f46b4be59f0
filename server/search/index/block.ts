/**
 * The stored form of index blocks and vocabularies. The blocks of a large segment are stored as they are read. The one block
 * of a small segment is stored in compressed columns, in a third of the space: two zero bytes, with which no entry begins, a
 * byte 8, the lengths of the first three columns, and the columns in the order of the names:
 *
 *   heads      bytes shared with the previous name << 4 | further bytes, up to 14; from 15 on their number less 15
 *              follows; number of passages
 *   names      the further bytes
 *   postings   as in the block, without the number of positions (0) of a term that counts once and has no position
 *   positions  as in the block
 *
 * Older formats that are still read: a byte 7, with the byte lengths of postings and positions after a number of passages
 * other than 1, and with whole postings; and the deflated block, which never begins with 7 or 8.
 *
 * The words of a vocabulary are stored compressed after a zero byte; older versions stored them as they are.
 */
import { brotliCompressSync, brotliDecompressSync, constants, inflateRawSync } from 'node:zlib'
import {
  type ByteWriter,
  createByteReader,
  createByteWriter,
  MAX_VARINT_BYTES,
  varintAt,
  varintEnd,
} from './byte-writer.ts'
import type { IndexBlock } from './segment-format.ts'

const DEFLATED = Buffer.from([0, 0])
const IN_WHOLE_COLUMNS = Buffer.from([0, 0, 7])
const IN_COLUMNS = Buffer.from([0, 0, 8])
const COMPRESSED = Buffer.from([0])
/** Marks a length that continues in the next number. */
const LONG = 15

/** @param content entries, one after the other */
export function packBlock(content: Uint8Array, blocks: number): Uint8Array {
  if (blocks > 1) return content
  const packed = Buffer.concat([IN_COLUMNS, compress(toColumns(content))])
  return packed.length < content.length ? packed : content
}

/** Returns the entries of `packBlock`, possibly reordered; a view of `stored` if that is not packed. */
export function unpackBlock(stored: Uint8Array): IndexBlock {
  for (const mark of [IN_COLUMNS, IN_WHOLE_COLUMNS])
    if (beginsWith(stored, mark)) return fromColumns(brotliDecompressSync(stored.subarray(mark.length)), mark)
  return { bytes: beginsWith(stored, DEFLATED) ? inflateRawSync(stored.subarray(DEFLATED.length)) : stored }
}

const beginsWith = (stored: Uint8Array, mark: Uint8Array): boolean =>
  stored.length > mark.length && mark.every((byte, index) => stored[index] === byte)

/** As fast as deflate. The highest quality saves another 5 to 9 % for about twenty times the work. */
const QUALITY = 5
const WINDOW_BITS = 19

const compress = (bytes: Uint8Array): Buffer =>
  brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  })

export const packWords = (words: readonly string[]): Buffer =>
  Buffer.concat([COMPRESSED, compress(Buffer.from(words.join(' ')))])

export function unpackWords(stored: Buffer): string[] {
  const content = stored[0] === 0 ? brotliDecompressSync(stored.subarray(COMPRESSED.length)) : stored
  return content.toString().split(' ')
}

/** Plain offsets instead of readers, for speed: an upload of many files waits for it. */
function toColumns(block: Uint8Array): Buffer {
  const [heads, names, postings, positions] = [
    createByteWriter(),
    createByteWriter(),
    createByteWriter(),
    createByteWriter(),
  ]
  let [before, beforeLength] = [0, 0]
  for (const start of startsByName(block)) {
    const length = varintAt(block, start)
    const name = varintEnd(block, start)
    const shared = countShared(block, before, beforeLength, name, length)
    const rest = length - shared
    heads.varint((shared << 4) | Math.min(rest, LONG))
    if (rest >= LONG) heads.varint(rest - LONG)
    const sizeAt = name + length
    const size = varintAt(block, sizeAt)
    heads.varint(size)
    names.bytes(block, name + shared, sizeAt)
    const postingsLengthAt = varintEnd(block, sizeAt)
    const positionsLengthAt = varintEnd(block, postingsLengthAt)
    const postingsAt = varintEnd(block, positionsLengthAt)
    const positionsAt = postingsAt + varintAt(block, postingsLengthAt)
    for (let at = postingsAt; at < positionsAt;) at = shortenPosting(block, at, postings)
    positions.bytes(block, positionsAt, positionsAt + varintAt(block, positionsLengthAt))
    ;[before, beforeLength] = [name, length]
  }
  const lengths = createByteWriter()
  for (const column of [heads, names, postings]) lengths.varint(column.length)
  return Buffer.concat([lengths, heads, names, postings, positions].map((column) => column.written()))
}

/** Offsets of the entries in the order of the bytes of their names. */
function startsByName(block: Uint8Array): number[] {
  const starts: number[] = []
  for (let at = 0; at < block.length;) {
    starts.push(at)
    at = varintEnd(block, at) + varintAt(block, at)
    const postingsLengthAt = varintEnd(block, at)
    const positionsLengthAt = varintEnd(block, postingsLengthAt)
    at = varintEnd(block, positionsLengthAt) + varintAt(block, postingsLengthAt) + varintAt(block, positionsLengthAt)
  }
  return starts.sort((one, other) => {
    const [length, otherLength] = [varintAt(block, one), varintAt(block, other)]
    const [name, otherName] = [varintEnd(block, one), varintEnd(block, other)]
    const shared = countShared(block, name, length, otherName, otherLength)
    return shared < length && shared < otherLength
      ? (block[name + shared] ?? 0) - (block[otherName + shared] ?? 0)
      : length - otherLength
  })
}

function countShared(block: Uint8Array, one: number, length: number, other: number, otherLength: number): number {
  const most = Math.min(length, otherLength)
  let shared = 0
  while (shared < most && block[one + shared] === block[other + shared]) shared += 1
  return shared
}

/** Flags of a posting that counts once and has no position: the number of positions is omitted. */
const BARE = 2
const numbersAfter = (flags: number): number => (flags & 1) + (flags >> 1)

/** Returns the offset of the next posting. */
function shortenPosting(block: Uint8Array, start: number, writer: ByteWriter): number {
  const flags = (block[start] ?? 0) & 3
  const head = varintEnd(block, start)
  let end = head
  for (let number = numbersAfter(flags); number > 0; number -= 1) end = varintEnd(block, end)
  writer.bytes(block, start, flags === BARE ? head : end)
  return end
}

/** Plain offsets instead of readers, for speed: the first question to a library waits for it. */
function fromColumns(columns: Uint8Array, mark: Uint8Array): IndexBlock {
  const isShortened = mark === IN_COLUMNS
  const lengths = createByteReader(columns)
  const [headsLength, namesLength, postingsLength] = [lengths.varint(), lengths.varint(), lengths.varint()]
  let head = lengths.at
  const headsEnd = head + headsLength
  let name = headsEnd
  let posting = headsEnd + namesLength
  let place = posting + postingsLength
  let block = new Uint8Array(4 * columns.length)
  let length = 0
  const starts: number[] = []
  let nameBefore = 0

  function addVarint(value: number): void {
    let rest = value
    for (; rest > 127; rest >>>= 7) block[length++] = (rest & 127) | 128
    block[length++] = rest
  }
  function addBytes(from: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end; at += 1) block[length++] = from[at] ?? 0
  }

  while (head < headsEnd) {
    const [postingsAt, placesAt] = [posting, place]
    const first = varintAt(columns, head)
    head = varintEnd(columns, head)
    let rest = first & 15
    if (rest === LONG) {
      rest += varintAt(columns, head)
      head = varintEnd(columns, head)
    }
    const shared = first >> 4
    const size = varintAt(columns, head)
    head = varintEnd(columns, head)
    let bare = 0
    if (size === 1 || isShortened) {
      for (let index = 0; index < size; index += 1) {
        const flags = (columns[posting] ?? 0) & 3
        posting = varintEnd(columns, posting)
        if (flags === BARE && isShortened) {
          bare += 1
          continue
        }
        let places = 1
        for (let number = numbersAfter(flags); number > 0; number -= 1) {
          places = varintAt(columns, posting)
          posting = varintEnd(columns, posting)
        }
        for (; places > 0; places -= 1) place = varintEnd(columns, place)
      }
    } else {
      posting += varintAt(columns, head)
      head = varintEnd(columns, head)
      place += varintAt(columns, head)
      head = varintEnd(columns, head)
    }
    const most = 4 * MAX_VARINT_BYTES + shared + rest + (posting - postingsAt) + bare + (place - placesAt)
    if (length + most > block.length) {
      const grown = new Uint8Array(2 * block.length + most)
      grown.set(block)
      block = grown
    }
    starts.push(length)
    addVarint(shared + rest)
    const nameAt = length
    addBytes(block, nameBefore, nameBefore + shared)
    addBytes(columns, name, name + rest)
    name += rest
    nameBefore = nameAt
    addVarint(size)
    addVarint(posting - postingsAt + bare)
    addVarint(place - placesAt)
    if (bare === 0) addBytes(columns, postingsAt, posting)
    else {
      for (let at = postingsAt; at < posting;) {
        const flags = (columns[at] ?? 0) & 3
        let end = varintEnd(columns, at)
        if (flags !== BARE)
          for (let number = numbersAfter(flags); number > 0; number -= 1) end = varintEnd(columns, end)
        addBytes(columns, at, end)
        if (flags === BARE) block[length++] = 0
        at = end
      }
    }
    addBytes(columns, placesAt, place)
  }
  return { bytes: block.subarray(0, length), starts: Uint32Array.from(starts) }
}
