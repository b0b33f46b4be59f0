import { describe, expect, test } from 'vitest'
import { builtinCode, defineBuiltins, findEastAsianLocale, readBuiltinId } from './builtin-formats.ts'
import { formatNumber, formatWords } from './number-format.ts'

/** 15 June 2023, a Thursday. */
const DAY = 45_092

const shown = (code: string, value: number, is1904 = false) =>
  formatNumber(code, value, is1904).replaceAll(/\s+/g, ' ').trim()

test.each([
  [1, '1900-01-01'],
  [59, '1900-02-28'],
  [61, '1900-03-01'],
  [DAY, '2023-06-15'],
])('day %d of the short date is %s', (serial, date) => {
  expect(shown('m/d/yy', serial)).toBe(date)
})

describe('a number is shown by its format code (ECMA-376 part 1, 18.8.30-31)', () => {
  test.each([
    ['General', 7, '7'],
    ['General', 4_006_381_333_931, '4006381333931'],
    ['General', 0.1 + 0.2, '0.3'],
    ['General', 1e21, '1E+21'],
    ['0', 7.6, '8'],
    ['0.00', 7, '7.00'],
    ['#,##0', 1234, '1,234'],
    ['#,##0.00', 1234.5, '1,234.50'],
    ['0%', 0.07, '7%'],
    ['0.00%', 0.125, '12.50%'],
    ['0.00E+00', 123_456, '1.23E+05'],
    ['##0.0E+0', 12_345, '12.3E+3'],
    ['# ?/?', 0.75, '3/4'],
    ['# ??/??', 1.25, '1 1/4'],
    ['@', 12_345, '12345'],
    ['mm:ss', 0.5, '00:00'],
    ['[h]:mm:ss', 1.25, '30:00:00'],
    ['[mm]:ss', 0.5, '720:00'],
    ['[h]:mm', 40_000.5, '960012:00'],
    ['mm:ss.0', 0.0005, '00:43.2'],
    ['h:mm AM/PM', 0.75, '6:00 PM'],
    ['d-mmm-yy', DAY, '15-Jun-23'],
    ['mmm-yy', DAY, 'Jun-23'],
    ['#,##0_);(#,##0)', -1234, '(1,234)'],
    ['#,##0.00_);[Red](#,##0.00)', -1234.5, '(1,234.50)'],
    ['_("$"* #,##0.00_);_("$"* (#,##0.00);_("$"* "-"??_);_(@_)', 1234.5, '$1,234.50'],
    ['_("$"* #,##0.00_);_("$"* (#,##0.00);_("$"* "-"??_);_(@_)', 0, '$-'],
    ['0.0;(0.0);"none"', 0, 'none'],
    ['[<=9999999]###-####;(###) ###-####', 4_155_550_123, '(415) 555-0123'],
    ['[>=1000000]0.0,,"M";[>=1000]0.0,"K";0', 1_234_567, '1.2M'],
    ['[Blue][>100]0;[Red]0', 150, '150'],
    ['[Color10]0', 5, '5'],
    ['0000', 42, '0042'],
    ['00-00-00', 123_456, '12-34-56'],
    [String.raw`0\ \k\g`, 5, '5 kg'],
    ['General" kg"', 5.25, '5.25 kg'],
    ['0*-', 7, '7'],
    ['#,##0,,"M"', 12_500_000, '13M'],
  ])('%s of %d is %s', (code, value, text) => expect(shown(code, value)).toBe(text))
})

