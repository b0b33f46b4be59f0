/** Writes numbers by their format code (ECMA-376 part 1, 18.8.30-31), with the codes that numfmt does not know. */
import { format, isDateFormat, tokenize } from 'numfmt'
import { writeDigits, writeNumeral } from './write-han-numerals.ts'

/** Serial number of 9999-12-31; later dates are shown as numbers. */
const LAST_DAY = 2_958_465
const DAYS_TO_1904 = 1_462
const DAYS_TO_1970 = 25_569
const DAY_MS = 86_400_000
/** Excel stores this many digits. */
const SIGNIFICANT_DIGITS = 15
/** From here on Excel writes numbers in scientific notation, however wide the column is. */
const MAX_PLAIN = 1e21

/** Formats that Excel shows in the local date order of the user. */
const LOCAL_DATE = /^m\/d\/yy(?:yy)?( h:mm(?::ss)?)?(?:;@)?$/i

type Token = ReturnType<typeof tokenize>[number]

/** Locale in brackets: digit shapes, calendar and language, each a part of one hexadecimal number ("[$-D07041E]"). */
interface LocaleCode {
  readonly language: number | undefined
  readonly calendar: number
  readonly digits: number
}

const [TAIWANESE, JAPANESE, THAI] = [0x404, 0x411, 0x41e]
const LANGUAGE_TAGS: Readonly<Record<string, number>> = {
  ja: JAPANESE,
  th: THAI,
  'zh-tw': TAIWANESE,
  'zh-cn': 0x804,
  ko: 0x412,
}
const [JAPANESE_CALENDAR, TAIWANESE_CALENDAR, KOREAN_CALENDAR, THAI_CALENDAR] = [3, 4, 5, 7]
/** Languages whose numbers are grouped as 12,34,567. */
const INDIAN = new Set([0x39, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x4b, 0x4c, 0x4d, 0x4e, 0x57])
const INDIAN_ENGLISH = 0x4009
const INDIAN_GROUPS = /#,##,##[0#]/

const ERAS: readonly (readonly [firstDay: number, year: number, kanji: string, letter: string])[] = [
  [43_586, 2019, '令和', 'R'],
  [32_516, 1989, '平成', 'H'],
  [9_856, 1926, '昭和', 'S'],
  [4_595, 1912, '大正', 'T'],
  [0, 1868, '明治', 'M'],
]

/** First digit of each shape by its number in a locale code (MS-OE376, 2.1.739). */
const DIGIT_ZEROS: Readonly<Record<number, number>> = {
  2: 0x660, 3: 0x6f0, 4: 0x966, 5: 0x9e6, 6: 0xa66, 7: 0xae6, 8: 0xb66, 9: 0xbe6, 10: 0xc66, 11: 0xce6, 12: 0xd66,
  13: 0xe50, 14: 0xed0, 15: 0xf20, 16: 0x1040, 18: 0x17e0, 19: 0x1810,
} // prettier-ignore

const HALF_DAYS = /上午\/下午|午前\/午後|오전\/오후/
const MODIFIER = /\[(?:ENG|HIJ|JPN|NatNum\d+[^\]]*)\]/gi

/** Text of a number as a spreadsheet program of the format's locale shows it; the plain number if the code is invalid. */
export function formatNumber(code: string, value: number, is1904: boolean): string {
  try {
    return formatByCode(code, value, is1904)
  } catch {
    return formatGeneral(value)
  }
}

/** Text that a format adds to a cell of words ("kg: "@); the words alone if the code is invalid or hides them. */
export function formatWords(code: string, words: string): string {
  try {
    const isPlain = code === '' || /^(?:General|@)$/i.test(code) || !code.includes('@')
    const shown = isPlain ? words : format(code, words, OPTIONS)
    return shown.trim() === '' ? words : shown
  } catch {
    return words
  }
}

