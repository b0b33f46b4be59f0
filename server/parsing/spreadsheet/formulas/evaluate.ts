/** Computes formulas whose results a workbook does not store, within bounds of time, depth and size. */
import type { CellObject } from '@e965/xlsx'
import { type AstExpression, type ReferenceIdentifier, parse, parseA1Ref, tokenize } from '@borgar/fx/xlsx'
import type { FunctionContext } from './function-context.ts'
import { callFunction } from './functions.ts'
import {
  CellError,
  type CellRange,
  compare,
  DIVISION_ERROR,
  finite,
  isMatrix,
  isRange,
  type Matrix,
  NotComputable,
  type Scalar,
  storedError,
  toOperand,
  toText,
  type Value,
  VALUE_ERROR,
} from './values.ts'

export interface FormulaSheet {
  readonly name: string
  /** Rows by number and cells by column, both from 0, sparse. */
  readonly cells: readonly (readonly (CellObject | undefined)[] | undefined)[]
}

export interface DefinedFormula {
  readonly name: string
  readonly formula: string
  /** Number of the sheet that the name belongs to; undefined for the whole workbook. */
  readonly sheet: number | undefined
}

export interface FormulaWorkbook {
  readonly sheets: readonly FormulaSheet[]
  readonly names: readonly DefinedFormula[]
  readonly is1904: boolean
}

export interface Formulas {
  /** Undefined if the formula cannot be computed. */
  readonly compute: (sheet: number, row: number, column: number) => Scalar | undefined
  /** Address that the cell's HYPERLINK function leads to. */
  readonly address: (sheet: number, row: number, column: number) => string | undefined
}

const MAX_DEPTH = 400
const MAX_RANGE_CELLS = 500_000
const MAX_STEPS = 20_000_000
const MAX_FORMULA_CHARACTERS = 8_192
const MAX_TEXT = 32_767
const MAX_TIME_MS = 5_000
const MAX_PARSED_FORMULAS = 1_000
/** Numbers from 0 of the last row and column that .xls and .xlsx have: ranges up to them mean whole columns and rows. */
const LAST_ROWS = new Set([65_535, 1_048_575])
const LAST_COLUMNS = new Set([255, 16_383])
/** Empty cells beyond those of the sheet that take as long as one step. */
const EMPTY_CELLS_PER_STEP = 64
/** Steps between two looks at the clock. */
const CLOCK_STEPS = 1_000

interface Location {
  readonly sheet: number
  readonly row: number
  readonly column: number
  /** In array formulas a range stands for all its cells, not for the one in the row or column of the formula. */
  readonly isArray?: boolean
}

/** Whether the file stores a result; programs that leave results to Excel also write an empty text. */
export const isStored = ({ t, v, f, F }: CellObject): boolean =>
  f === undefined && F === undefined ? t !== 'z' : t !== 'z' && v !== undefined && v !== ''

interface Corner {
  readonly row: number
  readonly column: number
}

