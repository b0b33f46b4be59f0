import { AppError } from '#server/base/errors.ts'

type Comparator = (left: string, right: string) => number

const invalid = (type: string, text: string) =>
  new AppError('bad_request', `invalid input syntax for type ${type}: "${text}"`)

const sign = (left: bigint | number, right: bigint | number): number => (left < right ? -1 : left > right ? 1 : 0)

export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return JSON.stringify(value)
}

// Bounds the cost of an exact comparison, which multiplies by ten to this power.
const MAX_EXPONENT = 1_000

interface Decimal {
  readonly digits: bigint
  readonly scale: number
}

function parseDecimal(type: string, text: string): Decimal {
  const parts = /^\s*([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,6}))?\s*$/i.exec(text)
  const [, minus = '', whole = '', fraction = '', exponent = '0'] = parts ?? []
  if (!parts || whole + fraction === '' || Math.abs(Number(exponent)) > MAX_EXPONENT) throw invalid(type, text)
  const digits = BigInt(whole + fraction)
  return { digits: minus === '-' ? -digits : digits, scale: fraction.length - Number(exponent) }
}

function compareDecimals(type: string): Comparator {
  return function compareExactly(left, right) {
    const [a, b] = [parseDecimal(type, left), parseDecimal(type, right)]
    const scale = Math.max(a.scale, b.scale)
    return sign(a.digits * 10n ** BigInt(scale - a.scale), b.digits * 10n ** BigInt(scale - b.scale))
  }
}

function compareFloats(type: string, round: (value: number) => number): Comparator {
  const parse = (text: string) => {
    const special = /^\s*([+-]?inf(?:inity)?|nan)\s*$/i.exec(text)?.[1]?.toLowerCase()
    if (special === 'nan') return Number.NaN
    if (special) return special.startsWith('-') ? -Infinity : Infinity
    parseDecimal(type, text)
    return round(Number(text))
  }
  return function compareRounded(left, right) {
    const [a, b] = [parse(left), parse(right)]
    if (Number.isNaN(a) || Number.isNaN(b)) return sign(Number(Number.isNaN(a)), Number(Number.isNaN(b)))
    return sign(a, b)
  }
}

function parseBoolean(text: string): number {
  const word = text.trim().toLowerCase()
  if (['true', 't', 'yes', 'y', 'on', '1'].includes(word)) return 1
  if (['false', 'f', 'no', 'n', 'off', '0'].includes(word)) return 0
  throw invalid('boolean', text)
}

const INSTANT =
  /^\s*(\d{4,6})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6})\d*)?)?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?\s*$/i

/** Microseconds since 1970: a JavaScript date has only milliseconds. */
function parseInstant(type: string, text: string, hasZone: boolean): bigint {
  const parts = INSTANT.exec(text)
  if (!parts) throw invalid(type, text)
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone = 'Z'] = parts
  const instant = new Date(0)
  instant.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  if (instant.getUTCMonth() !== Number(month) - 1 || instant.getUTCDate() !== Number(day)) throw invalid(type, text)
  instant.setUTCHours(Number(hour), Number(minute), Number(second))
  const offset = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone)
  const minutes =
    offset && hasZone ? (Number(offset[2]) * 60 + Number(offset[3] ?? 0)) * (offset[1] === '-' ? -1 : 1) : 0
  return BigInt(instant.getTime() - minutes * 60_000) * 1_000n + BigInt(fraction.padEnd(6, '0'))
}

function compareInstants(type: string, hasZone: boolean): Comparator {
  const parse = (text: string) => {
    const parsed = /^\s*(-?)infinity\s*$/i.exec(text)
    return parsed ? (parsed[1] === '-' ? -Infinity : Infinity) : parseInstant(type, text, hasZone)
  }
  return (left, right) => sign(parse(left), parse(right))
}

function parseUuid(text: string): string {
  const digits = /^\{?([0-9a-f-]+)\}?$/i.exec(text.trim())?.[1]?.replaceAll('-', '').toLowerCase()
  if (digits?.length !== 32) throw invalid('uuid', text)
  return digits
}

/** UTF-8 sorts by code point, JavaScript's UTF-16 does not. */
const compareText: Comparator = (left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right))

const COMPARATORS: Readonly<Record<string, Comparator>> = {
  smallint: compareDecimals('smallint'),
  integer: compareDecimals('integer'),
  bigint: compareDecimals('bigint'),
  numeric: compareDecimals('numeric'),
  real: compareFloats('real', Math.fround),
  'double precision': compareFloats('double precision', (value) => value),
  boolean: (left, right) => sign(parseBoolean(left), parseBoolean(right)),
  uuid: (left, right) => compareText(parseUuid(left), parseUuid(right)),
  date: compareInstants('date', false),
  'timestamp without time zone': compareInstants('timestamp', false),
  'timestamp with time zone': compareInstants('timestamp with time zone', true),
}

/** Unknown types compare as text. @param type as `format_type` names it */
export function comparatorOf(type: string): Comparator {
  const name = type.replace(/\([\d,]+\)/, '')
  return Object.hasOwn(COMPARATORS, name) ? (COMPARATORS[name] ?? compareText) : compareText
}
