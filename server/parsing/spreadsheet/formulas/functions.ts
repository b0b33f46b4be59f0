/** Functions of formulas. A function that is absent here is not computed: its formula is shown instead. */
import * as library from '@formulajs/formulajs'
import { z } from 'zod'
import { formatNumber } from '#server/parsing/spreadsheet/number-format.ts'
import { DATE_FUNCTIONS } from './date-functions.ts'
import type { Argument, FormulaFunction, FunctionContext } from './function-context.ts'
import { LOOKUP_FUNCTIONS } from './lookup-functions.ts'
import { TEXT_FUNCTIONS } from './text-functions.ts'
import {
  CellError,
  DIVISION_ERROR,
  finite,
  isMatrix,
  isRange,
  NotComputable,
  NOT_AVAILABLE,
  NUMBER_ERROR,
  type Scalar,
  toBoolean,
  toNumber,
  toOperand,
  toText,
  type Value,
  VALUE_ERROR,
} from './values.ts'

/** Written by Excel before the names of functions that older versions do not know. */
const PREFIX = /^(?:_xlfn\.|_xlws\.)+/i

/** @throws NotComputable for a function whose value cannot be known, such as NOW and RAND. */
export function callFunction(name: string, args: readonly Argument[], context: FunctionContext): Value {
  const found = FUNCTIONS.get(name.replace(PREFIX, '').toUpperCase())
  if (!found) throw new NotComputable(name)
  return found(args, context)
}

/** A function of single values, of which the first error is its result. */
const ofScalars =
  (compute: (args: readonly Scalar[], context: FunctionContext) => Scalar): FormulaFunction =>
  (args, context) =>
    context.applyToScalars(
      args.map(context.evaluate),
      (values) => values.find((value) => value instanceof CellError) ?? compute(values, context),
    )

const ofNumbers =
  (compute: (...numbers: number[]) => number | CellError): FormulaFunction =>
  (args, context) =>
    context.applyToScalars(args.map(context.evaluate), (values) => {
      const numbers = values.map(toOperand)
      const error = numbers.find((number) => number instanceof CellError)
      if (error) return error
      const result = compute(...numbers.filter((number) => typeof number === 'number'))
      return typeof result === 'number' ? finite(result) : result
    })

/** Cells count only if they hold numbers; values in the formula itself are converted. */
function readNumbers(args: readonly Argument[], context: FunctionContext): number[] | CellError {
  const numbers: number[] = []
  for (const argument of args) {
    const value = context.evaluate(argument)
    if (isRange(value) || isMatrix(value)) {
      for (const row of context.toMatrix(value))
        for (const cell of row) {
          if (cell instanceof CellError) return cell
          if (typeof cell === 'number') numbers.push(cell)
        }
    } else {
      const number = toOperand(value)
      if (number instanceof CellError) return number
      numbers.push(number)
    }
  }
  return numbers
}

const ofAllNumbers =
  (compute: (numbers: readonly number[]) => number | CellError): FormulaFunction =>
  (args, context) => {
    const numbers = readNumbers(args, context)
    if (numbers instanceof CellError) return numbers
    const result = compute(numbers)
    return typeof result === 'number' ? finite(result) : result
  }

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
const mean = (numbers: readonly number[]): number | CellError =>
  numbers.length === 0 ? DIVISION_ERROR : sum(numbers) / numbers.length
const largest = (numbers: readonly number[]): number => numbers.reduce((most, each) => Math.max(most, each), -Infinity)
const smallest = (numbers: readonly number[]): number =>
  numbers.reduce((least, each) => Math.min(least, each), Infinity)
const orZero = (number: number): number => (Number.isFinite(number) ? number : 0)

function deviation(numbers: readonly number[], isSample: boolean): number | CellError {
  const divisor = numbers.length - (isSample ? 1 : 0)
  const average = mean(numbers)
  if (divisor < 1 || average instanceof CellError) return DIVISION_ERROR
  return sum(numbers.map((number) => (number - average) ** 2)) / divisor
}

const root = (value: number | CellError): number | CellError => (value instanceof CellError ? value : Math.sqrt(value))

type Aggregate = (numbers: readonly number[]) => number | CellError

