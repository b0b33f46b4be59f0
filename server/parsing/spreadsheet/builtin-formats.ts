/** Built-in formats whose code depends on the language of the program that wrote the file (ECMA-376 part 1, 18.8.30). */
export type EastAsianLocale = 'ja' | 'zh-cn' | 'zh-tw' | 'ko'

const ERA_DOTS = '[$-411]ge.m.d'
const ERA_WORDS = '[$-411]ggge"年"m"月"d"日"'
const REPUBLIC = '[$-404]e/m/d'
const REPUBLIC_WORDS = '[$-404]e"年"m"月"d"日"'
const DAY_WORDS = 'yyyy"年"m"月"d"日"'
const [MONTH, DAY] = ['yyyy"年"m"月"', 'm"月"d"日"']
const TAIWAN_TIME = ['上午/下午hh"時"mm"分"', '上午/下午hh"時"mm"分"ss"秒"'] as const
const CHINA_TIME = ['上午/下午h"时"mm"分"', '上午/下午h"时"mm"分"ss"秒"'] as const
const [KOREAN_DAY, KOREAN_SHORT, ISO_DAY] = ['yyyy"年" mm"月" dd"日"', 'mm-dd', 'yyyy-mm-dd']

const FIRST_IDS = [27, 28, 29, 30, 31, 32, 33, 34, 35, 36]
const SECOND_IDS = [50, 51, 52, 53, 54, 55, 56, 57, 58]
const IDS = [...FIRST_IDS, ...SECOND_IDS]

const CODES: Readonly<Record<EastAsianLocale, readonly string[]>> = {
  ja: [
    ...[ERA_DOTS, ERA_WORDS, ERA_WORDS, 'm/d/yy', DAY_WORDS, 'h"時"mm"分"', 'h"時"mm"分"ss"秒"', MONTH, DAY, ERA_DOTS],
    ...[ERA_DOTS, ERA_WORDS, MONTH, DAY, ERA_WORDS, MONTH, DAY, ERA_DOTS, ERA_WORDS],
  ],
  'zh-cn': [
    ...[MONTH, DAY, DAY, 'm-d-yy', DAY_WORDS, 'h"时"mm"分"', 'h"时"mm"分"ss"秒"', ...CHINA_TIME, MONTH],
    ...[MONTH, DAY, MONTH, DAY, DAY, ...CHINA_TIME, MONTH, DAY],
  ],
  'zh-tw': [
    ...[REPUBLIC, REPUBLIC_WORDS, REPUBLIC_WORDS, 'm/d/yy', DAY_WORDS, 'hh"時"mm"分"', 'hh"時"mm"分"ss"秒"'],
    ...[...TAIWAN_TIME, REPUBLIC],
    ...[REPUBLIC, REPUBLIC_WORDS, ...TAIWAN_TIME, REPUBLIC_WORDS, ...TAIWAN_TIME, REPUBLIC, REPUBLIC_WORDS],
  ],
  ko: [
    ...[KOREAN_DAY, KOREAN_SHORT, KOREAN_SHORT, 'mm-dd-yy', 'yyyy"년" mm"월" dd"일"', 'h"시" mm"분"'],
    ...['h"시" mm"분" ss"초"', ISO_DAY, ISO_DAY, KOREAN_DAY],
    ...[KOREAN_DAY, KOREAN_SHORT, ISO_DAY, ISO_DAY, KOREAN_SHORT, ISO_DAY, ISO_DAY, KOREAN_DAY, KOREAN_SHORT],
  ],
}

/** Formats of Thai programs, from id 59. */
const THAI_NUMBERS = ['0', '0.00', '#,##0', '#,##0.00', '', '', '', '', '0%', '0.00%', '# ?/?', '# ??/??']
const THAI_DATES = [
  ...['d/m/bbbb', 'd-mmm-yy', 'd-mmm', 'mmm-yy', 'h:mm', 'h:mm:ss', 'd/m/bbbb h:mm', 'mm:ss', '[h]:mm:ss', 'mm:ss.0'],
  'd/m/bbbb',
]
const FIRST_THAI_ID = 59
const THAI_IDS = [...THAI_NUMBERS, ...THAI_DATES].map((_, index) => FIRST_THAI_ID + index)

/** Accounting formats, with the currency of the program's country, which the file does not tell. */
const ACCOUNTING: Readonly<Record<number, string>> = {
  5: '"$"#,##0_);\\("$"#,##0\\)',
  6: '"$"#,##0_);[Red]\\("$"#,##0\\)',
  7: '"$"#,##0.00_);\\("$"#,##0.00\\)',
  8: '"$"#,##0.00_);[Red]\\("$"#,##0.00\\)',
  41: '_(* #,##0_);_(* \\(#,##0\\);_(* "-"_);_(@_)',
  42: '_("$"* #,##0_);_("$"* \\(#,##0\\);_("$"* "-"_);_(@_)',
  43: '_(* #,##0.00_);_(* \\(#,##0.00\\);_(* "-"??_);_(@_)',
  44: '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)',
}

