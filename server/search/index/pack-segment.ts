/** What a segment consists of, ready to be stored: from the entries of its terms, or from the segments that it joins. Pure. */
import { packBlock, packWords, unpackBlock } from './block.ts'
import { type ByteRuns, eachRun, joinRuns } from './byte-runs.ts'
import {
  blockOf,
  chooseBlocks,
  createEntryWriter,
  encodeLengths,
  type EntryWriter,
  readBlock,
} from './segment-format.ts'

export interface PackedSegment {
  /** Into how many its terms are spread; those without terms have no content. */
  readonly blocks: number
  readonly passages: number
  readonly lengths: Uint8Array
  /** Numbers of the blocks whose contents follow, in the same order; then, as `numberOfWords` says, of its vocabulary. */
  readonly numbers: Int32Array
  readonly contents: ByteRuns
}

/** Under which the words of one length are stored beside the blocks, unless the segment is a single one. */
export const numberOfWords = (length: number): number => -length

const MIN_SPELT = 4
const MAX_SPELT = 30

/** Whether a term can be the right spelling of a misspelt word: letters only, neither very short nor very long. */
export const isSpelt = (term: string): boolean =>
  term.length >= MIN_SPELT - 1 && term.length <= MAX_SPELT && /^[\p{L}\p{M}]+$/u.test(term)

/** @param entries each term once, encoded. */
export function packSegment(lengths: readonly number[], entries: ReadonlyMap<string, Uint8Array>): PackedSegment {
  let bytes = 0
  for (const entry of entries.values()) bytes += entry.length
  const blocks = chooseBlocks(bytes)
  const filled = new Map<number, Uint8Array[]>()
  for (const [term, entry] of entries) {
    const block = blockOf(term, blocks)
    const list = filled.get(block)
    if (list) list.push(entry)
    else filled.set(block, [entry])
  }
  const vocabulary = blocks > 1 ? listWords(entries.keys()) : new Map<number, string[]>()
  return {
    blocks,
    passages: lengths.length,
    lengths: encodeLengths(lengths),
    numbers: Int32Array.from([...filled.keys(), ...[...vocabulary.keys()].map(numberOfWords)]),
    contents: joinRuns([
      ...[...filled.values()].map((list) => packBlock(list, blocks)),
      ...[...vocabulary.values()].map((words) => packWords(words.sort())),
    ]),
  }
}

/** Those that a misspelt one may stand for, by length. */
function listWords(terms: Iterable<string>): Map<number, string[]> {
  const byLength = new Map<number, string[]>()
  for (const term of terms) {
    if (!isSpelt(term)) continue
    const list = byLength.get(term.length)
    if (list) list.push(term)
    else byLength.set(term.length, [term])
  }
  return byLength
}

/** Number of a passage that is in the new segment no longer. */
export const DELETED = -1

/** Several segments on their way to become one. */
export interface SegmentJoin {
  /** Segments in the order of their new numbers. @param numbers the new number of each passage, or `DELETED`. */
  add(contents: ByteRuns, numbers: Int32Array): void
  /** @param lengths of the passages under their new numbers. */
  pack(lengths: readonly number[]): PackedSegment
}

export function createSegmentJoin(): SegmentJoin {
  const joined = new Map<string, EntryWriter>()
  return {
    add(contents, numbers) {
      const renumber = (passage: number) => numbers[passage] ?? DELETED
      for (const content of eachRun(contents)) {
        for (const [term, entry] of readBlock(unpackBlock(content).bytes)) {
          const writer = joined.get(term) ?? createEntryWriter()
          writer.addRenumbered(entry, renumber)
          joined.set(term, writer)
        }
      }
    },
    pack(lengths) {
      const entries = new Map<string, Uint8Array>()
      for (const [term, writer] of joined) if (writer.size > 0) entries.set(term, writer.encode(term))
      return packSegment(lengths, entries)
    },
  }
}
