/** Dates and times of day in a folded text, in the written forms and languages that people use. */

/** A day, month, quarter, half or year; what is not written is absent. */
export interface CalendarDate {
  readonly year?: number
  readonly month?: number
  readonly day?: number
  readonly quarter?: number
  readonly half?: number
  /** 0 is Sunday. */
  readonly weekday?: number
}

export interface DateMention {
  readonly start: number
  readonly end: number
  /** More than one where the order of day and month is open, or a name stands for two months. */
  readonly readings: readonly CalendarDate[]
  /** Digits alone, which may mean something else: "5.10", "2010-12". */
  readonly isLoose: boolean
}

export interface TimeMention {
  readonly start: number
  readonly end: number
  /** Minutes since midnight. */
  readonly minutes: readonly number[]
}

const LOCALES =
  'en de fr es it pt nl sv da nb fi pl cs sk sl hr hu ro bg ru uk el tr id vi ca et lv lt ar fa he hi th'.split(' ')

interface Names {
  readonly months: ReadonlyMap<string, readonly number[]>
  /** Names that are no abbreviations. */
  readonly longMonths: ReadonlySet<string>
  readonly weekdays: ReadonlyMap<string, number>
}

let cachedNames: Names | undefined

/** Built with the first date: the names of all languages take 20 ms. */
function calendarNames(): Names {
  if (cachedNames) return cachedNames
  const months = new Map<string, number[]>()
  const longMonths = new Set<string>()
  const weekdays = new Map<string, number>()
  const plain = (name: string | undefined) => name?.normalize('NFKC').toLowerCase().replace(/\.$/, '') ?? ''
  const isWord = (name: string) => /^\p{L}[\p{L}\p{M}]{2,}$/u.test(name)
  for (const locale of LOCALES) {
    for (const month of ['long', 'short'] as const) {
      for (const options of [{ month, day: 'numeric' }, { month }] as const) {
        const format = new Intl.DateTimeFormat(`${locale}-u-ca-gregory-nu-latn`, { ...options, timeZone: 'UTC' })
        for (let index = 0; index < 12; index += 1) {
          const parts = format.formatToParts(Date.UTC(2024, index, 8))
          const name = plain(parts.find(({ type }) => type === 'month')?.value)
          if (!isWord(name)) continue
          const numbers = months.get(name) ?? []
          if (!numbers.includes(index + 1)) months.set(name, [...numbers, index + 1])
          if (month === 'long') longMonths.add(name)
        }
      }
    }
    const format = new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' })
    for (let day = 0; day < 7; day += 1) {
      const name = plain(format.format(Date.UTC(2024, 8, 1 + day)))
      if (isWord(name) && !weekdays.has(name)) weekdays.set(name, day)
    }
  }
  months.set('sept', [9])
  return (cachedNames = { months, longMonths, weekdays })
}

const ARABIC_MONTHS = /كانون الثاني|شباط|آذار|نيسان|أيار|حزيران|تموز|آب|أيلول|تشرين الأول|تشرين الثاني|كانون الأول/g
const ARABIC_MONTH_NUMBERS: Readonly<Record<string, number>> = { 'كانون الثاني': 1, شباط: 2, آذار: 3, نيسان: 4, أيار: 5, حزيران: 6, تموز: 7, آب: 8, أيلول: 9, 'تشرين الأول': 10, 'تشرين الثاني': 11, 'كانون الأول': 12 } // prettier-ignore

const DAY_FIRST =
  /(?<![\d.,/-])(\d{1,2})(?:\.|st|nd|rd|th|er|re|º|ª|°|o|a|ος|-го|-ші)?(?:[ \n]{1,3}|(?<=\.)|-)(?:(?:of|de|del|di|d'|d’|den|the)[ \n]{1,2})?(\p{L}[\p{L}\p{M}]{2,14})\.?(?:(?:[ \n]{1,3}(?:(?:of|de|del|do|г|in)[ \n]{1,2})?|,[ \n]{0,2}|-|\/)((?:1[0-9]|20|21)\d\d)(?!\d)|[ \n-]['’]?(\d\d)(?![\d.,:%]|[ \n]?(?:%|uhr|\p{L})))?/gu
