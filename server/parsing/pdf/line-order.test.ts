import { describe, expect, test } from 'vitest'
import { readDocument } from '#test/read-document.ts'
import { pageOf, textAt as at } from '#test/write-pdf.ts'

async function read(...operators: readonly string[]) {
  const { pages, failure } = await readDocument(pageOf(operators), 'page.pdf')
  expect(failure).toBeUndefined()
  return pages[0]
}

const prose = Array.from({ length: 8 }, (_, line) =>
  at(50, 500 - 12 * line, `Line ${line} of a text that goes on over the width of the page and a little more.`),
)

describe('words whose letters were spaced', () => {
  test('are joined and map back to their items', async () => {
    const page = await read(at(50, 700, 'HELLO WIDE WORLD', 8), ...prose)
    expect(page?.text).toMatch(/^HELLO WIDE WORLD\n/)
    // Every other item is the blank between two letters.
    const runs = (page?.items ?? []).filter(([offset]) => offset < 5)
    expect(runs).toEqual([0, 1, 2, 3, 4].map((letter) => [letter, 2 * letter, 0, 1]))
  })

  test('are joined if blanks were typed between their letters', async () => {
    const page = await read(at(50, 700, 'H E L L O   W I D E   W O R L D'), ...prose)
    expect(page?.text).toMatch(/^HELLO WIDE WORLD\n/)
    const runs = (page?.items ?? []).filter(([offset]) => offset < 16)
    const places = [5, 4, 5].flatMap((letters, word) =>
      Array.from({ length: letters }, (_, letter) => [2 * word, 2 * letter]),
    )
    expect(runs.map(([, item, inItem]) => [item, inItem])).toEqual(places)
  })

  test('are joined with their bullet and brackets', async () => {
    const page = await read(at(50, 700, '- OPEN SEA (GROUP), 90%', 8), ...prose)
    expect(page?.text).toMatch(/^- OPEN SEA \(GROUP\), 90%\n/)
  })

  test('are separated at drawn blanks if pdf.js puts a blank between all letters', async () => {
    const page = await read(at(50, 700, 'HELLO WIDE WORLD', 2.5), ...prose)
    expect(page?.text).toMatch(/^HELLO WIDE WORLD\n/)
    const [first, second] = page?.items ?? []
    expect([first, second]).toEqual([[0, 0, 0, 1], [1, 0, 2, 1]]) // prettier-ignore
  })

  test('exclude letters of a text that also has words', async () => {
    const formula = 'Let a b x u and y be the sides'
    expect((await read(at(50, 700, formula), ...prose))?.text.split('\n')[0]).toBe(formula)
  })

  test.each(['A B C D E F', 'x y x y x y', 'D D M M Y Y', '1 2 3 4 5 7 6', 'N D J F M A M'])(
    'are not %s',
    async (letters) => {
      expect((await read(at(50, 700, letters, 4), ...prose))?.text.split('\n')[0]?.replaceAll('\t', ' ')).toBe(letters)
    },
  )
})

test('reads lines from the top that were drawn from the foot', async () => {
  const text = (await read(...prose.toReversed()))?.text ?? ''
  expect([...text.matchAll(/Line (\d)/g)].map(([, line]) => Number(line))).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
})

describe('two columns that were drawn line by line', () => {
  const left = (line: number) => `Left ${line}: words that go on and on in their column to`
  const right = (line: number) => `Right ${line}: other words that go on in this column too`
  const columns = Array.from({ length: 8 }, (_, line) => [
    at(40, 700 - 12 * line, left(line)),
    at(320, 700 - 12 * line, right(line)),
  ]).flat()

  test('are read in turn, between the lines that span both', async () => {
    const text =
      (await read(at(40, 730, 'A title that stands across both of the columns of this page'), ...columns, ...prose))
        ?.text ?? ''
    const lines = text.split('\n').filter((line) => line !== '')
    expect(lines.slice(0, 17)).toEqual([
      'A title that stands across both of the columns of this page',
      ...Array.from({ length: 8 }, (_, line) => left(line)),
      ...Array.from({ length: 8 }, (_, line) => right(line)),
    ])
    expect(lines.slice(17).map((line) => line.slice(0, 6))).toEqual(
      Array.from({ length: 8 }, (_, line) => `Line ${line}`),
    )
  })

  test('are not cells of a table', async () => {
    const rows = Array.from({ length: 8 }, (_, line) => [
      at(40, 700 - 12 * line, `Town ${line}`),
      at(320, 700 - 12 * line, `Rent ${line}`),
    ]).flat()
    expect((await read(...rows, ...prose))?.text).toMatch(/^Town 0 ?\tRent 0\nTown 1 ?\tRent 1\n/)
  })
})
