import { expect, test } from 'vitest'
import { findPageBody } from './page-edges.ts'

const own = (text: string, page: number, near: Readonly<Record<number, string>>) => {
  const pages = Object.entries(near).map(([number, other]) => ({ page: Number(number), head: other, foot: other }))
  const { start, end } = findPageBody(text, page, pages)
  return text.slice(start, end).trim()
}

test('excludes the running title and the page number', () => {
  const page = '42 FREE CULTURE\nThe lamp was lit.\nNobody came.\ndraft of May'
  const near = { 57: '"PIRACY" 41\nIt rained.\ndraft of May', 60: '44 FREE CULTURE\nIt snowed.\nNo end' }
  expect(own(page, 58, near)).toBe('The lamp was lit.\nNobody came.')
})

test('excludes numbers on their own line and page counts', () => {
  expect(own('The lamp was lit.\nPage 3 of 9', 3, { 4: 'It snowed.\nPage 4 of 9' })).toBe('The lamp was lit.')
  expect(own('17\n\nThe lamp was lit.', 19, { 18: '16\n\nIt snowed.' })).toBe('The lamp was lit.')
})

test('includes numbers that do not count pages, and lines elsewhere on the page', () => {
  const invoice = 'Total 45\nOne lamp and nothing else.\nPaid'
  expect(own(invoice, 1, { 2: 'Total 80\nTwo lamps.\nDue' })).toBe(invoice)
  const page = 'One\nTwo\nThree\nThe lamp\nFive\nSix\nSeven'
  expect(own(page, 1, { 2: 'The lamp\nwas\nlit\nand\nThe lamp' })).toBe(page)
})

test('includes text beyond the edge that only looks like it', () => {
  const line = 'word '.repeat(40)
  expect(own(`${line}\nEnd`, 1, { 2: `${line}\nOther` })).toBe(`${line}\nEnd`.trim())
})

test('is the whole page if it has nothing else', () => {
  expect(own('FREE CULTURE\n3', 3, { 4: 'FREE CULTURE\n4' })).toBe('FREE CULTURE\n3')
})