const MONTH_FIRST =
  /(?<![\p{L}\p{M}\d])(\p{L}[\p{L}\p{M}]{2,14})\.?(?:[ \n]{1,3}(?:the[ \n])?|-)(\d{1,2})(?:st|nd|rd|th)?(?![\d\p{L}]|[.,:]\d|[ \n]?%)(?:(?:,[ \n]{0,2}|[ \n]{1,3}|-)((?:1[0-9]|20|21)\d\d)(?!\d))?/gu
const MONTH_YEAR =
  /(?<![\p{L}\p{M}\d])(\p{L}[\p{L}\p{M}]{2,14})\.?(?:,?[ \n]{1,3}(?:(?:of|de|del|do|di|г)[ \n]{1,2})?|-|\/)(?:((?:1[0-9]|20|21)\d\d)(?!\d)|['’](\d\d)(?!\d))/gu
const YEAR_FIRST =
  /(?<!\d)((?:1[0-9]|20|21)\d\d)[.,]?(?:[ \n]{1,3}|-)(?:[mg]\.[ \n]{1,3})?(\p{L}[\p{L}\p{M}]{2,14})\.?(?:[ \n]{1,3}|-)(\d{1,2})(?![\d\p{L}])/gu
const WORD = /(?<![\p{L}\p{M}\d])\p{L}[\p{L}\p{M}]{2,14}/gu
const NUMERIC =
  /(?<![\d.,/-])(?:(\d{4})([-/.]) ?(\d{1,2})\2 ?(\d{1,2})(?=$|\D)|(\d{1,2})([-/.]) ?(\d{1,2})\6 ?(\d{4}|\d{2})(?![\d/-]|\.\d))/g
const KOREAN = /(?<![\d.,/-])(\d\d)\. (\d{1,2})\. (\d{1,2})\./g
const MONTH_AND_YEAR =
  /(?<![\d.,/-])(?:(0?[1-9]|1[0-2])[/.]((?:19|20)\d\d)(?![\d/-]|[.,]\d)|((?:19|20)\d\d)[-/](0[1-9]|1[0-2])(?![\d/-]|[.,]\d))/g
const NUMERAL = '[\\d〇零一二三四五六七八九十]{1,4}'
const EAST_ASIAN = new RegExp(
  `(?:(${NUMERAL}|(?:令和|平成|昭和|大正|明治) ?(?:${NUMERAL}|元)) ?[年년] ?)?(?:(?<![\\d〇零一二三四五六七八九十])(${NUMERAL}) ?[月월](?!間|間|間)(?: ?(${NUMERAL}) ?[日일号號])?)`,
  'g',
)
const ERAS: Readonly<Record<string, number>> = { 令和: 2018, 平成: 1988, 昭和: 1925, 大正: 1911, 明治: 1867 }
const HAN_DIGITS = '〇一二三四五六七八九'

/** "二〇二四", "三十一" or digits. */
export function numeralValue(written: string): number {
  if (/^\d+$/.test(written)) return Number(written)
  const digits = Array.from(written, (character) => (character === '零' ? 0 : HAN_DIGITS.indexOf(character)))
  if (!written.includes('十')) return Number(digits.join(''))
  const [tens = '', ones = ''] = written.split('十')
  const ten = tens === '' ? 1 : HAN_DIGITS.indexOf(tens)
  return ten * 10 + (ones === '' ? 0 : HAN_DIGITS.indexOf(ones))
}

const QUARTER_WORDS =
  'quarters?|quartals?|trimestres?|trimestri|kwartaal|kvartal|kwartał|kwartale|kwartału|квартал[а-я]{0,2}|四半期|季度|분기|çeyrek|trimestrul'
const ORDINAL_WORDS: Readonly<Record<string, number>> = { first: 1, second: 2, third: 3, fourth: 4, erste: 1, ersten: 1, erstes: 1, zweite: 2, zweiten: 2, zweites: 2, dritte: 3, dritten: 3, drittes: 3, vierte: 4, vierten: 4, viertes: 4, premier: 1, deuxième: 2, troisième: 3, quatrième: 4, primer: 1, segundo: 2, tercer: 3, cuarto: 4, primo: 1, secondo: 2, terzo: 3, quarto: 4, primeiro: 1, terceiro: 3, eerste: 1, tweede: 2, derde: 3, vierde: 4, первый: 1, первом: 1, второй: 2, втором: 2, третий: 3, третьем: 3, четвертый: 4, четвертом: 4 } // prettier-ignore
const ORDINAL = Object.keys(ORDINAL_WORDS).join('|')
const QUARTER = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:q([1-4])|t([1-4])(?=[ /-]?(?:19|20)\\d\\d)|(?:第 ?)?([1-4一二三四])(?:st|nd|rd|th|\\.|er|ère|e|º|°|o|-й|-м)?[ -]?(?:${QUARTER_WORDS})|(${ORDINAL})[ -](?:${QUARTER_WORDS})|([1-4])q)(?![\\p{L}\\p{N}](?<!\\d))(?:(?:[ /-]|[ ]?['’]|,? (?:of|de|del|do|des|van|the|jahres|года|im jahr|fiscal year|fy)[ ]?){0,3}((?:19|20)\\d\\d|(?<=['’])\\d\\d)(?!\\d))?`,
  'gu',
)
const HALF_YEAR = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:[hs]([12])(?=[ /-]?(?:19|20)\\d\\d)|([12])\\.? ?(?:halbjahrs?|semestre|halvår|полугоди[еия])|(first|second|erste[ns]?|zweite[ns]?|premier|deuxième|primer|segundo) (?:half(?: of)?|halbjahr|semestre|hälfte))(?:(?:[ /-]|,? (?:of|de|del|des)[ ]?){0,2}((?:19|20)\\d\\d)(?!\\d))?`,
  'gu',
)

