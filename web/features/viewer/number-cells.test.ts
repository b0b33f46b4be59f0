import { expect, test } from 'vitest'
import { numberCells } from './number-cells.ts'

const isNumber = (text: string): boolean => numberCells([['a', 'b'], ['c', text]])[1]?.[1] === true // prettier-ignore

test.each([
  ['0', '8', '-3', '−3', '+2.5', '1,234.50', '1.234,50', '1 234', "1'234.5", '1,234,567', '0.75', '12 %', '1.5e-7'],
  ['$1,234.50', '-$5', '€ 12', '12,00 €', 'USD 40', '40 CHF', '(1,250)', '($12.00)', ' 7 '],
])('numbers are numbers, however they are shown', (...texts) => {
  expect(texts.filter((text) => !isNumber(text))).toEqual([])
})

test('dates, times, codes and words are none', () => {
  const others = [
    '',
    '-',
    'n/a',
    '12.03.2024',
    '2024-03-04',
    '3/4',
    '10:30',
    '007',
    '030 1234',
    '1.2.3',
    '8 hours',
    '4-6',
  ]
  expect(others.filter(isNumber)).toEqual([])
})

test('the words above a column of numbers stand with them', () => {
  const rows = [
    ['The year'],
    ['Season', 'Lamps', 'Oil'],
    ['Winter', '3', ''],
    ['Spring', '2', '310.00'],
    ['Sum', '5', 'none'],
  ]
  expect(numberCells(rows)).toEqual([
    [false],
    [false, true, true],
    [false, true, false],
    [false, true, true],
    [false, true, false],
  ])
})

test('a number alone in its line is a title', () => {
  expect(numberCells([['2024'], ['Hall', 'Rent'], ['North', 'free']])[0]).toEqual([false])
})
