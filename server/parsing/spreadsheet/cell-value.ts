import type { CellObject } from '@e965/xlsx'
import { addressBehind } from '#server/parsing/links.ts'
import { withoutNul } from '#server/parsing/page.ts'
import { builtinCode, type EastAsianLocale, readBuiltinId } from './builtin-formats.ts'
import { type Formulas, isStored } from './formulas/evaluate.ts'
import { CellError, type Scalar, storedError } from './formulas/values.ts'
import { formatGeneral, formatNumber, formatWords } from './number-format.ts'

export interface CellContext {
  readonly is1904: boolean
  readonly locale: EastAsianLocale | undefined
  readonly formulas: Formulas
  readonly sheet: number
  /** Whether the program that wrote the workbook stored results of its formulas. */
  readonly storesResults: boolean
}

/** Notice that Excel writes before a threaded comment, for older versions. */
const CONVERSATION_NOTICE = /^\s*\[[^\]]*\][\s\S]*?https?:\/\/\S+\s+[^:\n]{1,20}:\s*/

/** The value as a spreadsheet program shows it, the address of its link, and comments in brackets. */
export function formatCell(cell: CellObject, row: number, column: number, context: CellContext): string {
  const value = formatValue(cell, row, column, context)
  const target = cell.l?.Target ?? context.formulas.address(context.sheet, row, column)
  const link = target === undefined ? '' : addressBehind(value, target)
  const comments = (cell.c ?? []).map(({ t }) => `[${t.replace(CONVERSATION_NOTICE, '').trim()}]`)
  return [`${value}${link}`, ...new Set(comments)]
    .map((part) => withoutNul(part).replaceAll(/\s+/g, ' ').trim())
    .filter((part) => part !== '' && part !== '[]')
    .join(' ')
}

function formatValue(cell: CellObject, row: number, column: number, context: CellContext): string {
  if (!isStored(cell)) {
    const computed = context.formulas.compute(context.sheet, row, column)
    if (computed !== undefined) return formatScalar(computed, cell, context)
    // An empty text is a usual result of a formula, unless no result is stored anywhere.
    if (cell.f === undefined || (cell.t === 's' && context.storesResults)) return ''
    return `=${cell.f}`
  }
  if (cell.t === 'e') return storedError(cell) ?? String(cell.w ?? cell.v ?? '')
  return formatScalar(cell.v instanceof Date ? cell.v.toISOString() : (cell.v ?? null), cell, context)
}

function formatScalar(value: Scalar, cell: CellObject, { is1904, locale }: CellContext): string {
  if (value === null) return ''
  if (value instanceof CellError) return value.code
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE'
  const code = codeOf(cell, typeof value === 'number' ? value : 0, locale)
  if (typeof value === 'string') return formatWords(code, value)
  return code === 'General' ? formatGeneral(value) : formatNumber(code, value, is1904)
}

function codeOf({ z: shape, XF }: CellWithFormat, value: number, locale: EastAsianLocale | undefined): string {
  const builtin = typeof shape === 'string' ? readBuiltinId(shape) : (shape ?? XF?.numFmtId)
  if (builtin !== undefined) return builtinCode(builtin, value, locale) ?? 'General'
  return typeof shape === 'string' ? shape : 'General'
}

/** The library's types do not declare the format of cells of old workbooks. */
interface CellWithFormat extends CellObject {
  readonly XF?: { readonly numFmtId?: number }
}