export const fullYear = (year: number) => (year < 70 ? 2000 : 1900) + year
const isDay = (day: number) => day >= 1 && day <= 31
const isMonth = (month: number) => month >= 1 && month <= 12

/** Months whose names are also words or names of people: capitals alone do not make them dates. */
const OTHER_WORDS = new Set(['may', 'march', 'mars', 'august', 'juni', 'set', 'mai', 'avgust', 'ocak', 'mart'])
/** Languages without capitals for months write a preposition before one that stands alone. */
const BEFORE_MONTH = /(?:^|[^\p{L}])(?:in|im|en|em|de|di|del|w|we|v|ve|в|с|i|till|från|od|do|mois de|à|au|van|since|until|by|of|from|seit|bis|ab|to|und|and|ende|anfang|mitte|early|late|mid)[ \n-]$/u // prettier-ignore

function isBareMonth(text: string, original: string, word: string, at: number): boolean {
  const isCapital = original.charAt(at) !== text.charAt(at)
  const isAnnounced = BEFORE_MONTH.test(text.slice(Math.max(0, at - 12), at))
  return OTHER_WORDS.has(word) ? isCapital && isAnnounced : isCapital || isAnnounced
}

/** Calls `read` for each match; where it returns false, the search goes on behind the first word or number. */
function matchEach(text: string, pattern: RegExp, read: (match: RegExpExecArray) => boolean): void {
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    if (!read(match)) {
      const first = /^[\d]+|^[\p{L}\p{M}]+/u.exec(match[0])?.[0].length ?? 1
      pattern.lastIndex = match.index + first
    }
    if (pattern.lastIndex <= match.index) pattern.lastIndex = match.index + 1
  }
}

