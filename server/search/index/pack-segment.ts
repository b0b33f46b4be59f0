import { packBlock, packWords, unpackBlock } from './block.ts'
import { type ByteRuns, eachRun, joinRuns } from './byte-runs.ts'
import { createByteWriter } from './byte-writer.ts'
import {
  blockOf,
  chooseBlocks,
  createEntryWriter,
  encodeLengths,
  type EntryWriter,
  readBlock,
} from './segment-format.ts'

export interface PackedSegment {
  readonly blocks: number
  readonly passages: number
  readonly lengths: Uint8Array
  /** Number of each entry of `contents`: blocks first, then the vocabulary (`numberOfWords`). */
  readonly numbers: Int32Array
  readonly contents: ByteRuns
}

/** Block number of the vocabulary of one word length, in segments of several blocks. */
export const numberOfWords = (length: number): number => -length

/** Lengths of the words that spelling correction may suggest, in UTF-16 code units. */
export const [SHORTEST_VOCABULARY_WORD, LONGEST_VOCABULARY_WORD] = [3, 30]

/** Whether spelling correction may suggest the term. */
export const isVocabularyWord = (term: string): boolean =>
  term.length >= SHORTEST_VOCABULARY_WORD && term.length <= LONGEST_VOCABULARY_WORD && /^[\p{L}\p{M}]+$/u.test(term)

/** @param entries in the order of their terms */
export function packSegment(lengths: readonly number[], terms: readonly string[], entries: ByteRuns): PackedSegment {
  const blocks = chooseBlocks(entries.bytes.length)
  const whole: [number, Uint8Array][] = terms.length > 0 ? [[0, entries.bytes]] : []
  const filled = blocks > 1 ? fillBlocks(terms, entries, blocks) : new Map(whole)
  const vocabulary = blocks > 1 ? listWords(terms) : new Map<number, string[]>()
  return {
    blocks,
    passages: lengths.length,
    lengths: encodeLengths(lengths),
    numbers: Int32Array.from([...filled.keys(), ...[...vocabulary.keys()].map(numberOfWords)]),
    contents: joinRuns([
      ...[...filled.values()].map((content) => packBlock(content, blocks)),
      ...[...vocabulary.values()].map((words) => packWords(words.sort())),
    ]),
  }
}

function fillBlocks(terms: readonly string[], entries: ByteRuns, blocks: number): Map<number, Uint8Array> {
  const filled = new Map<number, Uint8Array[]>()
  let index = 0
  for (const entry of eachRun(entries)) {
    const block = blockOf(terms[index] ?? '', blocks)
    const list = filled.get(block)
    if (list) list.push(entry)
    else filled.set(block, [entry])
    index += 1
  }
  return new Map(Array.from(filled, ([block, list]) => [block, Buffer.concat(list)]))
}

function listWords(terms: readonly string[]): Map<number, string[]> {
  const byLength = new Map<number, string[]>()
  for (const term of terms) {
    if (!isVocabularyWord(term)) continue
    const list = byLength.get(term.length)
    if (list) list.push(term)
    else byLength.set(term.length, [term])
  }
  return byLength
}

export const DELETED_PASSAGE = -1

export interface SegmentMerge {
  add(contents: ByteRuns, numbers: Int32Array): void
  pack(lengths: readonly number[]): PackedSegment
}

export function createSegmentMerge(): SegmentMerge {
  const joined = new Map<string, EntryWriter>()
  return {
    add(contents, numbers) {
      const renumber = (passage: number) => numbers[passage] ?? DELETED_PASSAGE
      for (const content of eachRun(contents)) {
        for (const [term, entry] of readBlock(unpackBlock(content).bytes)) {
          const writer = joined.get(term) ?? createEntryWriter()
          writer.addRenumbered(entry, renumber)
          joined.set(term, writer)
        }
      }
    },
    pack(lengths) {
      const encoded = createByteWriter()
      const terms: string[] = []
      const ends: number[] = []
      for (const [term, writer] of joined) {
        if (writer.size === 0) continue
        writer.encodeInto(encoded, term)
        terms.push(term)
        ends.push(encoded.length)
      }
      return packSegment(lengths, terms, { bytes: encoded.written(), ends: Int32Array.from(ends) })
    },
  }
}