const AGGREGATES: Readonly<Record<string, Aggregate>> = {
  SUM: sum,
  AVERAGE: mean,
  MAX: (numbers) => orZero(largest(numbers)),
  MIN: (numbers) => orZero(smallest(numbers)),
  PRODUCT: (numbers) => (numbers.length === 0 ? 0 : numbers.reduce((product, number) => product * number, 1)),
  SUMSQ: (numbers) => sum(numbers.map((number) => number * number)),
  'STDEV.S': (numbers) => root(deviation(numbers, true)),
  'STDEV.P': (numbers) => root(deviation(numbers, false)),
  'VAR.S': (numbers) => deviation(numbers, true),
  'VAR.P': (numbers) => deviation(numbers, false),
  STDEV: (numbers) => root(deviation(numbers, true)),
  STDEVP: (numbers) => root(deviation(numbers, false)),
  VAR: (numbers) => deviation(numbers, true),
  VARP: (numbers) => deviation(numbers, false),
  GCD: (numbers) => ofIntegers(divisor, 0)(numbers),
  LCM: (numbers) =>
    ofIntegers((one, other) => (one === 0 || other === 0 ? 0 : (one / divisor(one, other)) * other), 1)(numbers),
  MULTINOMIAL: (numbers) => multinomial(numbers),
  MEDIAN(numbers) {
    const sorted = numbers.toSorted((left, right) => left - right)
    const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
    return low === undefined || high === undefined ? NUMBER_ERROR : (low + high) / 2
  },
  GEOMEAN: (numbers) =>
    numbers.length === 0 || numbers.some((number) => number <= 0)
      ? NUMBER_ERROR
      : Math.exp(sum(numbers.map(Math.log)) / numbers.length),
}

/** Functions of SUBTOTAL by number; numbers above 100 leave out rows that a person hid. */
const SUBTOTALS = ['', 'AVERAGE', 'COUNT', 'COUNTA', 'MAX', 'MIN', 'PRODUCT', 'STDEV', 'STDEVP', 'SUM', 'VAR', 'VARP']

