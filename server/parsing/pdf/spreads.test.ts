import { expect, test } from 'vitest'
import { readDocument } from '#test/read-document.ts'
import { pageOf, textAt } from '#test/write-pdf.ts'

async function linesOf(...operators: readonly string[]): Promise<string[]> {
  const { pages, failure } = await readDocument(pageOf(operators), 'page.pdf')
  expect(failure).toBeUndefined()
  const lines = (pages[0]?.text ?? '').split('\n').map((line) => line.replaceAll(/\s+/g, ' ').trim())
  return lines.filter((line) => line !== '')
}

const rowOf = (row: number, left: number, distance: number, name: string) => [
  textAt(left, 700 - distance * row, `${name} ${row}`),
  textAt(left + 120, 700 - distance * row, `${row}1,500`),
]
const SEVEN = [0, 1, 2, 3, 4, 5, 6]

test('reads facing pages in turn, even if drawn line by line', async () => {
  const rows = SEVEN.flatMap((row) => [...rowOf(row, 60, 20, 'Profit'), ...rowOf(row, 340, 16, 'Equity')])
  expect(await linesOf(textAt(60, 730, 'Income'), textAt(340, 730, 'Changes in equity'), ...rows)).toEqual([
    'Income',
    ...SEVEN.map((row) => `Profit ${row} ${row}1,500`),
    'Changes in equity',
    ...SEVEN.map((row) => `Equity ${row} ${row}1,500`),
  ])
})

test('keeps the rows of a table with a wide gap in its middle', async () => {
  const rows = SEVEN.flatMap((row) => [...rowOf(row, 60, 20, 'Profit'), ...rowOf(row, 340, 20, 'Equity')])
  expect(await linesOf(...rows)).toEqual(SEVEN.map((row) => `Profit ${row} ${row}1,500 Equity ${row} ${row}1,500`))
})

test('a sheet with a line across its middle is a single page', async () => {
  const rows = SEVEN.flatMap((row) => [
    textAt(60, 700 - 20 * row, `Town ${row}`),
    textAt(400, 694 - 20 * row, `Rent ${row}`),
  ])
  const across = textAt(60, 540, `Below them stands what goes on ${'and on '.repeat(9)}`)
  expect((await linesOf(...rows, across)).slice(0, 4)).toEqual(['Town 0', 'Rent 0', 'Town 1', 'Rent 1'])
})