/** Built-in formats that the library does not know by the codes of this file. */
const FILE_INDEPENDENT_IDS = [...Object.keys(ACCOUNTING).map(Number), ...IDS]

/** Code that stands for a built-in format without a definition in the file. */
const BUILTIN_CODE = /^"?builtin-(\d+)"?$/

/** Number of the built-in format that `defineBuiltins` gave a cell. */
export function readBuiltinId(code: string): number | undefined {
  const id = BUILTIN_CODE.exec(code)?.[1]
  return id === undefined ? undefined : Number(id)
}

const STYLE_SHEET = /<((?:\w+:)?)styleSheet((?:\s[^>]*?)?)(\/?)>/
const NUMBER_FORMATS = /<((?:\w+:)?)numFmts(?:\s[^>]*?)?(\/?)>/

/** Adds codes for built-in formats to the styles of a workbook, since the library replaces them by American ones. */
export function defineBuiltins(styles: string): string {
  const thai = THAI_IDS.filter((id) => builtinCode(id, 0, undefined) !== undefined)
  const missing = [...FILE_INDEPENDENT_IDS, ...thai].filter(
    (id) => !new RegExp(`numFmtId=["']${id}["'][^>]*formatCode=|formatCode=[^>]*numFmtId=["']${id}["']`).test(styles),
  )
  const sheet = STYLE_SHEET.exec(styles)
  if (!sheet) return styles
  const [tag, prefix = '', attributes = '', selfClosing = ''] = sheet
  const formats = missing
    .map((id) => `<${prefix}numFmt numFmtId="${id}" formatCode="&quot;builtin-${id}&quot;"/>`)
    .join('')
  const own = NUMBER_FORMATS.exec(styles)
  if (own && own[2] === '') return styles.replace(own[0], `${own[0]}${formats}`)
  const added = `<${prefix}numFmts>${formats}</${prefix}numFmts>`
  const opened = `<${prefix}styleSheet${attributes}>${added}`
  const base = own ? styles.replace(own[0], '') : styles
  return base.replace(tag, selfClosing === '' ? opened : `${opened}</${prefix}styleSheet>`)
}

/** Code of a built-in format that a file uses without defining it; without a known language an unambiguous date or time. */
export function builtinCode(id: number, value: number, locale: EastAsianLocale | undefined): string | undefined {
  const index = IDS.indexOf(id)
  if (index !== -1) return locale ? CODES[locale][index] : dateOrTime(value)
  if (ACCOUNTING[id] !== undefined) return ACCOUNTING[id]
  const thai = [...THAI_NUMBERS, ...THAI_DATES][id - FIRST_THAI_ID]
  return thai === '' ? undefined : thai
}

function dateOrTime(value: number): string {
  if (value >= 0 && value < 1) return 'h:mm:ss'
  return Number.isInteger(value) ? 'yyyy-mm-dd' : 'yyyy-mm-dd h:mm:ss'
}

/** Windows character sets of fonts. */
const CHARSETS: Readonly<Record<string, EastAsianLocale>> = { 128: 'ja', 129: 'ko', 134: 'zh-cn', 136: 'zh-tw' }
const LANGUAGES: Readonly<Record<string, EastAsianLocale>> = {
  '411': 'ja',
  '412': 'ko',
  '404': 'zh-tw',
  '804': 'zh-cn',
  'ja-JP': 'ja',
  'ko-KR': 'ko',
  'zh-TW': 'zh-tw',
  'zh-CN': 'zh-cn',
}
const TRADITIONAL = /[國學會請單點電號總額購買賣價類傳際經費處發業產與務報員進關數據區東門訂備註稱銷]/
const CHARSET = /<(?:\w+:)?charset\s+val="(\d+)"/g
const LANGUAGE = /\[\$[^\]]*?-(?:[0-9a-f]{0,4}?0?)?(411|412|404|804|ja-JP|ko-KR|zh-TW|zh-CN)\b[^\]]*\]/gi

/**
 * Finds the East Asian language of a workbook by the character sets of its fonts, the languages of its own formats, or
 * the script of its text.
 */
export function findEastAsianLocale(styles: string, text: string): EastAsianLocale | undefined {
  for (const [, charset = ''] of styles.matchAll(CHARSET)) if (CHARSETS[charset]) return CHARSETS[charset]
  for (const [, language = ''] of styles.matchAll(LANGUAGE)) if (LANGUAGES[language]) return LANGUAGES[language]
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return 'ja'
  if (/\p{Script=Hangul}/u.test(text)) return 'ko'
  if (!/\p{Script=Han}/u.test(text)) return undefined
  return TRADITIONAL.test(text) ? 'zh-tw' : 'zh-cn'
}
