/** Date functions of formulas, on serial numbers. NOW and TODAY are not computed. */
import { CellError, NotComputable, NUMBER_ERROR, type Scalar, toNumber } from './values.ts'

const DAY_MS = 86_400_000
const DAYS_TO_1970 = 25_569
const DAYS_TO_1904 = 1_462
/** From this day on serial numbers count days without the 29 February 1900 that Excel added. */
const FIRST_TRUE_DAY = 61
const LAST_DAY = 2_958_465

interface DateContext {
  readonly is1904: boolean
}

type DateFunction = (args: readonly Scalar[], context: DateContext) => Scalar

const toDate = (serial: number, { is1904 }: DateContext): Date =>
  new Date((Math.floor(is1904 ? serial + DAYS_TO_1904 : serial) - DAYS_TO_1970) * DAY_MS)

function toSerial(ms: number, { is1904 }: DateContext): number | CellError {
  const days = Math.round(ms / DAY_MS) + DAYS_TO_1970
  if (Number.isNaN(days) || days > LAST_DAY) return NUMBER_ERROR
  if (days < FIRST_TRUE_DAY) throw new NotComputable('a date before March 1900')
  return days - (is1904 ? DAYS_TO_1904 : 0)
}

/** @throws NotComputable for dates in words, whose order of day and month is unknown. */
function readNumbers(args: readonly Scalar[]): number[] | CellError {
  const numbers: number[] = []
  for (const value of args) {
    if (typeof value === 'string' && !/^\s*[-+]?\d+(?:\.\d+)?\s*$/.test(value))
      throw new NotComputable('a date in words')
    const number = toNumber(value)
    if (number instanceof CellError) return number
    numbers.push(number)
  }
  return numbers
}

const ofNumbers =
  (compute: (numbers: readonly number[], context: DateContext) => Scalar): DateFunction =>
  (args, context) => {
    const numbers = readNumbers(args)
    return numbers instanceof CellError ? numbers : compute(numbers, context)
  }

/** Whether a serial number is a day of the calendar of workbooks, which ends with the year 9999. */
const isDay = (serial: number, { is1904 }: DateContext): boolean =>
  serial >= 0 && serial < LAST_DAY + 1 - (is1904 ? DAYS_TO_1904 : 0)

/** @param count number of arguments that are days. */
const ofDays = (count: number, compute: (numbers: readonly number[], context: DateContext) => Scalar): DateFunction =>
  ofNumbers((numbers, context) =>
    numbers.slice(0, count).every((serial) => isDay(serial, context)) ? compute(numbers, context) : NUMBER_ERROR,
  )

const ofDate = (read: (date: Date) => number): DateFunction =>
  ofDays(1, ([serial = 0], context) => {
    if (serial < FIRST_TRUE_DAY && !context.is1904) throw new NotComputable('a date before March 1900')
    return read(toDate(serial, context))
  })

const ofTime = (read: (seconds: number) => number): DateFunction =>
  ofDays(1, ([serial = 0]) => read(Math.round((serial % 1) * 86_400) % 86_400))

const shiftMonths = (date: Date, months: number, isMonthEnd: boolean): number => {
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + Math.trunc(months)]
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  return Date.UTC(year, month, isMonthEnd ? lastDay : Math.min(date.getUTCDate(), lastDay))
}

/** Number of the first day of the week for each type of WEEKDAY; 0 is Sunday. */
const WEEK_STARTS: Readonly<Record<number, number>> = { 1: 0, 2: 1, 11: 1, 12: 2, 13: 3, 14: 4, 15: 5, 16: 6, 17: 0 }

/** Day 0 of the calendar is a Saturday. */
const workdaysBefore = (day: number): number => 5 * Math.floor(day / 7) + Math.max(0, (day % 7) - 2)

function countWorkdays(from: number, to: number, { is1904 }: DateContext): number {
  const offset = is1904 ? DAYS_TO_1904 : 0
  const count = workdaysBefore(Math.max(from, to) + offset + 1) - workdaysBefore(Math.min(from, to) + offset)
  return from > to ? -count : count
}

export const DATE_FUNCTIONS: Readonly<Record<string, DateFunction>> = {
  DATE: ofNumbers(([year = 0, month = 1, day = 1], context) =>
    year < 0
      ? NUMBER_ERROR
      : toSerial(Date.UTC(year < 1900 ? year + 1900 : year, Math.trunc(month) - 1, Math.trunc(day)), context),
  ),
  TIME: ofNumbers(([hours = 0, minutes = 0, seconds = 0]) => {
    const total = hours * 3_600 + minutes * 60 + seconds
    return total < 0 ? NUMBER_ERROR : (total % 86_400) / 86_400
  }),
  YEAR: ofDate((date) => date.getUTCFullYear()),
  MONTH: ofDate((date) => date.getUTCMonth() + 1),
  DAY: ofDate((date) => date.getUTCDate()),
  HOUR: ofTime((seconds) => Math.floor(seconds / 3_600)),
  MINUTE: ofTime((seconds) => Math.floor(seconds / 60) % 60),
  SECOND: ofTime((seconds) => seconds % 60),
  WEEKDAY: ofDays(1, ([serial = 0, type = 1], context) => {
    const day = toDate(serial, context).getUTCDay()
    if (type === 3) return (day + 6) % 7
    const start = WEEK_STARTS[type]
    return start === undefined ? NUMBER_ERROR : ((day - start + 7) % 7) + 1
  }),
  EDATE: ofDays(1, ([serial = 0, months = 0], context) =>
    toSerial(shiftMonths(toDate(serial, context), months, false), context),
  ),
  EOMONTH: ofDays(1, ([serial = 0, months = 0], context) =>
    toSerial(shiftMonths(toDate(serial, context), months, true), context),
  ),
  DAYS: ofDays(2, ([end = 0, start = 0]) => Math.floor(end) - Math.floor(start)),
  NETWORKDAYS: ofDays(2, (numbers, context) => {
    const [from = 0, to = 0] = numbers.map(Math.floor)
    if (numbers.length !== 2) throw new NotComputable('NETWORKDAYS')
    return countWorkdays(from, to, context)
  }),
  DATEDIF(args, context) {
    const numbers = readNumbers(args.slice(0, 2))
    if (numbers instanceof CellError) return numbers
    const [start = 0, end = 0] = numbers
    if (start > end || !isDay(start, context) || !isDay(end, context)) return NUMBER_ERROR
    const [from, to] = [toDate(start, context), toDate(end, context)]
    const months =
      12 * (to.getUTCFullYear() - from.getUTCFullYear()) +
      to.getUTCMonth() -
      from.getUTCMonth() -
      (to.getUTCDate() < from.getUTCDate() ? 1 : 0)
    const unit = args[2]
    switch (typeof unit === 'string' ? unit.toUpperCase() : '') {
      case 'D':
        return Math.floor(end) - Math.floor(start)
      case 'M':
        return months
      case 'Y':
        return Math.floor(months / 12)
      case 'YM':
        return months % 12
      case 'MD':
      case 'YD':
        throw new NotComputable('DATEDIF without months or years')
      default:
        return NUMBER_ERROR
    }
  },
}
