import { deflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeEntry, type Postings } from '#test/encode-entry.ts'
import { packBlock, packWords, unpackBlock, unpackWords } from './block.ts'
import { encodeTerm, findEntry, readEncoded } from './segment-format.ts'

const postings: fc.Arbitrary<Postings> = fc
  .uniqueArray(fc.tuple(fc.nat(100_000), fc.uniqueArray(fc.nat(5_000), { maxLength: 6 }), fc.nat(3)), {
    selector: ([passage]) => passage,
    minLength: 1,
    maxLength: 6,
  })
  .map((found) => found.toSorted(([one], [other]) => one - other))
  .map((found) => ({
    passages: found.map(([passage]) => passage),
    counts: found.map(([, positions, extra]) => Math.max(1, positions.length + extra)),
    positions: found.map(([, positions]) => positions.sort((one, other) => one - other)),
  }))
const term = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.constantFrom('a', 'é', '索'), maxLength: 64 }),
)
const terms = fc.uniqueArray(fc.tuple(term, postings), { selector: ([name]) => name, minLength: 1, maxLength: 30 })
const blocks = terms.map((given) => given.map(([name, places]) => encodeEntry(name, places)))

/** The bytes of each entry, sorted, so that the storage order does not matter. */
const entriesOf = (block: Uint8Array) =>
  [...readEncoded(block)]
    .map(([name, { size, bytes, postingsAt, positionsAt, end }]) =>
      [name, [size], bytes.subarray(postingsAt, positionsAt), bytes.subarray(positionsAt, end)]
        .map((part) => Buffer.from(part).toString('hex'))
        .join(' '),
    )
    .sort()

test('each entry of a small segment is found by its name', () => {
  fc.assert(
    fc.property(terms, fc.string({ unit: 'grapheme' }), (given, other) => {
      const entries = given.map(([name, places]) => encodeEntry(name, places))
      const block = unpackBlock(packBlock(Buffer.concat(entries), 1))
      const names = new Set(given.map(([name]) => name))
      for (const name of names) {
        const [found, expected] = [block, { bytes: Buffer.concat(entries) }].map((looked) =>
          findEntry(looked, encodeTerm(name)),
        )
        expect(found?.size).toBe(expected?.size)
        expect(found && Buffer.from(found.bytes.subarray(found.postingsAt, found.end))).toEqual(
          expected && Buffer.from(expected.bytes.subarray(expected.postingsAt, expected.end)),
        )
      }
      if (!names.has(other)) expect(findEntry(block, encodeTerm(other))).toBeUndefined()
    }),
  )
})

test.each([
  ['small', 1],
  ['large', 4_096],
])('a block of a %s segment gives back every entry, whatever its terms are', (_name, count) => {
  fc.assert(
    fc.property(blocks, (entries) => {
      expect(entriesOf(unpackBlock(packBlock(Buffer.concat(entries), count)).bytes)).toEqual(
        entriesOf(Buffer.concat(entries)),
      )
    }),
  )
})

test('blocks that older versions deflated are still read', () => {
  fc.assert(
    fc.property(blocks, (entries) => {
      const stored = Buffer.concat([Buffer.from([0, 0]), deflateRawSync(Buffer.concat(entries))])
      expect(Buffer.from(unpackBlock(stored).bytes)).toEqual(Buffer.concat(entries))
    }),
  )
})

/** Written by a version that stored whole postings: forty entries, some without a position, some in two passages. */
const IN_WHOLE_COLUMNS = `AAAH4dgNACB+tR/bt8sdqtpMvIlriBBpP0RC1OlY7vT2+y2RJBCu1VZZAT3gY2KhtOVJGmDvBMsV8szqeg3lDzDFNCt5BT7BSlYZb0zui3EqYgj+5/2r
CT5NWMuqwpsCbcpKJjGpIZJNnbCIpqtp6YJOdG74rQUGOqe6xmenpsvb3/vLz8d5fFx8YlJKanpCXEJickpaemJ8QlJyapp/ZdJkK+ymKVQ4gTTlCpdpqhfuIk3jwguaNiF8
AtL0CGFNpsKRDE2xD0iVTEHhqVyaKIelVAs1f6N29GOYpmkei2oVQrvgcnh2vITwLQSOSa7wPQQKKQNaGVAGHEb2scqABdt0dpHqgRzAIQ==`

test('columns with complete postings of an older version are still read', () => {
  const entries = Array.from({ length: 40 }, (_, number) =>
    encodeEntry(
      number % 3 === 0 ? `harbour${'s'.repeat(number)}` : `索引${number}`,
      number % 2 === 0
        ? { passages: [number], counts: [1 + (number % 3)], positions: [number % 4 === 0 ? [] : [number]] }
        : { passages: [1, number + 1], counts: [1, 3], positions: [[], [5, 200]] },
    ),
  )
  const stored = Buffer.from(IN_WHOLE_COLUMNS, 'base64')
  expect(entriesOf(unpackBlock(stored).bytes)).toEqual(entriesOf(Buffer.concat(entries)))
})

test('blocks of small segments take half the room, those of large ones are read as they are', () => {
  const entries = Array.from({ length: 200 }, (_, number) =>
    encodeEntry(`term${number}`, { passages: [number], counts: [1], positions: [[number]] }),
  )
  const bytes = entries.reduce((sum, entry) => sum + entry.length, 0)
  expect(packBlock(Buffer.concat(entries), 1).length).toBeLessThan(0.5 * bytes)
  expect(packBlock(Buffer.concat(entries), 4_096)).toHaveLength(bytes)
})

test('pairs of characters, each in one passage, take half the room', () => {
  // Resembles a page of Chinese: hardly any two terms are alike.
  const entries = Array.from({ length: 300 }, (_, number) =>
    encodeEntry(String.fromCharCode(0x4e00 + ((number * 7919) % 20_000), 0x4e00 + ((number * 104_729) % 20_000)), {
      passages: [0],
      counts: [1],
      positions: [[]],
    }),
  )
  const bytes = entries.reduce((sum, entry) => sum + entry.length, 0)
  expect(packBlock(Buffer.concat(entries), 1).length).toBeLessThan(0.45 * bytes)
})

test('a vocabulary is read as it is written now and as it was written before', () => {
  const words = ['alcove', 'garden', 'märz', '索引']
  expect(unpackWords(packWords(words))).toEqual(words)
  expect(unpackWords(Buffer.from(words.join(' ')))).toEqual(words)
})