const subtotal: FormulaFunction = ([kind, ...ranges], context) => {
  const number = toNumber(context.toScalar(context.evaluate(kind)))
  const name = typeof number === 'number' ? SUBTOTALS[number] : undefined
  if (name === undefined || name === '') throw new NotComputable('SUBTOTAL')
  const values = ranges.flatMap((argument) => {
    const range = context.evaluate(argument)
    if (!isRange(range)) throw new NotComputable('SUBTOTAL')
    // Subtotals within the range do not count twice.
    return context
      .toMatrix(range)
      .flatMap((row, down) =>
        row.filter(
          (_, across) =>
            !/SUBTOTAL\(/i.test(context.formulaAt(range.sheet, range.top + down, range.left + across) ?? ''),
        ),
      )
  })
  const error = values.find((value) => value instanceof CellError)
  const numbers = values.filter((value) => typeof value === 'number')
  if (name === 'COUNT') return numbers.length
  if (name === 'COUNTA') return values.filter((value) => value !== null).length
  return error ?? AGGREGATES[name]?.(numbers) ?? VALUE_ERROR
}

const cellsOf = (args: readonly Argument[], context: FunctionContext): Scalar[] =>
  args.flatMap((argument) => context.toMatrix(context.evaluate(argument)).flat())

/** Multiplies in decimal: 1.005 is rounded to 1.01. */
function roundDecimal(number: number, places: number, round: (number: number) => number): number {
  const digits = Math.trunc(places)
  const shifted = shiftPoint(Math.abs(number).toPrecision(15), digits)
  // A number without digits behind the last place stays as it is.
  if (!Number.isFinite(shifted)) return number
  return Math.sign(number) * shiftPoint(String(round(shifted)), -digits)
}

function shiftPoint(number: string, digits: number): number {
  const [base = '0', exponent = '0'] = number.split('e')
  return Number(`${base}e${Number(exponent) + digits}`)
}

const MAX_FACTORIAL = 170
const MAX_DOUBLE_FACTORIAL = 300

/** Product of every number from this one down, in steps. */
function factorial(number: number, by: number, most: number): number | CellError {
  if (number < 1 - by || number > most) return NUMBER_ERROR
  let product = 1
  for (let factor = Math.trunc(number); factor > 1; factor -= by) product *= factor
  return product
}

/** Step by step: factorials would be too large. The product ends at the latest where no cell can hold it. */
function combinations(number: number, chosen: number): number | CellError {
  const [all, some] = [Math.trunc(number), Math.trunc(chosen)]
  if (all < 0 || some < 0 || some > all) return NUMBER_ERROR
  let product = 1
  const least = Math.min(some, all - some)
  for (let index = 1; index <= least && Number.isFinite(product); index += 1)
    product = (product * (all - least + index)) / index
  return product < Number.MAX_SAFE_INTEGER ? Math.round(product) : product
}

function permutations(number: number, chosen: number): number | CellError {
  const [all, some] = [Math.trunc(number), Math.trunc(chosen)]
  if (all < 0 || some < 0 || some > all) return NUMBER_ERROR
  let product = 1
  for (let index = 0; index < some && Number.isFinite(product); index += 1) product *= all - index
  return product
}

function multinomial(numbers: readonly number[]): number | CellError {
  let [total, product] = [0, 1]
  for (const number of numbers) {
    total += Math.trunc(number)
    const ways = combinations(total, number)
    if (ways instanceof CellError) return ways
    product *= ways
  }
  return product
}

const divisor = (one: number, other: number): number => {
  let [large, small] = [one, other]
  while (small > 0) [large, small] = [small, large % small]
  return large
}

/** Joins integers of which none is negative. */
const ofIntegers =
  (join: (one: number, other: number) => number, first: number): Aggregate =>
  (numbers) =>
    numbers.some((number) => number < 0 || number > Number.MAX_SAFE_INTEGER)
      ? NUMBER_ERROR
      : numbers.map(Math.trunc).reduce(join, first)

const step = (number: number, size = 1, round: (number: number) => number = Math.round): number =>
  size === 0 ? 0 : round(Number((number / size).toPrecision(15))) * size

const MATH: Readonly<Record<string, (...numbers: number[]) => number | CellError>> = {
  ABS: (number = 0) => Math.abs(number),
  INT: (number = 0) => Math.floor(number),
  FACT: (number = 0) => factorial(number, 1, MAX_FACTORIAL),
  FACTDOUBLE: (number = 0) => factorial(number, 2, MAX_DOUBLE_FACTORIAL),
  COMBIN: (number = 0, chosen = 0) => combinations(number, chosen),
  COMBINA: (number = 0, chosen = 0) =>
    number < 0 || chosen < 0
      ? NUMBER_ERROR
      : chosen < 1
        ? 1
        : combinations(Math.trunc(number) + Math.trunc(chosen) - 1, chosen),
  PERMUT: (number = 0, chosen = 0) => permutations(number, chosen),
  SIGN: (number = 0) => Math.sign(number),
  SQRT: (number = 0) => (number < 0 ? NUMBER_ERROR : Math.sqrt(number)),
  POWER: (base = 0, exponent = 0) => base ** exponent,
  EXP: (number = 0) => Math.exp(number),
  LN: (number = 0) => (number <= 0 ? NUMBER_ERROR : Math.log(number)),
  LOG10: (number = 0) => (number <= 0 ? NUMBER_ERROR : Math.log10(number)),
  LOG: (number = 0, base = 10) =>
    number <= 0 ? NUMBER_ERROR : base === 10 ? Math.log10(number) : Math.log(number) / Math.log(base),
  PI: () => Math.PI,
  SIN: (number = 0) => Math.sin(number),
  COS: (number = 0) => Math.cos(number),
  TAN: (number = 0) => Math.tan(number),
  ASIN: (number = 0) => Math.asin(number),
  ACOS: (number = 0) => Math.acos(number),
  ATAN: (number = 0) => Math.atan(number),
  ATAN2: (x = 0, y = 0) => Math.atan2(y, x),
  DEGREES: (number = 0) => (number * 180) / Math.PI,
  RADIANS: (number = 0) => (number * Math.PI) / 180,
  MOD: (number = 0, divisor = 0) => (divisor === 0 ? DIVISION_ERROR : number - divisor * Math.floor(number / divisor)),
  QUOTIENT: (number = 0, divisor = 0) => (divisor === 0 ? DIVISION_ERROR : Math.trunc(number / divisor)),
  ROUND: (number = 0, places = 0) => roundDecimal(number, places, Math.round),
  ROUNDUP: (number = 0, places = 0) => roundDecimal(number, places, Math.ceil),
  ROUNDDOWN: (number = 0, places = 0) => roundDecimal(number, places, Math.floor),
  TRUNC: (number = 0, places = 0) => roundDecimal(number, places, Math.floor),
  MROUND: (number = 0, size = 0) => step(number, size),
  CEILING: (number = 0, size = 1) => step(number, size, Math.ceil),
  FLOOR: (number = 0, size = 1) => (size === 0 ? DIVISION_ERROR : step(number, size, Math.floor)),
  'CEILING.MATH': (number = 0, size = 1) => step(number, Math.abs(size), Math.ceil),
  'FLOOR.MATH': (number = 0, size = 1) => step(number, Math.abs(size), Math.floor),
  EVEN: (number = 0) => Math.sign(number) * 2 * Math.ceil(Math.abs(number) / 2),
  ODD: (number = 0) => (number === 0 ? 1 : Math.sign(number) * (2 * Math.ceil((Math.abs(number) + 1) / 2) - 1)),
}

/** Computed by @formulajs/formulajs, from single numbers. */
const LIBRARY_OF_NUMBERS = [
  ...['PMT', 'FV', 'PV', 'NPER', 'RATE', 'IPMT', 'PPMT', 'SLN', 'SYD', 'DDB', 'DB', 'EFFECT', 'NOMINAL', 'RRI'],
  ...['SINH', 'COSH', 'TANH', 'SQRTPI', 'GAMMALN'],
]
/** Computed by the library from lists of numbers (cells without numbers do not count). */
const LIBRARY_OF_LISTS = ['HARMEAN', 'AVEDEV', 'DEVSQ', 'KURT', 'SKEW']
/** Computed by the library from one list of numbers and single numbers. */
const LIBRARY_OF_LIST_AND_NUMBER = ['LARGE', 'SMALL', 'TRIMMEAN', 'IRR']
const LIBRARY_NAMES: Readonly<Record<string, string>> = {
  PERCENTILE: 'PERCENTILEINC',
  'PERCENTILE.INC': 'PERCENTILEINC',
  QUARTILE: 'QUARTILEINC',
  'QUARTILE.INC': 'QUARTILEINC',
}
/** The library counts the periods of these one by one. */
const BY_PERIODS = new Set(['DDB', 'DB'])
const MAX_PERIODS = 10_000

const libraryFunction = z.custom<(...args: unknown[]) => unknown>((value) => typeof value === 'function')

function callLibrary(name: string, args: readonly unknown[]): Scalar {
  const [, , life, period] = args
  if (BY_PERIODS.has(name) && [life, period].some((given) => typeof given === 'number' && given > MAX_PERIODS))
    throw new NotComputable(name)
  const compute = libraryFunction.parse((library as Readonly<Record<string, unknown>>)[name])
  const result = compute(...args)
  if (typeof result === 'number') return finite(result)
  if (result instanceof Error) return new CellError(result.message)
  throw new NotComputable(name)
}

const listAndNumber =
  (name: string): FormulaFunction =>
  ([list, ...others], context) => {
    const numbers = readNumbers([list], context)
    if (numbers instanceof CellError) return numbers
    const rest = others.map((argument) => toNumber(context.toScalar(context.evaluate(argument))))
    return rest.find((number) => number instanceof CellError) ?? callLibrary(name, [numbers, ...rest])
  }

const LOGICAL: Readonly<Record<string, FormulaFunction>> = {
  IF([condition, then, otherwise], context) {
    const holds = toBoolean(context.toScalar(context.evaluate(condition)))
    if (holds instanceof CellError) return holds
    if (holds) return then === undefined ? true : (context.evaluate(then) ?? 0)
    return otherwise === undefined ? false : (context.evaluate(otherwise) ?? 0)
  },
  IFS(args, context) {
    for (let index = 0; index + 1 < args.length; index += 2) {
      const holds = toBoolean(context.toScalar(context.evaluate(args[index])))
      if (holds instanceof CellError) return holds
      if (holds) return context.evaluate(args[index + 1])
    }
    return NOT_AVAILABLE
  },
  IFERROR([argument, otherwise], context) {
    const value = context.toScalar(context.evaluate(argument))
    return value instanceof CellError ? context.evaluate(otherwise) : value
  },
  IFNA([argument, otherwise], context) {
    const value = context.toScalar(context.evaluate(argument))
    return value instanceof CellError && value.code === NOT_AVAILABLE.code ? context.evaluate(otherwise) : value
  },
  CHOOSE([which, ...choices], context) {
    const number = toNumber(context.toScalar(context.evaluate(which)))
    if (number instanceof CellError) return number
    const chosen = Math.trunc(number)
    return chosen < 1 || chosen > choices.length ? VALUE_ERROR : context.evaluate(choices[chosen - 1])
  },
  SWITCH([argument, ...cases], context) {
    const value = context.toScalar(context.evaluate(argument))
    if (value instanceof CellError) return value
    for (let index = 0; index + 1 < cases.length; index += 2) {
      const candidate = context.toScalar(context.evaluate(cases[index]))
      const isEqual =
        typeof candidate === 'string' && typeof value === 'string'
          ? candidate.toLowerCase() === value.toLowerCase()
          : candidate === value
      if (isEqual) return context.evaluate(cases[index + 1])
    }
    return cases.length % 2 === 1 ? context.evaluate(cases.at(-1)) : NOT_AVAILABLE
  },
  AND: (args, context) => joinBooleans(args, context, (booleans) => booleans.every(Boolean)),
  OR: (args, context) => joinBooleans(args, context, (booleans) => booleans.some(Boolean)),
  XOR: (args, context) => joinBooleans(args, context, (booleans) => booleans.filter(Boolean).length % 2 === 1),
  NOT: ofScalars(([value = null]) => {
    const holds = toBoolean(value)
    return holds instanceof CellError ? holds : !holds
  }),
  TRUE: () => true,
  FALSE: () => false,
  NA: () => NOT_AVAILABLE,
}

function joinBooleans(
  args: readonly Argument[],
  context: FunctionContext,
  join: (booleans: readonly boolean[]) => boolean,
): Scalar {
  const booleans: boolean[] = []
  for (const argument of args) {
    const value = context.evaluate(argument)
    const isCells = isRange(value) || isMatrix(value)
    for (const cell of context.toMatrix(value).flat()) {
      // Empty cells and words in cells do not count.
      if (isCells && (cell === null || typeof cell === 'string')) continue
      const holds = toBoolean(cell)
      if (holds instanceof CellError) return holds
      booleans.push(holds)
    }
  }
  return booleans.length === 0 ? VALUE_ERROR : join(booleans)
}

const test =
  (holds: (value: Scalar) => boolean): FormulaFunction =>
  ([argument], context) =>
    context.applyToScalars([context.evaluate(argument)], ([value = null]) => holds(value))

function isEven(value: Scalar): boolean | CellError {
  const number = toNumber(value)
  return number instanceof CellError ? number : Math.trunc(number) % 2 === 0
}

const MAX_NUMBERED = 100_000

/** Numbers of rows or columns, of which the first is 0 inside and 1 in a sheet. */
function numbersFrom(first: number, last: number): number[] {
  if (last - first >= MAX_NUMBERED) throw new NotComputable('too large a range')
  return Array.from({ length: last - first + 1 }, (_, index) => first + index + 1)
}

const INFORMATION: Readonly<Record<string, FormulaFunction>> = {
  ISBLANK: test((value) => value === null),
  ISNUMBER: test((value) => typeof value === 'number'),
  ISTEXT: test((value) => typeof value === 'string'),
  ISNONTEXT: test((value) => typeof value !== 'string'),
  ISLOGICAL: test((value) => typeof value === 'boolean'),
  ISERROR: test((value) => value instanceof CellError),
  ISERR: test((value) => value instanceof CellError && value.code !== NOT_AVAILABLE.code),
  ISNA: test((value) => value instanceof CellError && value.code === NOT_AVAILABLE.code),
  ISEVEN: ofScalars(([value = null]) => isEven(value)),
  ISODD: ofScalars(([value = null]) => {
    const even = isEven(value)
    return even instanceof CellError ? even : !even
  }),
  N: ofScalars(([value = null]) => (typeof value === 'number' || typeof value === 'boolean' ? toNumber(value) : 0)),
  T: ofScalars(([value = null]) => (typeof value === 'string' ? value : '')),
  ROW([argument], context) {
    const range = argument ? context.evaluate(argument) : undefined
    if (range === undefined) return context.at.row + 1
    if (!isRange(range)) return VALUE_ERROR
    return context.at.isArray === true ? numbersFrom(range.top, range.bottom).map((row) => [row]) : range.top + 1
  },
  COLUMN([argument], context) {
    const range = argument ? context.evaluate(argument) : undefined
    if (range === undefined) return context.at.column + 1
    if (!isRange(range)) return VALUE_ERROR
    return context.at.isArray === true ? [numbersFrom(range.left, range.right)] : range.left + 1
  },
  ROWS([argument], context) {
    const value = context.evaluate(argument)
    return isRange(value) ? value.bottom - value.top + 1 : context.toMatrix(value).length
  },
  COLUMNS([argument], context) {
    const value = context.evaluate(argument)
    return isRange(value) ? value.right - value.left + 1 : (context.toMatrix(value)[0]?.length ?? 0)
  },
}

const COUNTS: Readonly<Record<string, FormulaFunction>> = {
  COUNT: (args, context) => cellsOf(args, context).filter((value) => typeof value === 'number').length,
  COUNTA: (args, context) => cellsOf(args, context).filter((value) => value !== null).length,
  COUNTBLANK: (args, context) => cellsOf(args, context).filter((value) => value === null || value === '').length,
  SUBTOTAL: subtotal,
  SUMPRODUCT(args, outer) {
    if (args.length === 0) throw new NotComputable('SUMPRODUCT')
    const context = outer.asArray()
    const product = args
      .map((argument) => context.evaluate(argument))
      .reduce((left, right) =>
        context.combine(left, right, (one, other) => {
          if (one instanceof CellError) return one
          if (other instanceof CellError) return other
          return typeof one === 'number' && typeof other === 'number' ? one * other : 0
        }),
      )
    const values = context.toMatrix(product).flat()
    return (
      values.find((value) => value instanceof CellError) ?? sum(values.filter((value) => typeof value === 'number'))
    )
  },
  RANK([argument, list, order], context) {
    const number = toNumber(context.toScalar(context.evaluate(argument)))
    const numbers = readNumbers([list], context)
    const isAscending = toBoolean(context.toScalar(context.evaluate(order)))
    if (number instanceof CellError) return number
    if (numbers instanceof CellError) return numbers
    if (!numbers.includes(number)) return NOT_AVAILABLE
    return 1 + numbers.filter((each) => (isAscending === true ? each < number : each > number)).length
  },
  NPV([rate, ...values], context) {
    const interest = toNumber(context.toScalar(context.evaluate(rate)))
    const numbers = readNumbers(values, context)
    if (interest instanceof CellError) return interest
    if (numbers instanceof CellError) return numbers
    return finite(numbers.reduce((total, number, index) => total + number / (1 + interest) ** (index + 1), 0))
  },
  TEXT: ofScalars(([value = null, code = null], { is1904 }) => {
    const format = toText(code)
    const number = toNumber(value)
    if (format instanceof CellError) return format
    return number instanceof CellError ? toText(value) : formatNumber(format, number, is1904).trim()
  }),
}

const entriesOf = <T>(functions: Readonly<Record<string, T>>) => Object.entries(functions)

const FUNCTIONS: ReadonlyMap<string, FormulaFunction> = new Map<string, FormulaFunction>([
  ...entriesOf(AGGREGATES).map(([name, compute]) => [name, ofAllNumbers(compute)] as const),
  ...entriesOf(MATH).map(([name, compute]) => [name, ofNumbers(compute)] as const),
  ...LIBRARY_OF_NUMBERS.map((name) => [name, ofScalars((values) => callLibrary(name, values.map(toOperand)))] as const),
  ...LIBRARY_OF_LISTS.map((name): [string, FormulaFunction] => [
    name,
    (args, context) => {
      const numbers = readNumbers(args, context)
      return numbers instanceof CellError ? numbers : callLibrary(name, numbers)
    },
  ]),
  ...LIBRARY_OF_LIST_AND_NUMBER.map((name) => [name, listAndNumber(name)] as const),
  ...entriesOf(LIBRARY_NAMES).map(([name, own]) => [name, listAndNumber(own)] as const),
  ...entriesOf(LOGICAL),
  ...entriesOf(INFORMATION),
  ...entriesOf(COUNTS),
  ['RANK.EQ', COUNTS['RANK'] ?? (() => NOT_AVAILABLE)],
  ...entriesOf(TEXT_FUNCTIONS).map(([name, compute]) => [name, compute] as const),
  ...entriesOf(DATE_FUNCTIONS).map(([name, compute]) => [name, ofScalars(compute)] as const),
  ...entriesOf(LOOKUP_FUNCTIONS),
])
