/** Figures of a text: numbers with their units, dates, times of day, and codes such as "EN-50128". Pure. */
import { hanValue } from '#server/search/text/read-han-numerals.ts'
import { type CalendarDate, findDates, findTimes } from './calendar.ts'
import { blankOut, foldText } from './fold-text.ts'
import { findNumberWords } from './number-words.ts'
import { measureAt, measureBefore, type Unit } from './units.ts'

interface Place {
  readonly start: number
  readonly end: number
}

/** `step` is the value of the last written digit: 0.1 for "1.5", 100,000 for "1.5 million". */
export interface Reading {
  readonly value: number
  readonly step: number
}

export interface NumberFigure extends Place {
  readonly kind: 'number'
  /** More than one where separators or a letter leave it open: "1.500" is fifteen hundred or one and a half. */
  readonly readings: readonly Reading[]
  readonly unit: Unit | undefined
  readonly isNegative: boolean
  readonly isWord: boolean
  readonly isOrdinal: boolean
  /** A magnitude is written with it. */
  readonly isScaled: boolean
  /** Digits that are not zeros at the end. */
  readonly significant: number
  readonly hasDecimals: boolean
}

export interface DateFigure extends Place {
  readonly kind: 'date'
  readonly readings: readonly CalendarDate[]
  readonly isLoose: boolean
}

export interface TimeFigure extends Place {
  readonly kind: 'time'
  readonly minutes: readonly number[]
}

/** An identifier, an address of the web or a mailbox, a telephone number. */
export interface CodeFigure extends Place {
  readonly kind: 'code' | 'address' | 'phone'
  readonly written: string
}

export type Figure = NumberFigure | DateFigure | TimeFigure | CodeFigure

