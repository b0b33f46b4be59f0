/** Filters of `filter.ts` matched in memory, in counted steps. */
import { AppError } from '#server/base/errors.ts'
import { comparatorOf, comparesAsText, textOf } from './compare.ts'
import type { Filter } from './filter.ts'
import { likePattern, regexPattern } from './pattern.ts'
import { UNLIMITED_WORK, type Work } from './work.ts'

/** Above this many digits, making one big number of them takes longer for each. */
const LONG_NUMBER = 100
const STEPS_PER_DIGIT = 4
const COMPARED_CHARACTERS_PER_STEP = 64

/**
 * SQL's three-valued logic on JSON values: unknown does not match. Times without zone are UTC; big numbers must be text.
 * @throws AppError `bad_request` for unknown columns, operators that need PostgreSQL, and invalid values
 * @throws WorkExceeded if `work` ends before the answer is known
 */
export function matchesRow(
  filter: Filter,
  columnTypes: ReadonlyMap<string, string>,
  row: Readonly<Record<string, unknown>>,
  work: Work = UNLIMITED_WORK,
): boolean {
  const type = columnTypes.get(filter.column)
  if (type === undefined) throw new AppError('bad_request', `column "${filter.column}" does not exist`)
  if (filter.path.length > 0) throw unsupported('a JSON path')
  const truth = evaluate(filter, type, Object.hasOwn(row, filter.column) ? row[filter.column] : null, work)
  return truth !== undefined && truth !== filter.negated
}

const unsupported = (what: string) => new AppError('bad_request', `${what} cannot be used in this filter`)

function evaluate(filter: Filter, type: string, value: unknown, work: Work): boolean | undefined {
  const isNull = value === null || value === undefined
  if (filter.operator === 'is') {
    if (filter.value === 'null') return isNull
    if (filter.value === 'not_null') return !isNull
    if (type !== 'boolean') throw unsupported(`is.${filter.value} on ${type}`)
    if (isNull || filter.value === 'unknown') return isNull && filter.value === 'unknown'
    return value === (filter.value === 'true')
  }
  if ('quantifier' in filter && filter.quantifier) throw unsupported(`${filter.operator}(${filter.quantifier})`)
  if (filter.operator === 'in') {
    const compareWithEach = compareWith(filter, filter.value, type, work)
    if (isNull) return filter.value.length > 0 ? undefined : false
    return compareWithEach(textOf(value)).includes(0)
  }
  const test = testOf(filter, type, work)
  if (isNull) return filter.operator === 'isdistinct' ? true : undefined
  return test(textOf(value))
}

interface Comparison {
  readonly type: string
  readonly compareWithEach: (value: string) => number[]
}

/** Wanted values are parsed once for each filter; patterns, which take more memory, at each use. */
const comparisons = new WeakMap<Filter, Comparison>()

function compareWith(
  filter: Filter,
  wanted: readonly string[],
  type: string,
  work: Work,
): Comparison['compareWithEach'] {
  const isText = comparesAsText(type)
  let comparison = comparisons.get(filter)
  if (comparison?.type !== type) {
    work.spend(wanted.reduce((steps, { length }) => steps + 1 + parsedSteps(length), 0))
    comparison = { type, compareWithEach: comparatorOf(type)(wanted) }
    comparisons.set(filter, comparison)
  }
  const { compareWithEach } = comparison
  return function compareInSteps(value) {
    const steps = wanted.reduce((sum, { length }) => sum + 1 + comparedSteps(length, value, isText), 0)
    work.spend(isText ? steps : steps + parsedSteps(value.length))
    return compareWithEach(value)
  }
}

const parsedSteps = (length: number): number => length * (length > LONG_NUMBER ? STEPS_PER_DIGIT : 1)

/** Texts are compared up to the end of the shorter one, numbers with all of their digits. */
const comparedSteps = (wantedLength: number, value: string, isText: boolean): number =>
  Math.floor((isText ? Math.min(wantedLength, value.length) : value.length) / COMPARED_CHARACTERS_PER_STEP)

type SingleValued = Exclude<Filter, { readonly operator: 'in' | 'is' }>

function testOf(filter: SingleValued, type: string, work: Work): (value: string) => boolean {
  const { operator, value: wanted } = filter
  if (operator === 'like' || operator === 'ilike') {
    return likePattern(wanted.replaceAll('*', '%'), { ignoreCase: operator === 'ilike', work })
  }
  if (operator === 'match' || operator === 'imatch') {
    return regexPattern(wanted, { ignoreCase: operator === 'imatch', work })
  }
  const compareWithEach = compareWith(filter, [wanted], type, work)
  const compare = (value: string) => compareWithEach(value)[0] ?? 0
  switch (operator) {
    case 'eq':
      return (value) => compare(value) === 0
    case 'neq':
    case 'isdistinct':
      return (value) => compare(value) !== 0
    case 'gt':
      return (value) => compare(value) > 0
    case 'gte':
      return (value) => compare(value) >= 0
    case 'lt':
      return (value) => compare(value) < 0
    case 'lte':
      return (value) => compare(value) <= 0
    default:
      throw unsupported(operator)
  }
}
