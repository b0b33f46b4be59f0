import { expect, test } from 'vitest'
import { joinFilledCells, isList, renderTable } from './quoted-rows.ts'

const plain = (text: string) => text
const row = (text: string, n: number) => ({ text, marker: `[${n}]` })

test('titles of several rows name the columns, captions and empty columns are left out', () => {
  const titles = [
    'All that was sold by every segment and in every zone, without what they sold to each other',
    'In millions |  |  | Half-year',
    ' | Sales (a) |  | Profit',
  ].join('\n')
  expect(renderTable(titles, [row('Coffee | 3,128 |  | 678', 1), row('Pets | 9,373 |  | 1,959', 3)], plain)).toBe(
    [
      '| In millions | Sales (a) | Half-year Profit |',
      '| --- | --- | --- |',
      '| Coffee [1] | 3,128 | 678 |',
      '| Pets [3] | 9,373 | 1,959 |',
    ].join('\n'),
  )
})

test('cells keep their columns where the first one is empty, and in tables of a pdf', () => {
  expect(renderTable('Name | Town', [row('| Ulm', 1)], plain)).toBe('| Name | Town |\n| --- | --- |\n| [1] | Ulm |')
  expect(renderTable('Name\tTown', [row('Ann\tUlm', 2)], plain)).toBe(
    '| Name | Town |\n| --- | --- |\n| Ann [2] | Ulm |',
  )
})

test('a row without titles is quoted without its empty cells', () => {
  expect(joinFilledCells('|  |  | VAT 25% | 396.05')).toBe('VAT 25% | 396.05')
  expect(joinFilledCells('Ann\t\tUlm')).toBe('Ann\t\tUlm')
})

test('one row of many columns is shown vertically', () => {
  expect(renderTable('Who | a | b | c | d', [row('Ann | 1 | 2 |  | 4', 2)], plain)).toBe(
    '| Who | Ann [2] |\n| --- | --- |\n| a | 1 |\n| b | 2 |\n| c |  |\n| d | 4 |',
  )
})

test.each(['1. | Open it', '(a)\tOpen it', '•\tOpen it', 'iv) | Open it', '١. | افتح'])('%s begins a list', (line) => {
  expect(isList(`${line}\n2. | Close it`)).toBe(true)
})

test.each(['No. | Name', '1 | Name', '| Name', '1. Quarter | 2. Quarter', '— | Sales', '2023 | 2022'])(
  '%s begins a table',
  (line) => {
    expect(isList(`${line}\n1. | Ann`)).toBe(false)
  },
)

test('is undefined where the titles name no column', () => {
  expect(renderTable('Something about the table below', [row('Ann | Ulm', 1)], plain)).toBeUndefined()
  expect(renderTable('Name | Town', [row('Ann', 1)], plain)).toBeUndefined()
})