const OPTIONS = { locale: 'en-US', dateSpanLarge: false, nbsp: false } as const
/** The library's types do not declare the sizes of groups. */
const INDIAN_OPTIONS = { ...OPTIONS, grouping: [3, 2] }

function formatByCode(code: string, value: number, is1904: boolean): string {
  const local = LOCAL_DATE.exec(code)
  if (local && value >= 0 && value <= LAST_DAY)
    return formatLocalDate(is1904 ? value + DAYS_TO_1904 : countTrueDays(value), local[1] !== undefined)
  if (code === '' || /^(?:General|Standard|@)$/i.test(code)) return formatGeneral(value)
  const { known, halfDays, tokens, isDate, isElapsed, locale, numerals } = readCode(code)
  const serial = isDate && is1904 && !isElapsed ? Math.abs(value) + DAYS_TO_1904 : value
  const isOutside = isDate && !isElapsed && ((value < 0 && !is1904) || serial >= LAST_DAY + 1)
  if (isOutside) return formatGeneral(value)
  const replaced = isDate ? tokens.map((token, index) => replaceYear(token, tokens[index - 1], serial, locale)) : tokens
  const shown = withDigits(
    formatSections(replaced.map(({ raw }) => raw).join(''), serial, locale, known),
    locale.digits,
  )
  const signed = isDate && is1904 && value < 0 && !isElapsed ? `-${shown}` : shown
  const words = halfDays ? signed.replace(/AM|PM/, (half) => halfDays[half === 'AM' ? 0 : 1] ?? half) : signed
  return numerals ? writeHan(words, value, { numerals, isDate, isGeneral: hasGeneral(tokens), locale }) : words
}

interface FormatCode {
  readonly known: string
  readonly halfDays: readonly string[] | undefined
  readonly tokens: readonly Token[]
  readonly isDate: boolean
  readonly isElapsed: boolean
  readonly locale: LocaleCode
  readonly numerals: Token | undefined
}

const MAX_CODES = 500
const codes = new Map<string, FormatCode>()

/** A sheet repeats few codes in many cells. */
function readCode(code: string): FormatCode {
  const cached = codes.get(code)
  if (cached) return cached
  const known = code.replace(HALF_DAYS, 'AM/PM').replaceAll(MODIFIER, '')
  const tokens = tokenize(known)
  const read: FormatCode = {
    known,
    halfDays: HALF_DAYS.exec(code)?.[0].split('/'),
    tokens,
    isDate: isDateFormat(known),
    isElapsed: tokens.some(({ type }) => type === 'duration'),
    locale: readLocale(tokens.findLast(({ type }) => type === 'locale' || type === 'currency')),
    numerals: tokens.find(({ type }) => type === 'dbnum'),
  }
  if (codes.size >= MAX_CODES) codes.clear()
  codes.set(code, read)
  return read
}

const hasGeneral = (tokens: readonly Token[]): boolean => tokens.some(({ type }) => type === 'general')

function formatSections(code: string, value: number, { language }: LocaleCode, given: string): string {
  const isIndian =
    INDIAN_GROUPS.test(given) ||
    (language !== undefined && (INDIAN.has(language & 0xff) || language === INDIAN_ENGLISH))
  return format(code, value, isIndian ? INDIAN_OPTIONS : OPTIONS)
}

/** All digits of an integer: Excel would show article numbers by column width, for example as 1.2E+12. */
export function formatGeneral(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < MAX_PLAIN)
    return BigInt(Number(value.toPrecision(SIGNIFICANT_DIGITS))).toString()
  return format('General', value, OPTIONS)
}

/** Days up to 59 are one less than those from 61 on: Excel counts a 29 February 1900, which is day 60. */
const countTrueDays = (serial: number): number => (serial < 60 ? serial + 1 : serial)

/** ISO 8601, since the order of the parts is that of the person who looks. */
function formatLocalDate(days: number, hasTime: boolean): string {
  const seconds = Math.round((days - DAYS_TO_1970) * (DAY_MS / 1_000))
  return new Date(seconds * 1_000)
    .toISOString()
    .slice(0, hasTime ? 16 : 10)
    .replace('T', ' ')
}

