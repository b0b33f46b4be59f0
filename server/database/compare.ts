import { AppError } from '#server/base/errors.ts'

/** Reads the wanted values; the result reads one value, and orders it against each of them. @throws AppError */
type Comparator = (wanted: readonly string[]) => (value: string) => number[]

function comparator<Parsed>(
  parse: (text: string) => Parsed,
  compare: (left: Parsed, right: Parsed) => number,
): Comparator {
  return (wanted) => {
    const parsed = wanted.map(parse)
    return function compareWithEach(value) {
      const own = parse(value)
      return parsed.map((one) => compare(own, one))
    }
  }
}

const invalid = (type: string, text: string) =>
  new AppError('bad_request', `invalid input syntax for type ${type}: "${text}"`)

const sign = (left: bigint | number, right: bigint | number): number => (left < right ? -1 : left > right ? 1 : 0)

// A large JSON value becomes text once, however many filters compare it.
const textOfObjects = new WeakMap<object, string>()

export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const text = textOfObjects.get(value) ?? JSON.stringify(value)
  textOfObjects.set(value, text)
  return text
}

// Bounds the cost of an exact comparison, which multiplies by ten to this power.
const MAX_EXPONENT = 1_000

interface Decimal {
  readonly digits: bigint
  readonly scale: number
}

function parseDecimal(type: string, text: string): Decimal {
  const parts = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,6}))?$/i.exec(text.trim())
  const [, minus = '', whole = '', fraction = '', exponent = '0'] = parts ?? []
  if (!parts || whole + fraction === '' || Math.abs(Number(exponent)) > MAX_EXPONENT) throw invalid(type, text)
  const digits = BigInt(whole + fraction)
  return { digits: minus === '-' ? -digits : digits, scale: fraction.length - Number(exponent) }
}

function compareDecimals(a: Decimal, b: Decimal): number {
  const scale = Math.max(a.scale, b.scale)
  return sign(a.digits * 10n ** BigInt(scale - a.scale), b.digits * 10n ** BigInt(scale - b.scale))
}

const decimals = (type: string) => comparator((text) => parseDecimal(type, text), compareDecimals)

function parseFloat(type: string, text: string): number {
  const special = /^([+-]?inf(?:inity)?|nan)$/i.exec(text.trim())?.[1]?.toLowerCase()
  if (special === 'nan') return Number.NaN
  if (special) return special.startsWith('-') ? -Infinity : Infinity
  parseDecimal(type, text)
  return Number(text)
}

function compareFloats(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return sign(Number(Number.isNaN(a)), Number(Number.isNaN(b)))
  return sign(a, b)
}

function parseBoolean(text: string): number {
  const word = text.trim().toLowerCase()
  if (['true', 't', 'yes', 'y', 'on', '1'].includes(word)) return 1
  if (['false', 'f', 'no', 'n', 'off', '0'].includes(word)) return 0
  throw invalid('boolean', text)
}

const INSTANT =
  /^(\d{4,6})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6})\d*)?)?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?$/i

/** Microseconds since 1970: a JavaScript date has only milliseconds. */
function parseInstant(type: string, text: string, hasZone: boolean): bigint {
  const parts = INSTANT.exec(text.trim())
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

const instants = (type: string, hasZone: boolean) =>
  comparator<bigint | number>((text) => {
    const infinite = /^(-?)infinity$/i.exec(text.trim())
    return infinite ? (infinite[1] === '-' ? -Infinity : Infinity) : parseInstant(type, text, hasZone)
  }, sign)

function parseUuid(text: string): string {
  const digits = /^\{?([0-9a-f-]+)\}?$/i.exec(text.trim())?.[1]?.replaceAll('-', '').toLowerCase()
  if (digits?.length !== 32) throw invalid('uuid', text)
  return digits
}

/** UTF-8 sorts by code point, JavaScript's UTF-16 does not: surrogates come after all other units of equal rank. */
const rankOf = (unit: number): number => (unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit)

/** Reads no further than the first difference, since a stored text may be much longer than the wanted one. */
function compareCodePoints(left: string, right: string): number {
  const shared = Math.min(left.length, right.length)
  for (let index = 0; index < shared; index += 1) {
    const [a, b] = [left.charCodeAt(index), right.charCodeAt(index)]
    if (a !== b) return rankOf(a) - rankOf(b)
  }
  return left.length - right.length
}

const texts = comparator((text) => text, compareCodePoints)

const COMPARATORS: Readonly<Record<string, Comparator | undefined>> = {
  smallint: decimals('smallint'),
  integer: decimals('integer'),
  bigint: decimals('bigint'),
  numeric: decimals('numeric'),
  real: comparator((text) => Math.fround(parseFloat('real', text)), compareFloats),
  'double precision': comparator((text) => parseFloat('double precision', text), compareFloats),
  boolean: comparator(parseBoolean, sign),
  uuid: comparator(parseUuid, compareCodePoints),
  date: instants('date', false),
  'timestamp without time zone': instants('timestamp', false),
  'timestamp with time zone': instants('timestamp with time zone', true),
}

/** Unknown types compare as text. @param type as `format_type` names it */
export function comparatorOf(type: string): Comparator {
  return COMPARATORS[baseType(type)] ?? texts
}

export const comparesAsText = (type: string): boolean => COMPARATORS[baseType(type)] === undefined

const baseType = (type: string): string => type.replace(/\([\d,]+\)/, '')