const ADDRESS =
  /(?:https?:\/\/|www\.)[^\s<>"'“”()[\]|]{3,300}|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}|(?<![\p{L}\p{N}@./-])[a-z0-9-]{2,63}(?:\.[a-z0-9-]{2,63}){0,3}\.(?:com|org|net|edu|gov|io|de|fr|eu|uk|at|ch|es|it|nl|pl|ru|cn|jp|kr|info|int|example|app|dev)(?![\p{L}\p{N}-])(?:\/[^\s<>"'“”()[\]|]{0,200})?/gu
const PHONE =
  /(?<![\p{L}\p{N}.,/-])(?:\+ ?\d|\(\+?\d|0\d|\d{2,4}[ .-]\d)(?:[ .\-–/()]{0,3}\d){5,16}(?![\p{L}\p{N}]|[.,]\d)/gu
const PHONE_WORD = /(?:tel|phone|fax|fon|mobil|handy|call|ruf|电话|電話|telefon|téléphone|teléfono|telefone|hotline|whatsapp)[^\n\d+(]{0,12}$/u // prettier-ignore
const CHAIN = /(?<![\d.,])\d{1,4}(?:\.\d{1,4}){2,6}(?![\d])/g
const GROUPED = /^\d{1,3}(?:[ .,'’]\d{3})+$/
const CODE = /(?<![\p{L}\p{N}])[\p{Lu}\p{Ll}][\p{Lu}\p{Ll}\p{N}]{0,30}(?:[-_/.:][\p{Lu}\p{Ll}\p{N}]{1,30}){0,6}(?![\p{L}\p{N}])|(?<![\p{L}\p{N}.,])\d[\p{Lu}\p{N}]{0,40}(?:[-_/][\p{Lu}\p{N}]{1,30}){0,6}(?![\p{L}\p{N}])/gu // prettier-ignore

const NUMBER =
  /(?<!\d)(?:\d{1,3}([ '’.,])\d{3}(?:\1\d{3}){0,5}(?!\d)(?:[.,]\d{1,12}(?!\d))?|\d{1,2}(?:,\d{2}){1,4},\d{3}(?!\d)(?:\.\d{1,4})?|\d{1,18}(?:[.,]\d{1,15}(?!\d))?)/g
const FRACTIONS: Readonly<Record<string, number>> = { '½': 0.5, '¼': 0.25, '¾': 0.75, '⅓': 1 / 3, '⅔': 2 / 3, '⅛': 0.125 } // prettier-ignore
const SUPERSCRIPT = /[²³¹⁰-⁹]/

/** Readings of digits with separators. */
export function readDigits(written: string): Reading[] {
  const decimal = (digits: string, mark: string): Reading => {
    const [whole = '', part = ''] = digits.split(mark)
    return { value: Number(`${whole}.${part}`), step: 10 ** -part.length }
  }
  const whole = (digits: string): Reading => ({ value: Number(digits), step: 1 })
  const marks = [...new Set(written.replace(/\d/g, ''))]
  const [first, second] = marks
  if (first === undefined) return [whole(written)]
  if (second !== undefined) return [decimal(written.replaceAll(first, ''), second)]
  if (first !== '.' && first !== ',') return [whole(written.replaceAll(first, ''))]
  const groups = written.split(first)
  if (groups.length > 2) return [whole(groups.join(''))]
  const [head = '', tail = ''] = groups
  if (tail.length !== 3 || head.length > 3 || /^0/.test(head)) return [decimal(written, first)]
  return [whole(groups.join('')), decimal(written, first)]
}

const significantDigits = (written: string): number =>
  written.replace(/\D/g, '').replace(/^0+/, '').replace(/0+$/, '').length

const HAN_NUMBER = /[〇零一二三四五六七八九十百千万萬億亿兆]{1,15}/g
const HAN_UNIT_ALONE = /^[万萬億亿兆百千]$/
/** Follows a single numeral that counts; without one, it is rather part of a word (一般, 三角). */
const HAN_COUNTER =
  /^[ ]?(?:名|人|個|个|件|回|次|条|條|項|款|章|節|节|号|號|階|楼|点|點|倍|割|社|本|枚|台|位|种|種|项|者|つ|歳|岁)/

const YEAR_UNIT = 'months'

/** "2024年" and "2024 год" name a year, not a duration. */
export const isYear = (value: number): boolean => Number.isInteger(value) && value >= 1_000 && value <= 2_199

interface Draft {
  readonly start: number
  readonly end: number
  readonly readings: readonly Reading[]
  readonly isWord: boolean
  readonly isOrdinal: boolean
  readonly significant: number
  readonly hasDecimals: boolean
}

const ADJECTIVE = /^ \p{Ll}{4,18}(?= )/u
const ADJECTIVE_CHARACTERS = 20
const DURATIONS = new Set(['days', 'months'])

const LABEL: Unit = { family: 'label', factor: 1 }
const LABEL_WORD =
  /(?:§|№|#|(?:^|[^\p{L}])(?:art|article|articles|artikel|artikels|artículo|articolo|artigo|artykuł|section|sections|sec|abs|absatz|abschnitt|kapitel|chapter|chapitre|capítulo|clause|paragraph|paragraphs|ziffer|nummer|nr|no|table|tabelle|tableau|tabla|figure|fig|abb|abbildung|annex|anhang|anlage|annexe|appendix|item|version|статья|статьи|пункт|пункта|раздел)\.?|第) ?$/u
const LABEL_CHARACTERS = 16

/** "§ 4", "Article 4", "(4)" and "4." at the start of a line name a part of a text and count nothing. */
function isLabelled(text: string, { start, end, hasDecimals, isWord }: Draft): boolean {
  const before = text.slice(Math.max(0, start - LABEL_CHARACTERS), start)
  if (LABEL_WORD.test(before)) return true
  if (hasDecimals || isWord) return false
  const after = text.slice(end, end + 2)
  const isAtLineStart = /(?:^|\n) *\(?$/.test(before) && (start < LABEL_CHARACTERS || before.includes('\n'))
  if (isAtLineStart && /^[.)](?:\s|$)/.test(after)) return true
  return before.endsWith('(') && after.startsWith(')') && end - start <= 2
}

function measured(text: string, draft: Draft): NumberFigure {
  const before = measureBefore(text, draft.start)
  let after = measureAt(text, draft.end)
  const first = draft.readings[0]
  if (first && after.unit?.family === YEAR_UNIT && after.magnitude === 1 && first.step === 1 && isYear(first.value))
    after = { magnitude: 1, unit: undefined, end: draft.end }
  if (!before && !after.unit && after.magnitude === 1) {
    // "Three calendar months", "30 further days".
    const word = ADJECTIVE.exec(text.slice(draft.end, draft.end + ADJECTIVE_CHARACTERS))?.[0]
    const behind = word === undefined ? undefined : measureAt(text, draft.end + word.length)
    if (behind?.unit && behind.magnitude === 1 && DURATIONS.has(behind.unit.family)) after = behind
  }
  const magnitude = (before?.magnitude ?? 1) * after.magnitude
  const scale = (factor: number) =>
    draft.readings.map(({ value, step }) => ({ value: value * factor, step: step * factor }))
  // "$5m" is an amount, "5m" is one or a length.
  const other = after.otherMagnitude
  const isAmount = other !== undefined && before !== undefined
  const unit = isAmount ? before.unit : (after.unit ?? before?.unit)
  const start = before?.start ?? draft.start
  const isLabel = unit === undefined && magnitude === 1 && isLabelled(text, draft)
  const sign = text.slice(Math.max(0, start - 2), start)
  return {
    ...draft,
    kind: 'number',
    start,
    end: after.end,
    readings: isAmount ? scale(other) : [...scale(magnitude), ...(other === undefined ? [] : scale(other))],
    unit: isLabel ? LABEL : unit,
    isNegative: /(?:^|[\s(|:])-$/.test(sign) && !draft.isWord,
    isScaled: magnitude !== 1 || isAmount,
  }
}

/** "3万5千", "1億2000万": amounts of which every part has its own magnitude. */
function joinParts(figures: readonly NumberFigure[]): NumberFigure[] {
  const joined: NumberFigure[] = []
  for (const figure of figures) {
    const last = joined.at(-1)
    const [one, other] = [last?.readings[0], figure.readings[0]]
    const isPart =
      last?.end === figure.start && last.isScaled && !last.unit && one && other && other.value < one.step // prettier-ignore
    if (last && isPart) {
      joined[joined.length - 1] = {
        ...figure,
        start: last.start,
        readings: [{ value: one.value + other.value, step: other.step }],
        isScaled: true,
        significant: last.significant + figure.significant,
      }
    } else joined.push(figure)
  }
  return joined
}

const RANGE =
  /^[ ]?(?:[-–—~/]|to|bis|and|und|or|oder|à|et|ou|a|y|o|e|и|до|al|en|tot|till|do|i|から|至|到|〜|～)[ ]?(?:zu )?$|^(?: %)?[ ]?[-–—][ ]?$/u

/** "3-5 km", "between 1 and 2 million": the first number has the unit of the second. */
function shareUnits(text: string, figures: readonly NumberFigure[]): NumberFigure[] {
  const shared = [...figures]
  for (let index = shared.length - 2; index >= 0; index -= 1) {
    const [figure, next] = [shared[index], shared[index + 1]]
    if (!figure || !next || next.start - figure.end > 6 || !RANGE.test(text.slice(figure.end, next.start))) continue
    if (figure.unit === undefined && next.unit !== undefined) shared[index] = { ...figure, unit: next.unit }
    if (!figure.isScaled && next.isScaled) {
      const magnitude = magnitudeOf(next)
      const scaled = figure.readings.map(({ value, step }) => ({ value: value * magnitude, step: step * magnitude }))
      shared[index] = { ...(shared[index] ?? figure), readings: [...scaled, ...figure.readings], isScaled: true }
    }
  }
  return shared
}

/** The magnitude that a scaled figure was written with, from its last digit. */
function magnitudeOf({ readings, hasDecimals }: NumberFigure): number {
  const step = readings[0]?.step ?? 1
  return hasDecimals ? 10 ** (Math.ceil(Math.log10(step) / 3) * 3) : step
}

interface FigureOptions {
  /** Languages whose words for numbers are read wherever they occur. */
  readonly languages: readonly string[]
  /** A source: ambiguous writing yields every reading, and dates and times yield their numbers as well. */
  readonly isSource: boolean
}

const isCode = (written: string): boolean => /\p{L}/u.test(written) && /\d/.test(written)
/** "5km", "3rd", "1990s", "24h", "2024-jährig": numbers with a unit or an ending. */
const NUMBER_WITH_ENDING = /^\d[\d.,]*-?(?:\p{Ll}+|[KMBT]|km|kWh|MW|GB|MB|Hz)$/u
/** "mid-2024", "Covid-19" is none of these. */
const WORD_AND_NUMBER = /^\p{Ll}+-\d+$/u

function findCodes(text: string, original: string): CodeFigure[] {
  const codes: CodeFigure[] = []
  for (const { 0: written, index } of original.matchAll(CODE)) {
    if (!isCode(written) || /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u.test(written)) continue
    if (NUMBER_WITH_ENDING.test(written) || WORD_AND_NUMBER.test(written)) continue
    if (/^\d/.test(written) && measureAt(text, index + (/^\d+/.exec(written)?.[0].length ?? 0)).end === index + written.length) continue // prettier-ignore
    if (text.charAt(index) === '\ufffc') continue
    codes.push({
      kind: 'code',
      start: index,
      end: index + written.length,
      written: text.slice(index, index + written.length),
    })
  }
  return codes
}

/** Figures in the order of the text. Ranges overlap only in sources. */
export function findFigures(original: string, { languages, isSource }: FigureOptions): Figure[] {
  const folded = foldText(original)
  const figures: Figure[] = []
  const addresses = [...folded.matchAll(ADDRESS)].map(({ 0: written, index }): CodeFigure => {
    const plain = written.replace(/[.,;:!?'’]+$/, '')
    return { kind: 'address', start: index, end: index + plain.length, written: plain }
  })
  figures.push(...addresses)
  let text = blankOut(folded, addresses)
  const dates = findDates(text, original)
  figures.push(...dates.map((date) => ({ ...date, kind: 'date' as const })))
  text = blankOut(text, isSource ? dates.filter(({ isLoose }) => !isLoose) : dates)
  const times = findTimes(text)
  figures.push(...times.map((time) => ({ ...time, kind: 'time' as const })))
  if (!isSource) text = blankOut(text, times)
  const phones = [...text.matchAll(PHONE)].flatMap(({ 0: written, index }): CodeFigure[] => {
    const digits = written.replace(/\D/g, '')
    const isNamed = PHONE_WORD.test(text.slice(Math.max(0, index - 24), index))
    const isPhone = /^[+(0]/.test(written) || isNamed || /^\d{2,4}[ .-]\d{2,4}[ .-]\d{2,4}[ .-]\d{2,4}$/.test(written)
    if (digits.length < 7 || digits.length > 15 || !isPhone || GROUPED.test(written) || /^0[.,]\d+$/.test(written)) return [] // prettier-ignore
    return [{ kind: 'phone', start: index, end: index + written.length, written: digits }]
  })
  figures.push(...phones)
  if (!isSource) text = blankOut(text, phones)
  const chains = [...text.matchAll(CHAIN)]
    .filter(([written]) => !GROUPED.test(written))
    .map(({ 0: written, index }): CodeFigure => ({ kind: 'code', start: index, end: index + written.length, written }))
  const codes = [...findCodes(text, original), ...chains]
  figures.push(...codes)
  if (!isSource) text = blankOut(text, codes)
  figures.push(...findNumbers(text, { languages, isSource }))
  return figures.toSorted((one, other) => one.start - other.start)
}

function findNumbers(text: string, { languages, isSource }: FigureOptions): NumberFigure[] {
  const drafts: Draft[] = []
  if (/\d/.test(text))
    for (const { 0: written, 1: separator, index } of text.matchAll(NUMBER)) {
      if (SUPERSCRIPT.test(text.charAt(index))) continue
      const readings = readDigits(written)
      const draft = {
        start: index,
        end: index + written.length,
        readings,
        isWord: false,
        isOrdinal: false,
        significant: significantDigits(written),
        hasDecimals: (readings[0]?.step ?? 1) < 1,
      }
      drafts.push(draft)
      // Cells of a table stand side by side: "12 345 678" may be three numbers.
      if (
        isSource &&
        separator === ' ' &&
        !/^[ -]?\p{L}/u.test(text.slice(draft.end, draft.end + 2)) &&
        measureAt(text, draft.end).unit === undefined
      )
        drafts.push(...partsOf(written, index))
    }
  for (const { 0: numeral, index } of text.matchAll(HAN_NUMBER)) {
    const value = HAN_UNIT_ALONE.test(numeral) ? undefined : hanValue(numeral)
    const end = index + numeral.length
    if (value === undefined || /\d ?$/.test(text.slice(Math.max(0, index - 2), index))) continue
    const isCounted =
      numeral.length > 1 || HAN_COUNTER.test(text.slice(end, end + 3)) || text.charAt(index - 1) === '第'
    if (!isCounted && measureAt(text, end).unit === undefined) continue
    drafts.push({ start: index, end, readings: [{ value, step: 1 }], isWord: true, isOrdinal: false, significant: 2, hasDecimals: false }) // prettier-ignore
  }
  for (const { value, start, end, isOrdinal } of findNumberWords(text, languages))
    drafts.push({ start, end, readings: [{ value, step: 1 }], isWord: true, isOrdinal, significant: significantDigits(String(value)), hasDecimals: false }) // prettier-ignore
  for (const { 0: written, index } of text.matchAll(/(\d{1,4})?[½¼¾⅓⅔⅛]/g)) {
    const value = Number(/^\d+/.exec(written)?.[0] ?? 0) + (FRACTIONS[written.slice(-1)] ?? 0)
    drafts.push({ start: index, end: index + written.length, readings: [{ value, step: 0.01 }], isWord: false, isOrdinal: false, significant: 2, hasDecimals: true }) // prettier-ignore
  }
  drafts.sort((one, other) => one.start - other.start || one.end - other.end)
  const figures = joinParts(drafts.map((draft) => measured(text, draft)))
  let end = 0
  // "184 thousand": the word belongs to the digits.
  const apart = figures.filter((figure) => {
    const isPart = figure.isWord && figure.start < end
    end = Math.max(end, figure.end)
    return !isPart
  })
  return shareUnits(text, apart)
}

/** Every run of neighbouring groups of "12 345 678", but not the whole. */
function partsOf(written: string, at: number): Draft[] {
  const groups = [...written.matchAll(/[\d.,]+/g)]
  const parts: Draft[] = []
  for (let from = 0; from < groups.length; from += 1) {
    for (let to = from; to < groups.length; to += 1) {
      if (from === 0 && to === groups.length - 1) continue
      const [first, last] = [groups[from], groups[to]]
      if (!first || !last) continue
      const part = written.slice(first.index, last.index + last[0].length)
      parts.push({ start: at + first.index, end: at + first.index + part.length, readings: readDigits(part), isWord: false, isOrdinal: false, significant: significantDigits(part), hasDecimals: false }) // prettier-ignore
    }
  }
  return parts
}
