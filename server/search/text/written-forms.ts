/**
 * Terms for numbers and dates that people write in many forms: a telephone number, a date or a time yields the same term
 * however it is written. The colon keeps these terms apart from words, which contain none.
 */

/** The text in lower case and NFKC. Terms in no particular order. */
export function writtenForms(text: string): string[] {
  if (!/\d/.test(text)) return []
  return [...phoneForms(text), ...dateForms(text), ...timeForms(text)]
}

export const isWrittenForm = (word: string): boolean => word.includes(':')

const PHONE = /(?<![\p{L}\p{N}.,/-])(?<![\d:]:)(?:\+|\(\+?)?\d(?:[ .\-‐‑–/()]{0,3}\d){5,17}(?![\p{L}\p{N}])/gu
/** Without the codes of country and area, which people omit: these digits tell the numbers of one library apart. */
const SUBSCRIBER_DIGITS = 7
const MAX_PHONE_DIGITS = 15
const GROUPED_NUMBER = /^\d{1,3}(?:[ .]\d{3})+$/
const DECIMAL = /^\d+\.\d+$/
/** Four pairs of digits are rather a telephone number. */
const NETWORK_ADDRESS = /^(?!\d\d(?:\.\d\d){3}$)\d{1,3}(?:\.\d{1,3}){3}$/
const YEARS = /^(?:1[5-9]|20)\d\d\D(?:1[5-9]|20)\d\d$/

function phoneForms(text: string): string[] {
  return [...text.matchAll(PHONE)].flatMap(([written]) => {
    const digits = written.replaceAll(/\D/g, '')
    const isOther =
      GROUPED_NUMBER.test(written) ||
      DECIMAL.test(written) ||
      YEARS.test(written) ||
      DATE_AT_START.test(written) ||
      NETWORK_ADDRESS.test(written)
    if (isOther || digits.length < SUBSCRIBER_DIGITS || digits.length > MAX_PHONE_DIGITS) return []
    return [`phone:${digits.slice(-SUBSCRIBER_DIGITS)}`]
  })
}

const DATE_AT_START = /^(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2\d{4})(?!\d)/
const NUMERIC =
  /(?<![\d.,/-])(?:(\d{4})([-/.])(\d{1,2})\2(\d{1,2})|(\d{1,2})([-/.])(\d{1,2})\6(\d{4}|\d{2}))(?![\d/-]|\.\d)/g
const EAST_ASIAN =
  /(\d{4}|(?:令和|平成|昭和|大正|明治) ?(?:\d{1,2}|元)) ?[年년] ?(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日일号號]/g
/** Year before the first of each era. */
const ERAS: Readonly<Record<string, number>> = { 令和: 2018, 平成: 1988, 昭和: 1925, 大正: 1911, 明治: 1867 }

/** Languages whose names of months are read, with those that the runtime writes for a day of the month. */
const LOCALES = `en de fr es it pt nl sv da nb fi pl cs sk sl hr hu ro bg ru uk el tr id vi ca et lv lt ar fa he hi th`

interface MonthPatterns {
  /** A name may stand for two months: listopad is November in Polish and October in Croatian. */
  readonly numbersOf: ReadonlyMap<string, readonly number[]>
  readonly dayFirst: RegExp
  readonly monthFirst: RegExp
  readonly yearFirst: RegExp
}

let cachedPatterns: MonthPatterns | undefined

/** Built with the first text that may contain a date: the names of all months take 20 ms. */
function monthPatterns(): MonthPatterns {
  if (cachedPatterns) return cachedPatterns
  const numbersOf = new Map<string, number[]>()
  for (const locale of LOCALES.split(' ')) {
    for (const options of MONTH_STYLES) {
      const format = new Intl.DateTimeFormat(`${locale}-u-ca-gregory-nu-latn`, { ...options, timeZone: 'UTC' })
      for (let month = 0; month < 12; month += 1) {
        const name = format.formatToParts(Date.UTC(2024, month, 8)).find(({ type }) => type === 'month')?.value
        const plain = name?.normalize('NFKC').toLowerCase().replace(/\.$/, '') ?? ''
        if (!/^\p{L}[\p{L}\p{M}]{2,}$/u.test(plain)) continue
        const numbers = numbersOf.get(plain) ?? []
        if (!numbers.includes(month + 1)) numbersOf.set(plain, [...numbers, month + 1])
      }
    }
  }
  const names = [...numbersOf.keys()].toSorted((one, other) => other.length - one.length).join('|')
  const day = String.raw`(\d{1,2})(?:\.?|st|nd|rd|th|er|re|o|a|ος|-го)`
  const year = String.raw`((?:1[5-9]|20)\d\d)`
  // Bounded, as everything here: a text may hold a hundred thousand blanks.
  const between = String.raw`[\s,./-]{1,3}(?:(?:of|de|del|di|d'|d’|den)\s{0,2})?`
  cachedPatterns = {
    numbersOf,
    dayFirst: new RegExp(String.raw`(?<![\d.,/-])${day}${between}(${names})\.?${between}${year}(?!\d)`, 'gu'),
    // Behind the day, because names are looked for at numbers only.
    monthFirst: new RegExp(String.raw`(?<=(?<!\p{L})(${names})\.?\s{1,3})${day}[,\s]\s{0,2}${year}(?!\d)`, 'gu'),
    yearFirst: new RegExp(
      String.raw`(?<!\d)${year}[.,]?\s{1,3}(?:[mg]\.\s{1,3})?(${names})\.?\s{1,3}${day}(?!\d)`,
      'gu',
    ),
  }
  return cachedPatterns
}

const MONTH_STYLES: readonly Intl.DateTimeFormatOptions[] = [
  { month: 'long', day: 'numeric' },
  { month: 'long' },
  { month: 'short', day: 'numeric' },
  { month: 'short' },
]

function dateForms(text: string): string[] {
  const dates: string[] = []
  const add = (year: number, month: number, day: number) => {
    if (month < 1 || month > 12 || day < 1 || day > 31) return
    dates.push(`date:${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`)
  }
  for (const [, year, , month, day, first, separator, second, last = ''] of text.matchAll(NUMERIC)) {
    if (year !== undefined) {
      add(Number(year), Number(month), Number(day))
      continue
    }
    // Two digits after points are a number of a section as well.
    if (last.length === 2 && separator === '.' && (first?.length !== 2 || second?.length !== 2)) continue
    const full = last.length === 4 ? Number(last) : Number(last) + (Number(last) < 70 ? 2000 : 1900)
    // 01/04 is the first of April, or the fourth of January.
    add(full, Number(second), Number(first))
    if (first !== second) add(full, Number(first), Number(second))
  }
  for (const [, year = '', month, day] of text.matchAll(EAST_ASIAN)) {
    const era = ERAS[year.slice(0, 2)]
    add(era === undefined ? Number(year) : era + Number(year.slice(2).replace('元', '1')), Number(month), Number(day))
  }
  if (!/(?:1[5-9]|20)\d\d/.test(text)) return dates
  const { numbersOf, dayFirst, monthFirst, yearFirst } = monthPatterns()
  const addNamed = (year: string | undefined, name: string, day: string | undefined) => {
    for (const month of numbersOf.get(name) ?? []) add(Number(year), month, Number(day))
  }
  for (const [, day, month = '', year] of text.matchAll(dayFirst)) addNamed(year, month, day)
  for (const [, month = '', day, year] of text.matchAll(monthFirst)) addNamed(year, month, day)
  for (const [, year, month = '', day] of text.matchAll(yearFirst)) addNamed(year, month, day)
  return dates
}

const HALF_DAY = /(?<![\d.:,])(\d{1,2})(?:[:.h](\d\d)(?::\d\d)?)?\s?([ap])\.?\s?m\b/g
const CLOCK = /(?<![\d.:,])(\d{1,2}):(\d\d)(?::\d\d)?(?![\d:]|\s?[ap]\.?\s?m\b)/g
const HOURS =
  /(?<![\d.:,])(\d{1,2})(?:[.:](\d\d))?\s?(?:uhr|hrs|ч|godz)(?!\p{L})(?:\s(\d\d)(?!\d))?|(?<![\d.:,])(\d{1,2})\s?h(?:eures?)?\s?(\d\d)?(?![\d\p{L}])/gu
const EAST_ASIAN_CLOCK =
  /(午前|午後|上午|下午|晚上|오전|오후)? ?(?<!\d)(\d{1,2}) ?[時时點点시] ?(?:(\d{1,2}) ?[分분])?/g
const AFTERNOON = new Set(['午後', '下午', '晚上', '오후'])

function timeForms(text: string): string[] {
  const times: string[] = []
  const add = (hour: number, minute: number) => {
    if (hour < 24 && minute < 60) times.push(`time:${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`)
  }
  for (const [, hour, minute, half] of text.matchAll(HALF_DAY))
    if (Number(hour) <= 12) add((Number(hour) % 12) + (half === 'p' ? 12 : 0), Number(minute ?? 0))
  for (const [, hour = '', minute] of text.matchAll(CLOCK)) {
    add(Number(hour), Number(minute))
    // Without a zero before it, it may be an hour of the afternoon.
    if (hour.length === 1 && hour !== '0') add(Number(hour) + 12, Number(minute))
  }
  for (const [, hour, minute, after, short, shortMinute] of text.matchAll(HOURS))
    add(Number(hour ?? short), Number(minute ?? after ?? shortMinute ?? 0))
  if (!/[時时點点시]/.test(text)) return times
  for (const [, half = '', hour, minute] of text.matchAll(EAST_ASIAN_CLOCK)) {
    if (Number(hour) > 23) continue
    add(
      (Number(hour) % 12) + (AFTERNOON.has(half) || (half === '' && Number(hour) >= 12) ? 12 : 0),
      Number(minute ?? 0),
    )
  }
  return times
}
