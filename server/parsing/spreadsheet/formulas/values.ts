/** Values of formulas and how one kind becomes another (ECMA-376 part 1, 18.17.2). */
import type { CellObject } from '@e965/xlsx'
import { formatGeneral } from '#server/parsing/spreadsheet/number-format.ts'

/** An error that a formula results in, for example "#DIV/0!". */
export class CellError {
  readonly code: string

  constructor(code: string) {
    this.code = code
  }
}

/** Thrown for a formula whose value cannot be known here; the formula is shown instead. */
export class NotComputable extends Error {}

/** `null` is an empty cell or a missing argument. */
export type Scalar = number | string | boolean | null | CellError

/** Cells of a sheet, numbered from 0, borders included. */
export interface CellRange {
  readonly sheet: number
  readonly top: number
  readonly left: number
  readonly bottom: number
  readonly right: number
}

export type Matrix = readonly (readonly Scalar[])[]
export type Value = Scalar | Matrix | CellRange

export const VALUE_ERROR = new CellError('#VALUE!')
export const NUMBER_ERROR = new CellError('#NUM!')
export const DIVISION_ERROR = new CellError('#DIV/0!')
export const NOT_AVAILABLE = new CellError('#N/A')
export const REFERENCE_ERROR = new CellError('#REF!')

/** Errors by the number that a file stores (ECMA-376 part 1, 18.17.3). */
const ERRORS: Readonly<Record<number, string>> = {
  0: '#NULL!',
  7: '#DIV/0!',
  15: '#VALUE!',
  23: '#REF!',
  29: '#NAME?',
  36: '#NUM!',
  42: '#N/A',
}

/** The error of a cell with its stored number and text; undefined for an unknown one. */
export const storedError = ({ v, w }: Pick<CellObject, 'v' | 'w'>): string | undefined =>
  w?.startsWith('#') === true ? w : ERRORS[Number(v)]

export const isMatrix = (value: Value): value is Matrix => Array.isArray(value)
export const isRange = (value: Value): value is CellRange =>
  typeof value === 'object' && value !== null && 'sheet' in value
const NUMBER = /^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?\s*%?\s*$/i

export function toNumber(value: Scalar): number | CellError {
  if (value instanceof CellError || typeof value === 'number') return value
  if (value === null) return 0
  if (typeof value === 'boolean') return value ? 1 : 0
  if (!NUMBER.test(value)) return VALUE_ERROR
  const number = value.includes('%') ? Number(value.replace('%', '')) / 100 : Number(value)
  return Number.isFinite(number) ? number : VALUE_ERROR
}

/**
 * The number that a text stands for in arithmetic.
 *
 * @throws NotComputable for dates, times and separators of thousands, whose reading depends on the country.
 */
export function toOperand(value: Scalar): number | CellError {
  const number = toNumber(value)
  if (typeof value === 'string' && number instanceof CellError && /\d/.test(value))
    throw new NotComputable('a number in words')
  return number
}

export function toText(value: Scalar): string | CellError {
  if (value instanceof CellError || typeof value === 'string') return value
  if (value === null) return ''
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE'
  return formatGeneral(value)
}

export function toBoolean(value: Scalar): boolean | CellError {
  if (value instanceof CellError || typeof value === 'boolean') return value
  if (typeof value === 'string') return /^(?:true|false)$/i.test(value) ? /^t/i.test(value) : VALUE_ERROR
  return value !== null && value !== 0
}

const rankOf = (value: string | number | boolean): number =>
  typeof value === 'number' ? 0 : typeof value === 'string' ? 1 : 2

const emptyLike = (other: Scalar): string | number | boolean =>
  typeof other === 'string' ? '' : typeof other === 'boolean' ? false : 0

/** Order of two values: numbers, then words without regard to case, then FALSE and TRUE. */
export function compare(left: Scalar, right: Scalar): number | CellError {
  if (left instanceof CellError) return left
  if (right instanceof CellError) return right
  const [one, other] = [left ?? emptyLike(right), right ?? emptyLike(left)]
  if (rankOf(one) !== rankOf(other)) return rankOf(one) - rankOf(other)
  if (typeof one !== 'string' || typeof other !== 'string') return Number(one) - Number(other)
  const [first, second] = [one.toLowerCase(), other.toLowerCase()]
  return first < second ? -1 : first > second ? 1 : 0
}

/** The result of arithmetic: a number that a cell can hold. */
export const finite = (value: number): number | CellError => (Number.isFinite(value) ? value : NUMBER_ERROR)
