/**
 * How buckets and vocabularies are stored. The buckets of a large segment are stored as they are read. Those of a small one,
 * of which nearly every term stands in a single passage, take about half the space in columns, compressed, behind two
 * zero bytes, with which no entry begins, since each term stands in a passage. Next is a byte 7, and in the columns stand:
 *
 *   heads      what the name shares with the one before << 4 | further bytes of it, up to 14; from 15 on their number
 *              less 15 follows; passages; unless it is one, bytes of the postings, bytes of the positions
 *   names      the further bytes, in the order of the names
 *   postings, positions      as in the bucket
 *
 * before which stand the lengths of the first three. Older versions deflated the bucket itself, and nothing deflated
 * begins with 7.
 *
 * The words of a vocabulary are stored compressed behind a zero byte; older versions wrote them as they are.
 */
import { brotliCompressSync, brotliDecompressSync, constants, inflateRawSync } from 'node:zlib'
import { createByteReader, createByteWriter } from './byte-writer.ts'
import { readNamed } from './segment-format.ts'

/** Of a segment of more buckets, a row that is read for the first time would take longer than its space is worth. */
const MOST_COMPRESSED = 128
const DEFLATED = Buffer.from([0, 0])
const IN_COLUMNS = Buffer.from([0, 0, 7])
const COMPRESSED = Buffer.from([0])
/** Of a name in the byte that begins an entry. */
const LONG = 15

/** @param buckets of its segment. */
export function packBucket(entries: readonly Uint8Array[], buckets: number): Buffer {
  const content = Buffer.concat(entries)
  if (buckets > MOST_COMPRESSED) return content
  const packed = Buffer.concat([IN_COLUMNS, compress(toColumns(content))])
  return packed.length < content.length ? packed : content
}

/** What `packBucket` was given, in one run; the entries may come in another order. */
export function unpackBucket(stored: Uint8Array): Uint8Array {
  if (beginsWith(stored, IN_COLUMNS)) return fromColumns(brotliDecompressSync(stored.subarray(IN_COLUMNS.length)))
  return beginsWith(stored, DEFLATED) ? inflateRawSync(stored.subarray(DEFLATED.length)) : stored
}

const beginsWith = (stored: Uint8Array, mark: Uint8Array): boolean =>
  stored.length > mark.length && mark.every((byte, index) => stored[index] === byte)

/** As fast as deflating; the highest wins another 6 to 9 % for some twenty times the work. */
const QUALITY = 5

const compress = (bytes: Uint8Array): Buffer =>
  brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: 14,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  })

/** @param words without blanks. */
export const packWords = (words: readonly string[]): Buffer =>
  Buffer.concat([COMPRESSED, compress(Buffer.from(words.join(' ')))])

export function unpackWords(stored: Buffer): string[] {
  const content = stored[0] === 0 ? brotliDecompressSync(stored.subarray(COMPRESSED.length)) : stored
  return content.toString().split(' ')
}

function toColumns(bucket: Uint8Array): Buffer {
  const [heads, names, postings, positions] = [
    createByteWriter(),
    createByteWriter(),
    createByteWriter(),
    createByteWriter(),
  ]
  let before: Uint8Array = new Uint8Array()
  for (const [name, entry] of [...readNamed(bucket)].sort(([one], [other]) => Buffer.compare(one, other))) {
    const shared = countShared(before, name)
    const rest = name.length - shared
    heads.varint((shared << 4) | Math.min(rest, LONG))
    if (rest >= LONG) heads.varint(rest - LONG)
    heads.varint(entry.size)
    if (entry.size !== 1) {
      heads.varint(entry.positionsAt - entry.postingsAt)
      heads.varint(entry.end - entry.positionsAt)
    }
    names.bytes(name.subarray(shared))
    postings.bytes(entry.bytes.subarray(entry.postingsAt, entry.positionsAt))
    positions.bytes(entry.bytes.subarray(entry.positionsAt, entry.end))
    before = name
  }
  const lengths = createByteWriter()
  for (const column of [heads, names, postings]) lengths.varint(column.length)
  return Buffer.concat([lengths, heads, names, postings, positions].map((column) => column.written()))
}

function countShared(one: Uint8Array, other: Uint8Array): number {
  let shared = 0
  while (shared < one.length && shared < other.length && one[shared] === other[shared]) shared += 1
  return shared
}

function fromColumns(columns: Uint8Array): Uint8Array {
  const heads = createByteReader(columns)
  const [headsLength, namesLength, postingsLength] = [heads.varint(), heads.varint(), heads.varint()]
  const namesAt = heads.at + headsLength
  const postings = createByteReader(columns, namesAt + namesLength)
  const positions = createByteReader(columns, postings.at + postingsLength)
  const bucket = createByteWriter(2 * columns.length)
  let [nextName, nameBefore] = [namesAt, 0]
  while (heads.at < namesAt) {
    const head = heads.varint()
    const shared = head >> 4
    const rest = (head & 15) < LONG ? head & 15 : heads.varint() + LONG
    const size = heads.varint()
    const [posting, places] = [postings.at, positions.at]
    if (size === 1) positions.skip(readPlaces(postings))
    else {
      postings.at += heads.varint()
      positions.at += heads.varint()
    }
    bucket.varint(shared + rest)
    const name = bucket.length
    bucket.again(nameBefore, nameBefore + shared)
    bucket.bytes(columns, nextName, nextName + rest)
    bucket.varint(size)
    bucket.varint(postings.at - posting)
    bucket.varint(positions.at - places)
    bucket.bytes(columns, posting, postings.at)
    bucket.bytes(columns, places, positions.at)
    nextName += rest
    nameBefore = name
  }
  return bucket.written()
}

/** Passes over one posting. @returns how many places it has. */
function readPlaces(postings: { varint(): number }): number {
  const head = postings.varint()
  const count = (head & 1) === 1 ? postings.varint() : 1
  return (head & 2) === 2 ? postings.varint() : count
}
