import { expect, test } from 'vitest'
import { hanNumbers, replaceHanNumerals } from './read-han-numerals.ts'

test.each([
  ['三十日以内', ['30']],
  ['第十条', ['10']],
  ['一九三四年', ['1934']],
  ['千九百三十四年', ['1934']],
  ['二〇二六年十二月', ['2026', '12']],
  ['四十七万六千エーカー', ['476000']],
  ['三億二千万円', ['320000000']],
  ['二十万', ['200000']],
  ['百人', ['100']],
  ['一般に三角と千葉と数百万', []],
  ['一'.repeat(40), []],
])('numbers of %s', (text, numbers) => expect(hanNumbers(text)).toEqual(numbers))

test('single digits are replaced too, because dates hold them', () => {
  expect(replaceHanNumerals('昭和八年三月三日')).toBe('昭和8年3月3日')
  expect(replaceHanNumerals('午後六時三十分、千葉')).toBe('午後6時30分、千葉')
})
