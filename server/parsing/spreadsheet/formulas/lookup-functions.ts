/** Functions of formulas that look values up, and that add up or count those which meet criteria. */
import type { Argument, FormulaFunction, FunctionContext } from './function-context.ts'
import {
  CellError,
  compare,
  DIVISION_ERROR,
  isRange,
  NotComputable,
  NOT_AVAILABLE,
  REFERENCE_ERROR,
  type Scalar,
  toBoolean,
  toNumber,
  type Value,
  VALUE_ERROR,
} from './values.ts'
import { readWildcards, stepsToMatch } from './wildcards.ts'

const CRITERION = /^(<=|>=|<>|<|>|=)?([^]*)$/
/** Dates, times and separated thousands: spreadsheet programs compare them as numbers, by the country's order. */
const NUMBER_IN_WORDS =
  /^\s*[-+$€£]?(?:\d{1,4}[-/.]\d{1,2}(?:[-/.]\d{1,4})?(?:[ T]\d.*)?|\d{1,2}:\d\d.*|\d{1,3}(?:[,.' ]\d{3})+(?:[.,]\d+)?|\d+,\d+|\d{1,2}\.? ?-?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*.*)\s*%?$/i

type CountSteps = FunctionContext['countSteps']

const isEqual = (one: Scalar, other: Scalar): boolean => one !== null && compare(one, other) === 0

function parseLiteral(text: string): Scalar {
  const number = toNumber(text)
  if (text !== '' && typeof number === 'number') return number
  return /^(?:true|false)$/i.test(text) ? /^t/i.test(text) : text
}

/** Criteria of SUMIF and its like: a value, or a comparison in words (">=10", "<>", "A*"). */
function readCriterion(given: Scalar, countSteps: CountSteps): (value: Scalar) => boolean {
  if (given instanceof CellError) return () => false
  if (typeof given !== 'string') return (value) => (given === null ? value === 0 : isEqual(value, given))
  const [, operator = '=', text = ''] = CRITERION.exec(given) ?? []
  const wanted = parseLiteral(text)
  if (typeof wanted === 'string' && NUMBER_IN_WORDS.test(wanted)) throw new NotComputable('a number in words')
  if (operator === '=' || operator === '<>') {
    const matches = matcherOf(text, wanted, countSteps)
    return operator === '=' ? matches : (value) => !matches(value)
  }
  return (value) => {
    if (typeof value !== typeof wanted) return false
    const order = compare(value, wanted)
    if (order instanceof CellError) return false
    if (order === 0) return operator.endsWith('=')
    return operator.startsWith('<') ? order < 0 : order > 0
  }
}

function matcherOf(text: string, wanted: Scalar, countSteps: CountSteps): (value: Scalar) => boolean {
  if (text === '') return (value) => value === null || value === ''
  if (typeof wanted === 'string' && /[*?~]/.test(wanted)) {
    const pattern = readWildcards(wanted)
    return (value) => {
      if (typeof value !== 'string') return false
      countSteps(stepsToMatch(value))
      return pattern.matches(value)
    }
  }
  return (value) => isEqual(value, wanted)
}

const flatten = (argument: Argument, context: FunctionContext): readonly Scalar[] =>
  context.toMatrix(context.evaluate(argument)).flat()

/** Cells of the first range by the place of cells of the others that meet their criteria. */
function select(
  values: readonly Scalar[],
  criteria: readonly Argument[],
  context: FunctionContext,
): readonly Scalar[] | CellError {
  let chosen: readonly number[] | undefined
  for (let index = 0; index + 1 < criteria.length; index += 2) {
    const cells = flatten(criteria[index], context)
    const meets = readCriterion(context.toScalar(context.evaluate(criteria[index + 1])), context.countSteps)
    if (chosen && cells.length < values.length) return VALUE_ERROR
    chosen = (chosen ?? [...cells.keys()]).filter((at) => meets(cells[at] ?? null))
  }
  return (chosen ?? []).map((at) => values[at] ?? null)
}

/** The range to add up has the size of the range with criteria, wherever it ends itself. */
function sizeLike(sumRange: Value, like: Value): Value {
  if (!isRange(sumRange) || !isRange(like)) return sumRange
  return {
    ...sumRange,
    bottom: sumRange.top + like.bottom - like.top,
    right: sumRange.left + like.right - like.left,
  }
}

const numbersOf = (values: readonly Scalar[]): number[] => values.filter((value) => typeof value === 'number')

const total = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0)

function aggregate(
  values: readonly Scalar[] | CellError,
  join: (numbers: readonly number[]) => number | CellError,
): Scalar {
  if (values instanceof CellError) return values
  return values.find((value) => value instanceof CellError) ?? join(numbersOf(values))
}

const mean = (numbers: readonly number[]) => (numbers.length === 0 ? DIVISION_ERROR : total(numbers) / numbers.length)

const oneCriterion =
  (join: (numbers: readonly number[]) => number | CellError): FormulaFunction =>
  ([range, criterion, sumRange], context) => {
    const cells = context.evaluate(range)
    const values = sumRange ? sizeLike(context.evaluate(sumRange), cells) : cells
    return aggregate(select(context.toMatrix(values).flat(), [range, criterion], context), join)
  }

const severalCriteria =
  (join: (numbers: readonly number[]) => number | CellError): FormulaFunction =>
  ([range, ...criteria], context) =>
    aggregate(select(flatten(range, context), criteria, context), join)

/** Index of the last value that is not greater, in ascending order; -1 if there is none. */
function findLastNotGreater(values: readonly Scalar[], wanted: Scalar): number {
  return values.findLastIndex((value) => {
    if (value === null || typeof value !== typeof wanted) return false
    const order = compare(value, wanted)
    return typeof order === 'number' && order <= 0
  })
}

function findExact(values: readonly Scalar[], wanted: Scalar, countSteps: CountSteps): number {
  const matches =
    typeof wanted === 'string' ? matcherOf(wanted, wanted, countSteps) : (value: Scalar) => isEqual(value, wanted)
  return values.findIndex(matches)
}

const scalarOf = (argument: Argument, context: FunctionContext): Scalar => context.toScalar(context.evaluate(argument))

function lookUp(args: readonly Argument[], context: FunctionContext, isVertical: boolean): Value {
  const [wanted, place] = [scalarOf(args[0], context), toNumber(scalarOf(args[2], context))]
  const isSorted = args[3] === undefined ? true : toBoolean(scalarOf(args[3], context))
  if (wanted instanceof CellError) return wanted
  if (place instanceof CellError) return place
  const matrix = context.toMatrix(context.evaluate(args[1]))
  const keys = isVertical ? matrix.map((row) => row[0] ?? null) : (matrix[0] ?? [])
  const found = isSorted === true ? findLastNotGreater(keys, wanted) : findExact(keys, wanted, context.countSteps)
  if (found === -1) return NOT_AVAILABLE
  const value = isVertical ? matrix[found]?.[place - 1] : matrix[place - 1]?.[found]
  return value === undefined ? REFERENCE_ERROR : value
}

export const LOOKUP_FUNCTIONS: Readonly<Record<string, FormulaFunction>> = {
  SUMIF: oneCriterion(total),
  AVERAGEIF: oneCriterion(mean),
  COUNTIF: ([range, criterion], context) =>
    context.applyToScalars([context.evaluate(criterion)], ([wanted = null]) => {
      const meets = readCriterion(wanted, context.countSteps)
      return flatten(range, context).filter((cell) => meets(cell)).length
    }),
  SUMIFS: severalCriteria(total),
  AVERAGEIFS: severalCriteria(mean),
  MAXIFS: severalCriteria((numbers) => (numbers.length === 0 ? 0 : Math.max(...numbers))),
  MINIFS: severalCriteria((numbers) => (numbers.length === 0 ? 0 : Math.min(...numbers))),
  COUNTIFS: (criteria, context) => countOf(select(flatten(criteria[0], context), criteria, context)),
  VLOOKUP: (args, context) => lookUp(args, context, true),
  HLOOKUP: (args, context) => lookUp(args, context, false),
  MATCH([wanted, range, type], context) {
    const value = scalarOf(wanted, context)
    if (value instanceof CellError) return value
    const kind = type === undefined ? 1 : toNumber(scalarOf(type, context))
    if (kind instanceof CellError) return kind
    if (kind < 0) throw new NotComputable('MATCH in descending order')
    const values = flatten(range, context)
    const found = kind === 0 ? findExact(values, value, context.countSteps) : findLastNotGreater(values, value)
    return found === -1 ? NOT_AVAILABLE : found + 1
  },
  XLOOKUP([wanted, range, results, missing, ...modes], context) {
    if (modes.length > 0) throw new NotComputable('XLOOKUP with modes')
    const value = scalarOf(wanted, context)
    if (value instanceof CellError) return value
    const found = flatten(range, context).findIndex((each) => isEqual(each, value))
    if (found !== -1) return resultAt(found, range, results, context)
    return missing ? context.evaluate(missing) : NOT_AVAILABLE
  },
  LOOKUP([wanted, range, results], outer) {
    const value = scalarOf(wanted, outer)
    const context = outer.asArray()
    if (value instanceof CellError) return value
    if (!results) throw new NotComputable('LOOKUP in an array')
    const found = findLastNotGreater(flatten(range, context), value)
    return found === -1 ? NOT_AVAILABLE : (flatten(results, context)[found] ?? null)
  },
  INDEX([source, row, column], context) {
    const value = context.evaluate(source)
    const [down, across] = [row, column].map((argument) => toNumber(scalarOf(argument, context)))
    if (down instanceof CellError) return down
    if (across instanceof CellError) return across
    const matrix = context.toMatrix(value)
    const isRow = matrix.length === 1 && column === undefined
    const [first, second] = isRow ? [1, down ?? 0] : [down ?? 0, column === undefined ? 1 : (across ?? 0)]
    const isList = matrix.length === 1 || column !== undefined || matrix[0]?.length === 1
    if (first < 1 || second < 1 || !isList) throw new NotComputable('INDEX of several cells')
    const found = matrix[first - 1]?.[second - 1]
    return found === undefined ? REFERENCE_ERROR : found
  },
}

/** @throws NotComputable for several columns or rows of results. */
function resultAt(found: number, range: Argument, results: Argument, context: FunctionContext): Scalar {
  const matrix = context.toMatrix(context.evaluate(results))
  const isList = matrix.length === 1 || matrix[0]?.length === 1
  if (!isList || matrix.flat().length !== flatten(range, context).length) throw new NotComputable('several results')
  return matrix.flat()[found] ?? null
}

const countOf = (values: readonly Scalar[] | CellError): Scalar =>
  values instanceof CellError ? values : values.length