/** Dates in no particular order; ranges do not overlap. `original` is the text before folding. */
export function findDates(text: string, original: string): DateMention[] {
  const found: DateMention[] = []
  const covered = new Uint8Array(text.length)
  const add = (start: number, end: number, readings: readonly CalendarDate[], isLoose = false): boolean => {
    if (readings.length === 0 || covered[start] === 1 || covered[end - 1] === 1) return readings.length > 0
    covered.fill(1, start, end)
    found.push({ start, end, readings, isLoose })
    return true
  }
  const hasDigits = /\d/.test(text)
  if (/[月월]/.test(text)) {
    matchEach(text, EAST_ASIAN, ({ 0: whole, 1: year, 2: month = '', 3: day, index }) => {
      const number = numeralValue(month)
      if (!isMonth(number)) return true
      const era = year === undefined ? undefined : ERAS[year.slice(0, 2)]
      const of = year?.slice(2).trim().replace('元', '1') ?? ''
      const full = year === undefined ? undefined : era === undefined ? numeralValue(year) : era + numeralValue(of)
      return add(index, index + whole.length, [
        {
          month: number,
          ...(day === undefined ? {} : { day: numeralValue(day) }),
          ...(full === undefined ? {} : { year: full < 100 ? fullYear(full) : full }),
        },
      ])
    })
  }
  const names = calendarNames()
  if (hasDigits) {
    for (const match of text.matchAll(NUMERIC)) {
      const [whole, year, , month, day, first = '', separator, second = '', last = ''] = match
      const end = match.index + whole.length
      if (year !== undefined) {
        if (isMonth(Number(month)) && isDay(Number(day)))
          add(match.index, end, [{ year: Number(year), month: Number(month), day: Number(day) }])
        continue
      }
      if (last.length === 2 && separator === '.' && first.length !== 2 && second.length !== 2) continue
      const full = last.length === 4 ? Number(last) : fullYear(Number(last))
      const [one, other] = [Number(first), Number(second)]
      const readings: CalendarDate[] = []
      if (isMonth(other) && isDay(one)) readings.push({ year: full, month: other, day: one })
      // A full stop separates the day from the month, in this order; a stroke either.
      if (separator !== '.' && isMonth(one) && isDay(other) && one !== other)
        readings.push({ year: full, month: one, day: other })
      add(match.index, end, readings, last.length === 2)
    }
    for (const { 0: whole, 1: year, 2: month, 3: day, index } of text.matchAll(KOREAN))
      if (isMonth(Number(month)) && isDay(Number(day)))
        add(
          index,
          index + whole.length,
          [{ year: fullYear(Number(year)), month: Number(month), day: Number(day) }],
          true,
        )
    const monthsOf = (name: string | undefined) => names.months.get(name ?? '') ?? []
    const dated = (months: readonly number[], day: string | undefined, year: number | undefined) =>
      months.map((month) => ({
        month,
        ...(day === undefined ? {} : { day: Number(day) }),
        ...(year === undefined ? {} : { year }),
      }))
    const yearOf = (year: string | undefined, short?: string) =>
      year !== undefined ? Number(year) : short !== undefined ? fullYear(Number(short)) : undefined
    matchEach(text, YEAR_FIRST, ({ 0: whole, 1: year, 2: name, 3: day, index }) => {
      const months = monthsOf(name)
      return (
        months.length > 0 && isDay(Number(day)) && add(index, index + whole.length, dated(months, day, yearOf(year)))
      )
    })
    matchEach(text, DAY_FIRST, ({ 0: whole, 1: day, 2: name, 3: year, 4: short, index }) => {
      const months = monthsOf(name)
      return months.length > 0 && isDay(Number(day)) && add(index, index + whole.length, dated(months, day, yearOf(year, short))) // prettier-ignore
    })
    matchEach(text, MONTH_FIRST, ({ 0: whole, 1: name, 2: day, 3: year, index }) => {
      const months = monthsOf(name)
      return months.length > 0 && isDay(Number(day)) && covered[index] === 0 && add(index, index + whole.length, dated(months, day, yearOf(year))) // prettier-ignore
    })
    matchEach(text, MONTH_YEAR, ({ 0: whole, 1: name, 2: year, 3: short, index }) => {
      const months = monthsOf(name)
      return months.length > 0 && covered[index] === 0 && add(index, index + whole.length, dated(months, undefined, yearOf(year, short))) // prettier-ignore
    })
    for (const { 0: whole, 1: month, 2: year, 3: otherYear, 4: otherMonth, index } of text.matchAll(MONTH_AND_YEAR))
      add(index, index + whole.length, [{ year: Number(year ?? otherYear), month: Number(month ?? otherMonth) }], true)
    if (/[أ-ي]/.test(text))
      for (const { 0: name, index } of text.matchAll(ARABIC_MONTHS)) {
        const day = /(\d{1,2}) $/.exec(text.slice(Math.max(0, index - 3), index))
        const year = /^ ((?:19|20)\d\d)/.exec(text.slice(index + name.length, index + name.length + 5))
        const month = ARABIC_MONTH_NUMBERS[name]
        if (month !== undefined && (day || year))
          add(index - (day?.[0].length ?? 0), index + name.length + (year?.[0].length ?? 0), dated([month], day?.[1], yearOf(year?.[1]))) // prettier-ignore
      }
    for (const match of text.matchAll(QUARTER)) {
      const { 0: whole, 1: q, 2: t, 3: number, 4: word, 5: last, 6: year, index } = match
      const quarter = word === undefined ? numeralValue(q ?? t ?? number ?? last ?? '') : ORDINAL_WORDS[word]
      const full = year === undefined ? undefined : year.length === 2 ? fullYear(Number(year)) : Number(year)
      if (quarter !== undefined) add(index, index + whole.length, [{ quarter, ...(full === undefined ? {} : { year: full }) }]) // prettier-ignore
    }
    for (const { 0: whole, 1: short, 2: number, 3: word = '', 4: year, index } of text.matchAll(HALF_YEAR)) {
      const half = Number(short ?? number ?? (/^(?:second|zweite|deux|segundo)/.test(word) ? 2 : 1))
      add(index, index + whole.length, [{ half, ...(year === undefined ? {} : { year: Number(year) }) }])
    }
  } else {
    for (const { 0: whole, 4: word, index } of text.matchAll(QUARTER)) {
      const quarter = ORDINAL_WORDS[word ?? '']
      if (quarter !== undefined) add(index, index + whole.length, [{ quarter }])
    }
  }
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (covered[index] === 1) continue
    const weekday = names.weekdays.get(word)
    if (weekday !== undefined && word.length > 4) add(index, index + word.length, [{ weekday }])
    else if (names.longMonths.has(word) && word.length > 2 && isBareMonth(text, original, word, index))
      add(
        index,
        index + word.length,
        (names.months.get(word) ?? []).map((month) => ({ month })),
        true,
      )
  }
  return found
}