describe('currencies and languages in brackets', () => {
  test.each([
    [String.raw`[$-10409]#,##0;\-#,##0`, 7, '7'],
    ['[$-1010409]#,##0.00', 1234.5, '1,234.50'],
    ['[$-409]0.00', 5, '5.00'],
    ['"$"0.00', 99, '$99.00'],
    ['[$-10409]"$"#,##0.00;("$"#,##0.00)', -99, '($99.00)'],
    ['#,##0.00 [$€-407]', 1234.5, '1.234,50 €'],
    ['[$¥-411]#,##0', 1234, '¥1,234'],
    ['[$£-809]#,##0.00', 1234.5, '£1,234.50'],
    [String.raw`[$₹-4009]\ #,##,##0.00`, 1_234_567.8, '₹ 12,34,567.80'],
    ['[$USD] #,##0.00', 3, 'USD 3.00'],
    ['_-* #,##0.00 "zł"_-', 99.9, '99.90 zł'],
    ['[$-10409]m/d/yyyy', DAY, '6/15/2023'],
    ['[$-F800]dddd, mmmm dd, yyyy', DAY, 'Thursday, June 15, 2023'],
    ['[$-F400]h:mm:ss AM/PM', 0.5, '12:00:00 PM'],
    ['[$-407]d. mmmm yyyy', DAY, '15. Juni 2023'],
    ['[ENG][$-409]d mmm yyyy', DAY, '15 Jun 2023'],
    ['[$-804]aaaa', DAY, '星期四'],
    ['[$-411]aaa', DAY, '木'],
    ['[$-411]ggge"年"m"月"d"日"', DAY, '令和5年6月15日'],
    ['[$-411]ggge"年"', 32_515, '昭和64年'],
    ['[$-411]ggge"年"', 32_516, '平成1年'],
    ['[$-411]gee.mm.dd', DAY, 'R05.06.15'],
    ['[$-404]e/m/d', DAY, '112/6/15'],
    ['[$-107041E]d/m/yyyy', DAY, '15/6/2566'],
    ['[$-D07041E]d mmmm yyyy', DAY, '๑๕ มิถุนายน ๒๕๖๖'],
    ['上午/下午h"时"mm"分"', DAY + 0.75, '下午6时00分'],
    ['[DBNum1][$-804]General', 1234, '一千二百三十四'],
    ['[DBNum1][$-804]General', 10_010, '一万零一十'],
    ['[DBNum2][$-804]General', 1234, '壹仟贰佰叁拾肆'],
    ['[DBNum1][$-411]General', 1234, '千二百三十四'],
    ['[DBNum1][$-804]yyyy"年"m"月"d"日"', DAY, '二〇二三年六月十五日'],
  ])('%s of %d is %s', (code, value, text) => expect(shown(code, value)).toBe(text))
})

test('dates of 1904 count from that year, elapsed hours do not', () => {
  expect(shown('yyyy-mm-dd', DAY - 1_462, true)).toBe('2023-06-15')
  expect(shown('[h]:mm', 1.25, true)).toBe('30:00')
})

test.each([
  ['yyyy-mm-dd', 3_000_000, '3000000'],
  ['yyyy-mm-dd', -1, '-1'],
  ['no format \\', 5, '5'],
])('a number that is no date, or has no valid code, is written plainly: %s of %d', (code, value, text) =>
  expect(shown(code, value)).toBe(text),
)

test('words get what their format adds, and are never hidden', () => {
  expect(formatWords('0;0;0;"Room "@', 'B 12')).toBe('Room B 12')
  expect(formatWords(';;;', 'InsertRow')).toBe('InsertRow')
  expect(formatWords('0.00', 'none')).toBe('none')
})

describe('built-in formats by the language of the program', () => {
  test.each([
    [27, 'R5.6.15', '2023年6月', '112/6/15', '2023年 06月 15日'],
    [28, '令和5年6月15日', '6月15日', '112年6月15日', '06-15'],
    [30, '2023-06-15', '6-15-23', '2023-06-15', '06-15-23'],
    [31, '2023年6月15日', '2023年6月15日', '2023年6月15日', '2023년 06월 15일'],
    [34, '2023年6月', '下午6时00分', '下午06時00分', '2023-06-15'],
    [55, '2023年6月', '下午6时00分', '下午06時00分', '2023-06-15'],
    [57, 'R5.6.15', '2023年6月', '112/6/15', '2023年 06月 15日'],
    [58, '令和5年6月15日', '6月15日', '112年6月15日', '06-15'],
  ])('number %d', (id, ...texts) => {
    const locales = ['ja', 'zh-cn', 'zh-tw', 'ko'] as const
    expect(locales.map((locale) => shown(builtinCode(id, DAY, locale) ?? '', DAY + 0.75))).toEqual(texts)
  })

  test('are unambiguous dates and times where no language is known', () => {
    expect(shown(builtinCode(57, DAY, undefined) ?? '', DAY)).toBe('2023-06-15')
    expect(shown(builtinCode(33, 0.5, undefined) ?? '', 0.5)).toBe('12:00:00')
  })

  test('are marked in styles that do not define them', () => {
    const styles = defineBuiltins(
      '<styleSheet><numFmts count="1"><numFmt numFmtId="57" formatCode="0"/></numFmts></styleSheet>',
    )
    expect(styles).toContain('numFmtId="58"')
    expect(styles.match(/numFmtId="57"/g)).toHaveLength(1)
    expect(readBuiltinId('"builtin-58"')).toBe(58)
  })

  test.each([
    ['<font><charset val="128"/></font>', '', 'ja'],
    ['<numFmt formatCode="[$-404]e/m/d"/>', '', 'zh-tw'],
    ['', 'ひらがな 漢字', 'ja'],
    ['', '合計 총액', 'ko'],
    ['', '总额', 'zh-cn'],
    ['', '總額', 'zh-tw'],
    ['', 'Total', undefined],
  ])('the language of styles "%s" and words "%s" is %s', (styles, words, locale) =>
    expect(findEastAsianLocale(styles, words)).toBe(locale),
  )
})
