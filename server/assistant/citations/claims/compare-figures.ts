/** Whether a figure of an answer is in a text: in any written form, rounded as it is written, in another unit of its kind. Pure. */
import { type CalendarDate, fullYear } from './calendar.ts'
import { type CodeFigure, type DateFigure, type Figure, findFigures, isYear, type NumberFigure, type Reading, type TimeFigure } from './figures.ts' // prettier-ignore
import { foldText } from './fold-text.ts'
import { type Unit, unattachedMagnitudes } from './units.ts'

/** A text with its figures, read once for all claims that are compared with it. */
export interface FigureText {
  /** Folded, with single blanks. */
  readonly text: string
  /** With the offsets of `numbers`. */
  readonly folded: string
  /** Letters and digits alone. */
  readonly squashed: string
  readonly numbers: readonly NumberFigure[]
  readonly dates: readonly CalendarDate[]
  readonly times: readonly number[]
  readonly phones: readonly string[]
  readonly years: ReadonlySet<number>
  /** Magnitudes of columns: a number may be in thousands although it does not say so. */
  readonly magnitudes: readonly number[]
  /** Lengths of its lists and enumerations. */
  readonly itemCounts: ReadonlySet<number>
}

const squash = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, '')
const SHORT_YEAR = /(?:(?:19|20)\d\d[/–-]|fy ?|['’])(\d\d)(?!\d)/g

const DIRECTION_MARKS = /[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g

export function readFigureText(given: string, languages: readonly string[]): FigureText {
  const original = given.replace(DIRECTION_MARKS, '')
  const figures = findFigures(original, { languages, isSource: true })
  const folded = foldText(original)
  const numbers = figures.filter((figure) => figure.kind === 'number')
  const dates = figures.filter((figure) => figure.kind === 'date').flatMap(({ readings }) => readings)
  const years = new Set(dates.flatMap(({ year }) => year ?? []))
  for (const { readings } of numbers) for (const { value } of readings) if (isYear(value)) years.add(value)
  for (const [, short] of folded.matchAll(SHORT_YEAR)) years.add(fullYear(Number(short)))
  return {
    text: folded.replace(/\s+/g, ' '),
    folded,
    squashed: squash(folded),
    numbers,
    dates,
    times: figures.filter((figure) => figure.kind === 'time').flatMap(({ minutes }) => minutes),
    phones: figures.flatMap((figure) => (figure.kind === 'phone' ? [figure.written.replace(/^0+/, '')] : [])),
    years,
    magnitudes: unattachedMagnitudes(folded),
    itemCounts: countItems(folded),
  }
}

const LIST_LINE = /^\s{0,12}(?:[-*•‣▪–·]|\(?[a-z\d]{1,3}[.)])\s/
const CONJUNCTION = / (?:and|und|et|y|e|og|och|en|i|и|or|oder|ou|o) /

function countItems(text: string): ReadonlySet<number> {
  const counts = new Set<number>()
  let run = 0
  for (const line of text.split('\n')) {
    if (LIST_LINE.test(line)) counts.add((run += 1))
    else if (line.trim() === '') run = 0
  }
  for (const segment of text.split(/[.;:\n]/)) {
    const parts = segment.split(', ')
    const last = parts.at(-1) ?? ''
    if (parts.length > 1 && CONJUNCTION.test(` ${last}`)) counts.add(/^(?:and|und|et|y|e|og|och|en|i|и|or) /.test(last) ? parts.length : parts.length + 1) // prettier-ignore
  }
  return counts
}

/** How a figure is said to differ from the exact one. */
export type Approximation = 'about' | 'below' | 'above' | undefined

export interface ClaimContext {
  readonly approximation: Approximation
  /** Magnitudes that the answer writes apart from its numbers, as in the title of its table. */
  readonly magnitudes: readonly number[]
}

const EPSILON = 1e-9
const isEqual = (one: number, other: number) =>
  Math.abs(one - other) <= EPSILON * Math.max(1, Math.abs(one), Math.abs(other))

interface Conversion {
  /** Multiplies a value of the source so that it is in the unit of the claim. */
  readonly factor: number
  readonly offset: number
  readonly isExact: boolean
}

const SAME: Conversion = { factor: 1, offset: 0, isExact: true }

/** Undefined where the units exclude each other. A number without a unit may be in any: a table names it elsewhere. */
function conversion(claim: Unit | undefined, fact: Unit | undefined): Conversion | undefined {
  if (claim?.family === 'label' || fact?.family === 'label')
    return !claim || !fact || claim.family === fact.family ? SAME : undefined
  if (!claim || !fact) return SAME
  if (claim.family === fact.family) return { factor: fact.factor / claim.factor, offset: 0, isExact: claim.factor === fact.factor } // prettier-ignore
  if (claim.family === 'fahrenheit' && fact.family === 'celsius') return { factor: 1.8, offset: 32, isExact: false }
  if (claim.family === 'celsius' && fact.family === 'fahrenheit') return { factor: 1 / 1.8, offset: -32 / 1.8, isExact: false } // prettier-ignore
  if (claim.family === 'angle' && /celsius|fahrenheit/.test(fact.family)) return SAME
  if (fact.family === 'angle' && /celsius|fahrenheit/.test(claim.family)) return SAME
  return undefined
}

/** Zeros at the end of a whole number are rounded off as well: the step of "5,000" is a thousand. */
function coarseStep({ value, step }: Reading): number {
  let coarse = step
  while (coarse < Math.abs(value) && isEqual(Math.round(value / (coarse * 10)) * coarse * 10, value)) coarse *= 10
  // "250" and "15" are rounded as "200" and "10" are.
  return coarse
}

const MAX_ROUNDING = 0.1

function isRounded(claim: Reading, fact: number, step: number): boolean {
  return Math.abs(claim.value - fact) <= step / 2 + EPSILON * Math.abs(fact)
}

function isApproximately(claim: Reading, fact: number, approximation: Approximation): boolean {
  if (approximation === undefined) return false
  const step = Math.max(coarseStep(claim), claim.step)
  const distance = fact - claim.value
  if (Math.abs(distance) > MAX_ROUNDING * Math.abs(fact)) return false
  if (isRounded(claim, fact, step)) return true
  return approximation === 'below' ? distance <= 0 && -distance < step : approximation === 'above' && distance >= 0 && distance < step // prettier-ignore
}

/** "12 %" is a usual way to write 11.9 %, but 12 of 11.9 metres or the fifth of 4.9 is not. */
const mayBeRounded = ({ significant, hasDecimals, isScaled, unit }: NumberFigure) =>
  significant >= 2 && (hasDecimals || isScaled || unit?.family === 'percent')

const SIGNED_FAMILIES = new Set(['celsius', 'fahrenheit'])

/** Readings of a number, also in the magnitudes that the answer writes apart from it. */
const readingsIn = ({ isScaled, readings }: NumberFigure, { magnitudes }: ClaimContext): readonly Reading[] =>
  isScaled
    ? readings
    : [1, ...magnitudes].flatMap((magnitude) =>
        readings.map(({ value, step }) => ({ value: value * magnitude, step: step * magnitude })),
      )

interface NumberClaim {
  readonly claim: NumberFigure
  readonly readings: readonly Reading[]
  readonly approximation: Approximation
}

function matchesNumber({ claim, readings, approximation }: NumberClaim, fact: NumberFigure, text: FigureText): boolean {
  const converted = conversion(claim.unit, fact.unit)
  if (!converted) return false
  // "Seven directors" are no seven days; a table writes digits.
  if (fact.isWord && !fact.isOrdinal && !fact.unit && claim.unit) return false
  if (claim.isWord && !claim.isOrdinal && !claim.unit && fact.unit && fact.unit.family !== 'label') return false
  const isSigned = claim.unit !== undefined && SIGNED_FAMILIES.has(claim.unit.family)
  if (isSigned && claim.isNegative !== fact.isNegative && fact.unit !== undefined) return false
  const isPercent = claim.unit?.family === 'percent'
  // A sheet stores 12 % as 0.12.
  const factors = isPercent && fact.unit === undefined ? [1, 100] : [1]
  if (!fact.isScaled && fact.unit?.family !== 'percent') factors.push(...text.magnitudes)
  const rounds = mayBeRounded(claim) && !isYearClaim(claim)
  for (const given of readings) {
    for (const reading of fact.readings) {
      for (const factor of factors) {
        const value = reading.value * factor * converted.factor + converted.offset
        const step = reading.step * factor * converted.factor
        if (isEqual(given.value, value)) return true
        if (!converted.isExact && isRounded(given, value, given.step)) return true
        if (rounds && step < given.step && isRounded(given, value, given.step)) return true
        if (!isYearClaim(claim) && isApproximately(given, value, approximation)) return true
      }
    }
  }
  return false
}

export const isYearClaim = ({ readings, unit, isScaled, isWord, end, start }: NumberFigure): boolean =>
  !unit && !isScaled && !isWord && end - start === 4 && isYear(readings[0]?.value ?? 0)

function weekdayOf({ year, month, day }: CalendarDate): number | undefined {
  if (year === undefined || month === undefined || day === undefined) return undefined
  return new Date(Date.UTC(year, month - 1, day)).getUTCDay()
}

function matchesDate(claim: CalendarDate, { dates, years }: Pick<FigureText, 'dates' | 'years'>): boolean {
  return dates.some((fact) => {
    if (claim.weekday !== undefined) return fact.weekday === claim.weekday || weekdayOf(fact) === claim.weekday
    const isSame = (['month', 'day', 'quarter', 'half'] as const).every((part) => claim[part] === undefined || claim[part] === fact[part]) // prettier-ignore
    if (!isSame) return false
    if (claim.year === undefined || claim.year === fact.year) return true
    // The year may stand in the heading alone.
    return fact.year === undefined && years.has(claim.year)
  })
}

const MIN_PHONE_DIGITS = 6

function matchesPhone({ written }: CodeFigure, { phones, squashed }: FigureText): boolean {
  const digits = written.replace(/^0+/, '')
  const isSame = (one: string, other: string) => one.endsWith(other) && other.length >= MIN_PHONE_DIGITS
  return squashed.includes(written) || phones.some((phone) => isSame(phone, digits) || isSame(digits, phone))
}

const plainAddress = (written: string) => written.replace(/^https?:\/\/(?:www\.)?|^www\./, '').replace(/\/$/, '')

const hasBoundary = (text: string, start: number, end: number) =>
  !/[\p{L}\p{N}]$|\d[.,]$/u.test(text.slice(Math.max(0, start - 2), start)) &&
  !/^[\p{L}\p{N}]|^[.,]\d/u.test(text.slice(end, end + 2))

const MAX_OCCURRENCES = 200

/** Whether the words occur as they are, not as a part of a longer word or number. */
export function occurs(words: string, text: string): boolean {
  let at = text.indexOf(words)
  for (let tried = 0; at !== -1 && tried < MAX_OCCURRENCES; tried += 1) {
    if (hasBoundary(text, at, at + words.length)) return true
    at = text.indexOf(words, at + 1)
  }
  return false
}

function matchesCode({ written }: CodeFigure, text: FigureText): boolean {
  if (text.squashed.includes(squash(written)) && /\p{L}/u.test(written)) return true
  if (/^\d/.test(written) && occurs(`v${written}`, text.text)) return true
  // "FY2023", "CW18" and "v2.0": a short prefix before a number of the source.
  const prefixed = /^(?:fy|fj|gj|cw|kw|v|no|nr|n|s|p|ss|pp)[-. ]?(\d[\d.]*)$/.exec(written)?.[1]
  if (prefixed !== undefined && (occurs(prefixed, text.text) || text.years.has(Number(prefixed)))) return true
  const shortYear = /^fy['’]?(\d\d)$/.exec(written)?.[1]
  return shortYear !== undefined && text.years.has(2_000 + Number(shortYear))
}

/** "20.45" without a word for the hour. */
function isClockTime({ readings, unit, hasDecimals }: NumberFigure, { times }: FigureText): boolean {
  const [reading] = readings
  if (!reading || unit || !hasDecimals || reading.step !== 0.01) return false
  return times.includes(Math.floor(reading.value) * 60 + Math.round((reading.value % 1) * 100))
}

function matchesTime({ minutes }: TimeFigure, text: FigureText): boolean {
  if (minutes.some((minute) => text.times.includes(minute))) return true
  const dotted = minutes.map((minute) => Math.floor(minute / 60) + (minute % 60) / 100)
  if (text.numbers.some(({ readings }) => readings.some(({ value, step }) => step === 0.01 && dotted.includes(value)))) return true // prettier-ignore
  // "9 to 5 pm" and "10-17 Uhr" write an hour as a plain number.
  const hours = minutes.filter((minute) => minute % 60 === 0).flatMap((minute) => [minute / 60, (minute / 60) % 12 || 12]) // prettier-ignore
  return text.times.length > 0 && text.numbers.some(({ unit, readings }) => !unit && readings.some(({ value, step }) => step === 1 && hours.includes(value))) // prettier-ignore
}

const LITERAL_CHARACTERS = 60

/** @param written the claim as it is written in the answer */
export function isInText(claim: Figure, written: string, text: FigureText, context: ClaimContext): boolean {
  if (claim.kind === 'number') {
    if (isYearClaim(claim) && text.years.has(claim.readings[0]?.value ?? 0)) return true
    const numberClaim = { claim, readings: readingsIn(claim, context), approximation: context.approximation }
    if (text.numbers.some((fact) => matchesNumber(numberClaim, fact, text))) return true
    if (isClockTime(claim, text)) return true
  } else if (claim.kind === 'date') {
    if (claim.readings.some((reading) => matchesDate(reading, text))) return true
  } else if (claim.kind === 'time') {
    if (matchesTime(claim, text)) return true
  } else if (claim.kind === 'phone') {
    if (matchesPhone(claim, text)) return true
  } else if (claim.kind === 'address') {
    if (text.squashed.includes(squash(plainAddress(claim.written)))) return true
  } else if (matchesCode(claim, text)) return true
  const literal = foldText(written).replace(/\s+/g, ' ').trim()
  const isTelling = claim.kind !== 'number' || (claim.unit !== undefined && !SIGNED_FAMILIES.has(claim.unit.family))
  return isTelling && literal.length <= LITERAL_CHARACTERS && occurs(literal, text.text)
}

/** A date whose year and day stand in different texts: the question names the year, the passage the day. */
export function isInTexts(claim: DateFigure, texts: readonly FigureText[]): boolean {
  const together = {
    dates: texts.flatMap(({ dates }) => dates),
    years: new Set(texts.flatMap(({ years }) => [...years])),
  }
  return claim.readings.some((reading) => matchesDate(reading, together))
}
