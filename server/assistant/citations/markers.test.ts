import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createMarkerFilter } from './markers.ts'

function filterInPieces(text: string, known: number[], pieceLength: number) {
  const filter = createMarkerFilter(new Set(known))
  let output = ''
  for (let index = 0; index < text.length; index += pieceLength)
    output += filter.push(text.slice(index, index + pieceLength))
  return { output: output + filter.end(), cited: [...filter.cited.keys()], places: [...filter.cited.values()] }
}

test('keeps markers that point to a source and removes the others', () => {
  expect(filterInPieces('Paid in 45 days [1]. Also [7] fees [2].', [1, 2], 100)).toEqual({
    output: 'Paid in 45 days [1]. Also fees [2].',
    cited: [1, 2],
    places: [[16], [31]],
  })
})

test('splits a joint marker and drops the unknown half', () => {
  expect(filterInPieces('Both say so [1, 9; 2].', [1, 2], 100).output).toBe('Both say so [1][2].')
})

test('pages of a long document are cited, and years without a source stay', () => {
  const { output, cited } = filterInPieces(
    'One [1120]. Two [12, 10000]. In [2023] [1]. Both [1, 2024].',
    [1, 12, 1120, 10_000],
    4,
  )
  expect(output).toBe('One [1120]. Two [12][10000]. In [2023] [1]. Both [1, 2024].')
  expect(cited).toEqual([1120, 12, 10_000, 1])
})

test('returns the offset of each remaining marker', () => {
  const { output, places } = filterInPieces('One [2, 7, 1]. `[1]` Two [1].', [1, 2], 3)
  expect(output).toBe('One [2][1]. `[1]` Two [1].')
  expect(places).toEqual([[4], [7, 22]])
})

test('leaves indexes, links, reference definitions and code alone', () => {
  const text = 'Use rows[7] or [8](#here) and `a [9] b`.\n\n```ts\nconst x = [7]\n```\n[3]: note\n'
  expect(filterInPieces(text, [1], 100).output).toBe(text)
})

test('gives the same answer for any chunking of the text', () => {
  const text = 'One [1] two [12] `[3]` three [2, 1] four [4\nfive```\n```\n[5]\n``` [2]'
  const whole = filterInPieces(text, [1, 2], text.length)
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), (length) => {
      expect(filterInPieces(text, [1, 2], length)).toEqual(whole)
    }),
  )
})

test('never shows a number without a source', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('[', ']', '1', '9', ' ', ',', 'a')),
      fc.integer({ min: 1, max: 4 }),
      (characters, length) => {
        const { output } = filterInPieces(` ${characters.join('')}`, [1], length)
        expect(output).not.toMatch(/(?<![\p{L}\p{N}_\]])\[9\](?![(:\]\p{L}])/u)
      },
    ),
  )
})

test('streams a long list of numbers instead of holding it back as a marker', () => {
  const filter = createMarkerFilter(new Set([1]))
  const list = `[${Array.from({ length: 40 }, (_, index) => index).join(', ')}`
  expect(filter.push(list)).toBe(list)
  expect(filter.push(']') + filter.end()).toBe(']')
  expect(filter.cited.size).toBe(0)
})
