import { expect, test } from 'vitest'
import { readDocument } from '#test/read-document.ts'
import { pageOf, textAt } from '#test/write-pdf.ts'

async function linesOf(...operators: readonly string[]): Promise<string[]> {
  const { pages, failure } = await readDocument(pageOf(operators), 'page.pdf')
  expect(failure).toBeUndefined()
  return (pages[0]?.text ?? '').split('\n').filter((line) => line !== '')
}

const column = (x: number, y: number, name: string, lines = 6) =>
  Array.from({ length: lines }, (_, line) =>
    textAt(x, y - 12 * line, `${name} ${line}: words that go on in their column`),
  )
const named = (name: string, lines = 6) =>
  Array.from({ length: lines }, (_, line) => `${name} ${line}: words that go on in their column`)

test('orders titles, columns, footnotes and margins independently of drawing order', async () => {
  const lines = await linesOf(
    textAt(40, 30, 'Page 7'),
    ...column(320, 700, 'Right'),
    textAt(40, 560, '1 A note below the columns'),
    textAt(480, 800, 'Annual report'),
    ...column(40, 700, 'Left'),
    textAt(40, 740, 'A title that stands across both of the columns of this page of the report'),
  )
  expect(lines).toEqual([
    'Annual report',
    'A title that stands across both of the columns of this page of the report',
    ...named('Left'),
    ...named('Right'),
    '1 A note below the columns',
    'Page 7',
  ])
})

test('reads a table in place if it was drawn last', async () => {
  const rows = Array.from({ length: 4 }, (_, row) => [
    textAt(60, 650 - 14 * row, `Town ${row}`),
    textAt(220, 650 - 14 * row, `Rent ${row}`),
    textAt(380, 650 - 14 * row, `Year ${row}`),
  ]).flat()
  const lines = await linesOf(...column(40, 740, 'Above', 5), ...column(40, 580, 'Below', 5), ...rows)
  expect(lines.map((line) => line.slice(0, 6))).toEqual([
    ...Array<string>(5).fill('Above '),
    ...Array.from({ length: 4 }, (_, row) => `Town ${row}`),
    ...Array<string>(5).fill('Below '),
  ])
})

test('drawing order decides between the foot of one column and the head of the next', async () => {
  const [foot, head] = [column(40, 300, 'Foot of the left', 2), column(320, 700, 'Head of the right', 2)]
  const title = textAt(40, 760, 'A title that stands across both of the columns of this page of the report')
  const namesOf = async (...drawn: readonly string[][]) =>
    (await linesOf(title, ...drawn.flat())).slice(1).map((line) => line.replace(/:.*/, ''))
  const [footNames, headNames] = [
    ['Foot of the left 0', 'Foot of the left 1'],
    ['Head of the right 0', 'Head of the right 1'],
  ]
  expect(await namesOf(foot, head)).toEqual([...footNames, ...headNames])
  expect(await namesOf(head, foot)).toEqual([...headNames, ...footNames])
})

test('reads a rotated page as displayed', async () => {
  const turned = (x: number, y: number, text: string) => `BT /F 10 Tf 0 1 -1 0 ${x} ${y} Tm (${text}) Tj ET`
  const lines = await linesOf(
    turned(500, 40, 'At the foot of the page'),
    ...Array.from({ length: 5 }, (_, line) => turned(200 + 12 * line, 40, `Line ${line} of the page`)),
    turned(100, 40, 'At the head of the page'),
  )
  expect(lines).toEqual([
    'At the head of the page',
    ...Array.from({ length: 5 }, (_, line) => `Line ${line} of the page`),
    'At the foot of the page',
  ])
})
