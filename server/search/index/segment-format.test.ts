import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeEntry, encodeEntry, type Postings, writtenEntry } from '#test/encode-entry.ts'
import {
  blockOf,
  createEntryWriter,
  eachChunk,
  eachPositions,
  encodeTerm,
  type Entry,
  findEntry,
  readBlock,
} from './segment-format.ts'

const rising = (most: number) =>
  fc.uniqueArray(fc.nat(most), { maxLength: 30 }).map((list) => list.sort((a, b) => a - b))
const postings: fc.Arbitrary<Postings> = rising(1_000_000).chain((passages) =>
  fc
    .array(fc.tuple(rising(5_000), fc.nat(3)), { minLength: passages.length, maxLength: passages.length })
    .map((found): Postings => ({
      passages,
      counts: found.map(([positions, extra]) => Math.max(1, positions.length + extra)),
      positions: found.map(([positions]) => positions),
    })),
)

const PASSAGES = 2_100_000
const decode = (entry: Entry): Postings => decodeEntry(entry, PASSAGES)

test('a block gives back every term as it was written, and finds each alone', () => {
  const terms = fc.uniqueArray(fc.tuple(fc.string({ minLength: 1, unit: 'grapheme' }), postings), {
    selector: ([term]) => term,
    maxLength: 8,
  })
  fc.assert(
    fc.property(terms, (given) => {
      const block = Buffer.concat(given.map(([term, places]) => encodeEntry(term, places)))
      expect([...readBlock(block)].map(([term, entry]) => [term, decode(entry)])).toEqual(given)
      for (const [term, places] of given) {
        const entry = findEntry({ bytes: block }, encodeTerm(term))
        expect(entry && decode(entry)).toEqual(places)
      }
      expect(findEntry({ bytes: block }, encodeTerm('a term that is not there'))).toBeUndefined()
    }),
  )
})

test('renumbering keeps counts and positions, and omits deleted passages', () => {
  fc.assert(
    fc.property(postings, postings, (first, second) => {
      const writer = createEntryWriter()
      const read = (places: Postings) => [...readBlock(encodeEntry('term', places))][0]?.[1]
      const [one, other] = [read(first), read(second)]
      if (one) writer.addRenumbered(one, (passage) => (passage % 2 === 0 ? passage / 2 : -1))
      if (other) writer.addRenumbered(other, (passage) => passage + 1_000_000)
      const [entry] = [...readBlock(writtenEntry(writer, 'term'))]
      const expected: Postings = { passages: [], counts: [], positions: [] }
      const expectAll = (places: Postings, renumber: (passage: number) => number) => {
        for (const [index, passage] of places.passages.entries()) {
          if (renumber(passage) < 0) continue
          expected.passages.push(renumber(passage))
          expected.counts.push(places.counts[index] ?? 0)
          expected.positions.push(places.positions[index] ?? [])
        }
      }
      expectAll(first, (passage) => (passage % 2 === 0 ? passage / 2 : -1))
      expectAll(second, (passage) => passage + 1_000_000)
      expect(entry && decode(entry[1])).toEqual(expected)
    }),
  )
})

test('long lists are decoded in chunks, also inside each other, and only wanted positions are read', () => {
  const places: Postings = { passages: [], counts: [], positions: [] }
  for (let passage = 3; passage < 9_000; passage += 1 + (passage % 5)) {
    const positions = passage % 3 === 0 ? [] : [passage % 200, 300]
    places.passages.push(passage)
    places.counts.push(Math.max(1, positions.length + (passage % 7 === 0 ? 200 : 0)))
    places.positions.push(positions)
  }
  const entry = [...readBlock(encodeEntry('term', places))][0]?.[1]
  if (!entry) throw new Error('there is no entry')
  const [outer, inner]: [number[], Set<string>] = [[], new Set()]
  eachChunk(entry, 10, (chunk) => {
    inner.add(JSON.stringify(decodeEntry(entry, 9_000)))
    outer.push(...chunk.passages.subarray(0, chunk.length))
  })
  expect(outer).toEqual(places.passages.map((passage) => passage + 10))
  expect([...inner]).toEqual([JSON.stringify(places)])
  const isWanted = new Uint8Array(9_010)
  for (const index of [0, 700, places.passages.length - 1]) isWanted[(places.passages[index] ?? 0) + 10] = 1
  const read: [number, readonly number[]][] = []
  eachPositions(entry, 10, isWanted, (passage, positions) => read.push([passage - 10, positions]))
  expect(read).toEqual(
    [0, 700, places.passages.length - 1].map((index) => [places.passages[index], places.positions[index]]),
  )
})

test('terms are spread over the blocks', () => {
  const filled = new Set(Array.from({ length: 200 }, (_, index) => blockOf(`word${index}`, 16)))
  expect(filled.size).toBe(16)
})