export function createFormulas({ sheets, names, is1904 }: FormulaWorkbook): Formulas {
  const results = new Map<CellObject, Scalar | NotComputable>()
  const running = new Set<CellObject>()
  const parsed = new Map<string, AstExpression>()
  const sheetNumbers = new Map(sheets.map(({ name }, index) => [name.toLowerCase(), index]))
  const rowCounts = sheets.map(({ cells }) => cells.length)
  const columnCounts = sheets.map(({ cells }) => cells.reduce((most, row) => Math.max(most, row?.length ?? 0), 0))
  const [mostRows, mostColumns] = [Math.max(1, ...rowCounts), Math.max(1, ...columnCounts)]
  /** The formula names another sheet: its whole columns have one length in all of them, so that they can be combined. */
  let isAcrossSheets = false
  // Thousands of cells may hold this failure.
  const tooMuch = new NotComputable('too much to compute')
  let steps = 0
  let startedAt: number | undefined

  function countSteps(count: number): void {
    startedAt ??= performance.now()
    const before = Math.floor(steps / CLOCK_STEPS)
    steps += count
    const isOver =
      steps > MAX_STEPS || (Math.floor(steps / CLOCK_STEPS) > before && performance.now() - startedAt > MAX_TIME_MS)
    if (isOver) endWork()
  }

  /** Parsing takes long in relation to steps. */
  function checkClock(): void {
    startedAt ??= performance.now()
    if (steps >= MAX_STEPS || performance.now() - startedAt > MAX_TIME_MS) endWork()
  }

  function endWork(): never {
    steps = MAX_STEPS
    throw tooMuch
  }

  function readFormula(formula: string): AstExpression {
    const known = parsed.get(formula)
    if (known) return known
    checkClock()
    if (formula.length > MAX_FORMULA_CHARACTERS) throw new NotComputable('too long')
    let read
    try {
      read = parse(tokenize(formula, { mergeRefs: true }), {})
    } catch (error) {
      throw new NotComputable('not a formula', { cause: error })
    }
    if (!('type' in read)) throw new NotComputable('not a formula')
    if (parsed.size >= MAX_PARSED_FORMULAS) parsed.clear()
    parsed.set(formula, read)
    return read
  }

  function readCell({ sheet, row, column }: Location): Scalar {
    countSteps(1)
    const cell = sheets[sheet]?.cells[row]?.[column]
    if (!cell) return null
    if (cell.f === undefined && cell.F === undefined) return storedValue(cell)
    return isStored(cell) ? storedValue(cell) : computeCell(cell, { sheet, row, column })
  }

  function computeCell(cell: CellObject, at: Location): Scalar {
    const known = results.get(cell)
    if (known instanceof NotComputable) throw known
    if (known !== undefined) return known
    if (running.has(cell)) throw new NotComputable('a cycle')
    if (running.size >= MAX_DEPTH) throw new NotComputable('too deep')
    running.add(cell)
    try {
      const result = computeResult(cell, at)
      results.set(cell, result)
      return result
    } catch (error) {
      const failure = error instanceof NotComputable ? error : new NotComputable('failed', { cause: error })
      // A chain that is too deep from here may be short once its beginning is known.
      if (failure.message !== 'too deep') results.set(cell, failure)
      throw failure
    } finally {
      running.delete(cell)
    }
  }

  function evaluateFormula(formula: string, at: Location): Value {
    const before = isAcrossSheets
    isAcrossSheets = formula.includes('!')
    try {
      return evaluate(readFormula(formula), at)
    } finally {
      isAcrossSheets = before
    }
  }

  function computeResult(cell: CellObject, at: Location): Scalar {
    if (cell.F === undefined) {
      const value = toScalar(evaluateFormula(cell.f ?? '', at), at)
      return value ?? 0
    }
    // The first cell of an array formula has the formula of all its cells.
    const range = parseA1Ref(cell.F)
    if (!range || !('range' in range)) throw new NotComputable('no range')
    const [top, left] = [range.range.top ?? 0, range.range.left ?? 0]
    const formula = cell.f ?? sheets[at.sheet]?.cells[top]?.[left]?.f
    if (formula === undefined) throw new NotComputable('no formula')
    const value = toMatrix(evaluateFormula(formula, { sheet: at.sheet, row: top, column: left, isArray: true }))
    const row = value.length === 1 ? value[0] : value[at.row - top]
    const result = row?.length === 1 ? row[0] : row?.[at.column - left]
    return result === undefined ? new CellError('#N/A') : (result ?? 0)
  }

  function evaluate(node: AstExpression | null | undefined, at: Location): Value {
    countSteps(1)
    if (!node) return null
    switch (node.type) {
      case 'Literal':
        return node.value
      case 'ErrorLiteral':
        return new CellError(node.value)
      case 'ReferenceIdentifier':
        return readReference(node, at)
      case 'UnaryExpression': {
        const [argument] = node.arguments
        const operand = evaluate(argument, at)
        switch (node.operator) {
          case '+':
            return operand
          case '-':
            return map(operand, (value) => applyToNumber(value, (number) => -number))
          case '%':
            return map(operand, (value) => applyToNumber(value, (number) => number / 100))
          default:
            throw new NotComputable(`the operator ${node.operator}`)
        }
      }
      case 'BinaryExpression': {
        const [left, right] = node.arguments
        if (node.operator === ':') return joinRanges(evaluate(left, at), evaluate(right, at))
        return combine(evaluate(left, at), evaluate(right, at), BINARY[node.operator] ?? notComputed)
      }
      case 'ArrayExpression':
        return node.elements.map((row) => row.map((element) => toScalar(evaluate(element, at), at)))
      case 'CallExpression':
        return callFunction(node.callee.name, node.arguments, contextAt(at))
      default:
        throw new NotComputable(node.type)
    }
  }

  const contextAt = (at: Location): FunctionContext => ({
    at,
    is1904,
    evaluate: (node) => evaluate(node, at),
    toScalar: (value) => toScalar(value, at),
    toMatrix,
    asArray: () => contextAt({ ...at, isArray: true }),
    applyToScalars: (values, compute) => applyToScalars(values, compute, at),
    countSteps,
    formulaAt: (sheet, row, column) => sheets[sheet]?.cells[row]?.[column]?.f,
    combine,
  })

  function readReference({ value, kind }: ReferenceIdentifier, at: Location): Value {
    const reference = parseA1Ref(value)
    if (kind === 'table' || !reference || reference.workbookName) throw new NotComputable(value)
    const sheetName = reference.sheetName ?? ''
    const sheet = sheetName === '' ? at.sheet : sheetNumbers.get(sheetName.toLowerCase())
    if (sheet === undefined) throw new NotComputable(value)
    if ('name' in reference) return readName(reference.name, sheetName === '' ? undefined : sheet, at)
    const { top, left, bottom, right } = reference.range
    return {
      sheet,
      top: top ?? 0,
      left: left ?? 0,
      bottom: bottom ?? endOf(sheet).row,
      right: right ?? endOf(sheet).column,
    }
  }

  function readName(name: string, sheet: number | undefined, at: Location): Value {
    const found = names.filter((each) => each.name.toLowerCase() === name.toLowerCase())
    const own =
      found.find((each) => each.sheet === (sheet ?? at.sheet)) ?? found.find((each) => each.sheet === undefined)
    if (!own || nameDepth >= MAX_NAME_DEPTH) throw new NotComputable(name)
    nameDepth += 1
    try {
      return evaluate(readFormula(own.formula), at)
    } finally {
      nameDepth -= 1
    }
  }
  let nameDepth = 0

  function toMatrix(value: Value): Matrix {
    if (isMatrix(value)) return value
    if (!isRange(value)) return [[value]]
    const { sheet, top, left, bottom, right } = value
    const end = endOf(sheet)
    const lastRow = Math.max(top, LAST_ROWS.has(bottom) ? Math.min(bottom, end.row) : bottom)
    const lastColumn = Math.max(left, LAST_COLUMNS.has(right) ? Math.min(right, end.column) : right)
    const isTooLarge = (lastRow - top + 1) * (lastColumn - left + 1) > MAX_RANGE_CELLS
    return readRange(isTooLarge ? withinSheet(value) : { sheet, top, left, bottom: lastRow, right: lastColumn })
  }

  const endOf = (sheet: number): Corner =>
    isAcrossSheets ? { row: mostRows - 1, column: mostColumns - 1 } : ownEndOf(sheet)

  const ownEndOf = (sheet: number): Corner => ({
    row: Math.max(0, (rowCounts[sheet] ?? 0) - 1),
    column: Math.max(0, (columnCounts[sheet] ?? 0) - 1),
  })

  function withinSheet({ sheet, top, left, bottom, right }: CellRange): CellRange {
    const end = ownEndOf(sheet)
    return {
      sheet,
      top,
      left,
      bottom: Math.max(top, Math.min(bottom, end.row)),
      right: Math.max(left, Math.min(right, end.column)),
    }
  }

  /** Rows below the last one of the sheet are one array. */
  function readRange({ sheet, top, left, bottom, right }: CellRange): Matrix {
    const [height, width] = [bottom - top + 1, right - left + 1]
    if (height * width > MAX_RANGE_CELLS) throw new NotComputable('too large a range')
    const rows = Math.max(0, Math.min(height, (rowCounts[sheet] ?? 0) - top))
    const columns = Math.max(0, Math.min(width, (columnCounts[sheet] ?? 0) - left))
    countSteps(Math.ceil((height * width - rows * columns) / EMPTY_CELLS_PER_STEP))
    const emptyRow = Array.from({ length: width }, () => null)
    return Array.from({ length: height }, (_, row) =>
      row < rows
        ? emptyRow.map((empty, column) =>
            column < columns ? readCell({ sheet, row: top + row, column: left + column }) : empty,
          )
        : emptyRow,
    )
  }

  /** The cell in the row or column of the formula stands for a range (implicit intersection). */
  function toScalar(value: Value, at: Location): Scalar {
    if (isMatrix(value)) {
      const [first] = value
      if (value.length === 1 && first?.length === 1) return first[0] ?? null
      throw new NotComputable('several results')
    }
    if (!isRange(value)) return value
    const { sheet, top, left, bottom, right } = value
    if (top === bottom && left === right) return readCell({ sheet, row: top, column: left })
    if (at.isArray === true) throw new NotComputable('several results')
    if (left === right && at.row >= top && at.row <= bottom) return readCell({ sheet, row: at.row, column: left })
    if (top === bottom && at.column >= left && at.column <= right)
      return readCell({ sheet, row: top, column: at.column })
    throw new NotComputable('several results')
  }

  function applyToScalars(
    values: readonly Value[],
    compute: (scalars: readonly Scalar[]) => Scalar,
    at: Location,
  ): Value {
    if (at.isArray !== true || values.every(isSingle)) return compute(values.map((value) => toScalar(value, at)))
    const matrices = values.map(toMatrix)
    const width = Math.max(...matrices.map((matrix) => matrix[0]?.length ?? 1))
    return computeRows(matrices, (row) =>
      Array.from({ length: width }, (_cell, column) => {
        countSteps(matrices.length)
        return compute(matrices.map((matrix) => elementAt(matrix, row, column)))
      }),
    )
  }

  function map(value: Value, change: (value: Scalar) => Scalar): Value {
    if (isSingle(value)) return change(toMatrix(value)[0]?.[0] ?? null)
    const matrix = toMatrix(value)
    return computeRows([matrix], (row) => (matrix[row] ?? []).map(change))
  }

  function combine(left: Value, right: Value, apply: (left: Scalar, right: Scalar) => Scalar): Value {
    const [one, other] = [toMatrix(left), toMatrix(right)]
    const width = Math.max(one[0]?.length ?? 1, other[0]?.length ?? 1)
    const result = computeRows([one, other], (row) => {
      countSteps(width)
      return Array.from({ length: width }, (_cell, column) =>
        apply(elementAt(one, row, column), elementAt(other, row, column)),
      )
    })
    return result.length === 1 && width === 1 ? (result[0]?.[0] ?? null) : result
  }

  return {
    compute(sheet, row, column) {
      const cell = sheets[sheet]?.cells[row]?.[column]
      if (!cell) return undefined
      try {
        return computeCell(cell, { sheet, row, column })
      } catch (error) {
        if (error instanceof NotComputable) return undefined
        throw error
      }
    },
    address(sheet, row, column) {
      const formula = sheets[sheet]?.cells[row]?.[column]?.f
      if (formula === undefined || !LINK_FORMULA.test(formula)) return undefined
      try {
        const target = findLinkTarget(readFormula(formula))
        const at = { sheet, row, column }
        const address = target ? toText(toScalar(evaluate(target, at), at)) : undefined
        return typeof address === 'string' ? address : undefined
      } catch {
        // A link that cannot be computed must not lose the sheet.
        return undefined
      }
    },
  }
}