const HALF_DAY = /(?<![\d.:,])(\d{1,2})(?:[:.h](\d\d)(?::\d\d)?)? ?([ap])\.? ?m\b\.?/g
const CLOCK = /(?<![\d.:,])(\d{1,2}):(\d\d)(?::\d\d)?(?![\d:]| ?[ap]\.? ?m\b)(?: ?(?:uhr|hrs|h|ч)(?!\p{L}))?/gu
const HOURS =
  /(?<![\d.:,])(\d{1,2})(?:[.:](\d\d))? ?(?:uhr|hrs|o'clock|o’clock|godz)(?!\p{L})(?: (\d\d)(?![\d.,]))?|(?<![\d.:,])(\d{1,2}) ?h(?:eures?)? ?(\d\d)(?![\d\p{L}])/gu
const EAST_ASIAN_CLOCK =
  /(午前|午後|上午|下午|晚上|早上|오전|오후)? ?(?<!\d)(\d{1,2}) ?[時时點点시](?!間|间|간) ?(?:(\d{1,2}) ?[分분]|(半|반))?/g
const AFTERNOON = new Set(['午後', '下午', '晚上', '오후'])
const HOUR_WORDS: Readonly<Record<string, number>> = { one: 1, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8, nine: 9, ten: 10, eleven: 11, twelve: 12, eins: 1, zwei: 2, drei: 3, vier: 4, fünf: 5, sechs: 6, sieben: 7, acht: 8, neun: 9, zehn: 10, elf: 11, zwölf: 12 } // prettier-ignore
const SPOKEN = new RegExp(
  `(?<!\\p{L})(half past|quarter past|quarter to|halb|viertel nach|viertel vor) (\\d{1,2}|${Object.keys(HOUR_WORDS).join('|')})(?![\\p{L}\\d])`,
  'gu',
)
const SPOKEN_MINUTES: Readonly<Record<string, number>> = { 'half past': 30, 'quarter past': 15, 'quarter to': -15, halb: -30, 'viertel nach': 15, 'viertel vor': -15 } // prettier-ignore
const NOON = /(?<!\p{L})(?:at|until|by|from|before|after|um|bis) (noon|midnight|mitternacht)(?!\p{L})/gu

/** Times of day. An hour from 1 to 11 that does not tell its half of the day may be either. */
export function findTimes(text: string): TimeMention[] {
  const found: TimeMention[] = []
  const covered = new Uint8Array(text.length)
  const add = (start: number, end: number, hour: number, minute: number, isOpen: boolean) => {
    if (hour > 24 || minute > 59 || covered[start] === 1 || covered[end - 1] === 1) return
    covered.fill(1, start, end)
    const at = (hour % 24) * 60 + minute
    found.push({ start, end, minutes: isOpen && hour < 12 ? [at, at + 720] : [at] })
  }
  if (/\d/.test(text)) {
    for (const { 0: whole, 1: hour, 2: minute, 3: half, index } of text.matchAll(HALF_DAY))
      if (Number(hour) <= 12) add(index, index + whole.length, (Number(hour) % 12) + (half === 'p' ? 12 : 0), Number(minute ?? 0), false) // prettier-ignore
    for (const { 0: whole, 1: hour = '', 2: minute, index } of text.matchAll(CLOCK))
      add(index, index + whole.length, Number(hour), Number(minute), hour.length === 1)
    for (const { 0: whole, 1: hour, 2: minute, 3: after, 4: short, 5: shortMinute, index } of text.matchAll(HOURS))
      add(index, index + whole.length, Number(hour ?? short), Number(minute ?? after ?? shortMinute ?? 0), (hour ?? short ?? '').length === 1) // prettier-ignore
    if (/[時时點点시]/.test(text))
      for (const { 0: whole, 1: half = '', 2: hour, 3: minute, 4: thirty, index } of text.matchAll(EAST_ASIAN_CLOCK)) {
        const isLate = AFTERNOON.has(half) && Number(hour) < 12
        add(
          index,
          index + whole.length,
          Number(hour) + (isLate ? 12 : 0),
          thirty ? 30 : Number(minute ?? 0),
          half === '',
        )
      }
  }
  for (const { 0: whole, 1: word = '', 2: hour = '', index } of text.matchAll(SPOKEN)) {
    const minutes = (HOUR_WORDS[hour] ?? Number(hour)) * 60 + (SPOKEN_MINUTES[word] ?? 0)
    add(index, index + whole.length, Math.floor(minutes / 60), minutes % 60, true)
  }
  for (const { 0: whole, 1: word, index } of text.matchAll(NOON))
    add(index + whole.length - (word?.length ?? 0), index + whole.length, word === 'noon' ? 12 : 0, 0, false)
  return found
}
