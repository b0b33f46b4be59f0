import { createByteWriter } from '#server/search/index/byte-writer.ts'
import {
  createEntryWriter,
  eachChunk,
  eachPositions,
  type Entry,
  type EntryWriter,
} from '#server/search/index/segment-format.ts'

export interface Postings {
  readonly passages: number[]
  readonly counts: number[]
  readonly positions: (readonly number[])[]
}

/** The bytes of one entry of an index block. */
export function encodeEntry(term: string, { passages, counts, positions }: Postings): Uint8Array {
  const writer = createEntryWriter()
  for (const [index, passage] of passages.entries()) writer.add(passage, counts[index] ?? 0, positions[index] ?? [])
  return writtenEntry(writer, term)
}

export function writtenEntry(writer: EntryWriter, term: string): Uint8Array {
  const entry = createByteWriter()
  writer.encodeInto(entry, term)
  return entry.written()
}

/** @param passages number of passages of the library, of which positions are read */
export function decodeEntry(entry: Entry, passages: number): Postings {
  const decoded: Postings = { passages: [], counts: [], positions: [] }
  const positionsOf = new Map<number, readonly number[]>()
  eachPositions(entry, 0, new Uint8Array(passages).fill(1), (passage, positions) => positionsOf.set(passage, positions))
  eachChunk(entry, 0, (chunk) => {
    decoded.passages.push(...chunk.passages.subarray(0, chunk.length))
    decoded.counts.push(...chunk.counts.subarray(0, chunk.length))
  })
  for (const passage of decoded.passages) decoded.positions.push(positionsOf.get(passage) ?? [])
  return decoded
}