const LINK_FORMULA = /\bHYPERLINK\s*\(/i

/** The first argument of the first HYPERLINK, also where IF or another function chooses it. */
function findLinkTarget(node: AstExpression | null | undefined): AstExpression | undefined {
  if (node?.type !== 'CallExpression') return undefined
  if (node.callee.name.toUpperCase() === 'HYPERLINK') return node.arguments[0] ?? undefined
  return node.arguments.map(findLinkTarget).find((found) => found !== undefined)
}

const MAX_NAME_DEPTH = 20

const isSingle = (value: Value): boolean =>
  isRange(value) ? value.top === value.bottom && value.left === value.right : !isMatrix(value)

const lineAt = (matrix: Matrix, row: number) => (matrix.length === 1 ? matrix[0] : matrix[row])

/** Computes a row once for all rows in succession that are made of the same arrays, as empty ones are. */
function computeRows(matrices: readonly Matrix[], compute: (row: number) => readonly Scalar[]): Matrix {
  const rows: (readonly Scalar[])[] = []
  const height = Math.max(...matrices.map((matrix) => matrix.length))
  for (let row = 0; row < height; row += 1) {
    const before = rows.at(-1)
    const isRepeated = before && matrices.every((matrix) => lineAt(matrix, row) === lineAt(matrix, row - 1))
    rows.push(isRepeated ? before : compute(row))
  }
  return rows
}

/** A single row or column is repeated over the other operand. */
const elementAt = (matrix: Matrix, row: number, column: number): Scalar => {
  const line = lineAt(matrix, row)
  if (!line) return new CellError('#N/A')
  const element = line.length === 1 ? line[0] : line[column]
  return element === undefined ? new CellError('#N/A') : element
}

function storedValue(cell: CellObject): Scalar {
  const { t, v } = cell
  if (t === 'e') return new CellError(storedError(cell) ?? '#VALUE!')
  if (v instanceof Date) throw new NotComputable('a date')
  return v ?? null
}

function joinRanges(one: Value, other: Value): Value {
  if (one instanceof CellError) return one
  if (other instanceof CellError) return other
  // INDEX and others give the place of a cell in a spreadsheet program, but its value here.
  if (!isRange(one) || !isRange(other) || one.sheet !== other.sheet) throw new NotComputable('ends of a range')
  return {
    sheet: one.sheet,
    top: Math.min(one.top, other.top),
    left: Math.min(one.left, other.left),
    bottom: Math.max(one.bottom, other.bottom),
    right: Math.max(one.right, other.right),
  } satisfies CellRange
}

function applyToNumber(value: Scalar, apply: (number: number) => number): Scalar {
  const number = toOperand(value)
  return number instanceof CellError ? number : apply(number)
}

type Operation = (left: Scalar, right: Scalar) => Scalar

const notComputed: Operation = () => {
  throw new NotComputable('an operator')
}

const arithmetic =
  (apply: (left: number, right: number) => number | CellError): Operation =>
  (left, right) => {
    const [one, other] = [toOperand(left), toOperand(right)]
    if (one instanceof CellError) return one
    if (other instanceof CellError) return other
    const result = apply(one, other)
    return typeof result === 'number' ? finite(result) : result
  }

const comparison =
  (holds: (order: number) => boolean): Operation =>
  (left, right) => {
    const order = compare(left, right)
    return order instanceof CellError ? order : holds(order)
  }

/** Excel shows zero for a difference that only rounding leaves. */
const withoutRounding = (left: number, right: number, sum: number): number =>
  Math.abs(sum) < 2 ** -49 * Math.max(Math.abs(left), Math.abs(right)) ? 0 : sum

const BINARY: Readonly<Record<string, Operation>> = {
  '+': arithmetic((left, right) => withoutRounding(left, right, left + right)),
  '-': arithmetic((left, right) => withoutRounding(left, right, left - right)),
  '*': arithmetic((left, right) => left * right),
  '/': arithmetic((left, right) => (right === 0 ? DIVISION_ERROR : left / right)),
  '^': arithmetic((left, right) => left ** right),
  '&': (left, right) => {
    const [one, other] = [toText(left), toText(right)]
    if (one instanceof CellError) return one
    if (other instanceof CellError) return other
    return one.length + other.length > MAX_TEXT ? VALUE_ERROR : one + other
  },
  '=': comparison((order) => order === 0),
  '<>': comparison((order) => order !== 0),
  '<': comparison((order) => order < 0),
  '>': comparison((order) => order > 0),
  '<=': comparison((order) => order <= 0),
  '>=': comparison((order) => order >= 0),
}
