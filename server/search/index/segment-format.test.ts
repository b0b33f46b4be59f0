import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeEntry, type Postings, writtenEntry } from '#test/encode-entry.ts'
import {
  blockOf,
  createEntryWriter,
  eachPosting,
  encodeTerm,
  type Entry,
  findEntry,
  readBlock,
  readPositions,
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

function decode(entry: Entry): Postings {
  const positions = readPositions(entry, () => true)
  const decoded: Postings = { passages: [], counts: [], positions: [] }
  eachPosting(entry, (passage, count) => {
    decoded.passages.push(passage)
    decoded.counts.push(count)
    decoded.positions.push(positions.get(passage) ?? [])
  })
  return decoded
}

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

test('terms are spread over the blocks', () => {
  const filled = new Set(Array.from({ length: 200 }, (_, index) => blockOf(`word${index}`, 16)))
  expect(filled.size).toBe(16)
})
