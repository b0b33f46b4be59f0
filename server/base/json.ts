import { AppError } from './errors.ts'

/** PostgreSQL parses nested JSON recursively, within its stack. */
export const MAX_NESTING = 500
/** Digits of one number written out. PostgreSQL stores 1e131071 in ten bytes and prints 131,072 digits; JavaScript needs 341. */
const MAX_DIGITS = 1_000
const MAX_EXPONENT = 400
/** Zeros that all numbers of a text may add when they are written out, beyond its own length. */
const MAX_ADDED_ZEROS = 1_000_000

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d]
const [PLUS, MINUS, DOT, ZERO, NINE, UPPER_E, LOWER_E] = [0x2b, 0x2d, 0x2e, 0x30, 0x39, 0x45, 0x65]

interface JsonCost {
  /** Levels of lists and objects. */
  readonly nesting: number
  /** Characters of the longest number, as it was sent. */
  readonly longestNumber: number
  /** Over all numbers, regardless of sign. */
  readonly largestExponent: number
  readonly exponentSum: number
}

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE
const isNumberPart = (code: number): boolean =>
  isDigit(code) || code === DOT || code === PLUS || code === MINUS || code === LOWER_E || code === UPPER_E

function exponentOf(number: string): number {
  const at = number.search(/e/i)
  return at === -1 ? 0 : Math.abs(Number(number.slice(at + 1)))
}

/** Characters that are read one by one after an escape, since others mostly follow. */
const READ_AFTER_ESCAPE = 64

/**
 * The index of the quote that ends the string whose text begins at `from`. Most of a large body is plain text, which a search
 * passes many times as fast as a loop over its characters.
 */
function findStringEnd(json: string, from: number): number {
  let index = from
  for (;;) {
    const end = json.indexOf('"', index)
    if (end === -1) return json.length
    if (end === index || json.charCodeAt(end - 1) !== BACKSLASH) return end
    while (index < end + READ_AFTER_ESCAPE) {
      const code = json.charCodeAt(index)
      if (code === QUOTE) return index
      index += code === BACKSLASH ? 2 : 1
    }
  }
}

/** Reads valid JSON by character codes: a body may consist of a million brackets, and a match for each is slow. */
export function measureJson(json: string): JsonCost {
  let [depth, nesting, longestNumber, largestExponent, exponentSum] = [0, 0, 0, 0, 0]
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index)
    if (code === QUOTE) index = findStringEnd(json, index + 1)
    else if (code === OPEN_LIST || code === OPEN_OBJECT) nesting = Math.max(nesting, (depth += 1))
    else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1
    else if (isDigit(code) || code === MINUS) {
      const start = index
      while (isNumberPart(json.charCodeAt(index + 1))) index += 1
      const exponent = exponentOf(json.slice(start, index + 1))
      longestNumber = Math.max(longestNumber, index + 1 - start)
      largestExponent = Math.max(largestExponent, exponent)
      exponentSum += exponent
    }
  }
  return { nesting, longestNumber, largestExponent, exponentSum }
}

/**
 * Why PostgreSQL or JavaScript could not store valid JSON, or could not write it out again at about its own size: the
 * end of a sentence; undefined if they can.
 */
export function jsonExcess(json: string): string | undefined {
  const { nesting, longestNumber, largestExponent, exponentSum } = measureJson(json)
  if (nesting > MAX_NESTING) return 'is nested too deeply'
  if (longestNumber > MAX_DIGITS) return `holds a number of more than ${MAX_DIGITS} characters`
  if (largestExponent > MAX_EXPONENT) return `holds a number whose exponent is beyond ${MAX_EXPONENT}`
  if (exponentSum > json.length + MAX_ADDED_ZEROS) return 'holds too many numbers with large exponents'
  return undefined
}

// The last alternative consumes any other escape, so that an escaped backslash never begins one.
const ESCAPES = /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[dD][89a-fA-F][\da-fA-F]{2}|\\u0000|\\./g

/** A lone surrogate becomes U+FFFD. @throws AppError `bad_request` for invalid JSON, NUL, and what `jsonExcess` names */
export function parseJson(json: string): unknown {
  const text = json.replace(ESCAPES, (escape) => {
    if (escape === '\\u0000')
      throw new AppError('bad_request', 'The body holds a NUL character, which cannot be stored.')
    return /^\\u[dD][89a-fA-F]/.test(escape) && escape.length === 6 ? '\\ufffd' : escape
  })
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    throw new AppError('bad_request', 'The body is not valid JSON.', { cause: error })
  }
  const excess = jsonExcess(text)
  if (excess !== undefined) throw new AppError('bad_request', `The body ${excess}.`)
  return parsed
}
