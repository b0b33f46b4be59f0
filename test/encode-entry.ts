import { createByteWriter } from '#server/search/index/byte-writer.ts'
import { createEntryWriter, type EntryWriter } from '#server/search/index/segment-format.ts'

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