function readLocale(token: Token | undefined): LocaleCode {
  const tag = /-([^\]]*)\]?$/.exec(token?.raw ?? '')?.[1] ?? ''
  const named = Object.entries(LANGUAGE_TAGS).find(([name]) => tag.toLowerCase().startsWith(name))?.[1]
  if (named !== undefined) return { language: named, calendar: 0, digits: 0 }
  const code = /^[0-9a-f]+$/i.test(tag) ? Number.parseInt(tag, 16) : undefined
  if (code === undefined) return { language: undefined, calendar: 0, digits: 0 }
  return { language: code & 0xffff, calendar: (code >> 16) & 0xff, digits: (code >>> 24) & 0xff }
}

/** Writes years of other calendars, and names of eras, as literal text. */
function replaceYear(token: Token, before: Token | undefined, serial: number, locale: LocaleCode): Token {
  if (token.type !== 'datetime') return token
  const kind = token.raw[0]?.toLowerCase()
  const literal = (text: string): Token => ({ ...token, type: 'string', raw: `"${text}"` })
  const year = new Date((Math.floor(serial) - DAYS_TO_1970) * DAY_MS).getUTCFullYear()
  const isJapanese =
    locale.language === JAPANESE || locale.calendar === JAPANESE_CALENDAR || locale.language === undefined
  const isTaiwanese = locale.language === TAIWANESE || locale.calendar === TAIWANESE_CALENDAR
  const pad = (number: number) => String(number).padStart(token.raw.length, '0')
  if (kind === 'g') {
    if (isTaiwanese) return literal(token.raw.length > 1 ? '中華民國' : '民國')
    const [, , kanji, letter] = eraOf(serial)
    const names: readonly string[] = [letter, kanji.slice(0, 1), kanji]
    return literal(isJapanese ? (names[Math.min(token.raw.length, 3) - 1] ?? kanji) : '')
  }
  if (kind === 'e') {
    if (isTaiwanese) return literal(pad(year - 1911))
    const followsEra = before?.type === 'datetime' && before.raw[0]?.toLowerCase() === 'g'
    const isEraYear = locale.language === JAPANESE || locale.calendar === JAPANESE_CALENDAR || followsEra
    return isEraYear && isJapanese ? literal(pad(year - eraOf(serial)[1] + 1)) : literal(String(year))
  }
  const shift = { [THAI_CALENDAR]: 543, [TAIWANESE_CALENDAR]: -1911, [KOREAN_CALENDAR]: 2333 }[locale.calendar]
  if (kind !== 'y' || shift === undefined) return token
  return literal(token.raw.length > 2 ? String(year + shift) : String((year + shift) % 100).padStart(2, '0'))
}

const eraOf = (serial: number) => ERAS.find(([firstDay]) => serial >= firstDay) ?? ([0, 1868, '明治', 'M'] as const)

function withDigits(text: string, shape: number): string {
  const zero = DIGIT_ZEROS[shape]
  return zero === undefined ? text : text.replaceAll(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)))
}

interface Numerals {
  readonly numerals: Token
  readonly isDate: boolean
  readonly isGeneral: boolean
  readonly locale: LocaleCode
}

/** Numbers by their value with General and in dates (years by their digits); other codes digit by digit. */
function writeHan(text: string, value: number, { numerals, isDate, isGeneral, locale }: Numerals): string {
  const style = { level: Number(/\d/.exec(numerals.raw)?.[0] ?? 1), isJapanese: locale.language === JAPANESE }
  if (isGeneral && Number.isInteger(value))
    return text.replace(/\d[\d.E+]*/, () => writeNumeral(Math.abs(value), style))
  return text.replaceAll(/\d+/g, (digits) =>
    isDate && digits.length < 3 ? writeNumeral(Number(digits), style) : writeDigits(digits, style),
  )
}
