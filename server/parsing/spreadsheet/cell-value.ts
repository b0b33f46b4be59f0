import { type CellObject, SSF } from '@e965/xlsx'
import { z } from 'zod'
import { withoutNul } from '#server/parsing/page.ts'

/** Formats that Excel shows in the local date order of the user. */
const LOCAL_DATE = /^m\/d\/yy(?:yy)?( h:mm(?::ss)?)?(?:;@)?$/i

const DAY_MS = 86_400_000
const DAYS_TO_1904 = 1_462
const DAYS_TO_1970 = 25_569
/** Serial number of 9999-12-31; later dates are shown as numbers. */
const LAST_DAY = 2_958_465
/** Excel stores this many digits. */
const SIGNIFICANT_DIGITS = 15

/** The library's types do not declare it. */
interface Formatter {
  readonly format: (format: string, value: number, options: { readonly date1904: boolean }) => string
  readonly is_date: (format: string) => boolean
}
const { format, is_date: isDate } = z.custom<Formatter>().parse(SSF)

/** Notice that Excel writes before a threaded comment, for older versions. */
const CONVERSATION_NOTICE = /^\s*\[[^\]]*\][\s\S]*?https?:\/\/\S+\s+[^:\n]{1,20}:\s*/

/** Writes local dates as ISO 8601, integers with all digits, and comments in brackets. */
export function formatCell(cell: CellObject, is1904: boolean): string {
  const comments = (cell.c ?? []).map(({ t }) => `[${t.replace(CONVERSATION_NOTICE, '').trim()}]`)
  return [formatValue(cell, is1904), ...new Set(comments)]
    .map((part) => withoutNul(part).replaceAll(/\s+/g, ' ').trim())
    .filter((part) => part !== '' && part !== '[]')
    .join(' ')
}

function formatValue({ t, v, w, f, z: shape }: CellObject, is1904: boolean): string {
  // Programs that write workbooks may leave results to Excel.
  if (v === undefined && f !== undefined) return `=${f}`
  if (t === 'z') return ''
  if (t === 'n' && typeof v === 'number' && typeof shape === 'string') {
    const local = LOCAL_DATE.exec(shape)
    if (local && v >= 0 && v <= LAST_DAY) return formatDate(v + (is1904 ? DAYS_TO_1904 : 0), local[1] !== undefined)
    // Excel would show article numbers by column width, for example as 1.2E+12.
    if (shape === 'General' && Number.isInteger(v)) return BigInt(Number(v.toPrecision(SIGNIFICANT_DIGITS))).toString()
    if (w === undefined) return formatWithRepair(shape, v, is1904)
  }
  // Text in a format that hides it is still searchable.
  if (t === 's' && w === '') return String(v)
  return w ?? (v instanceof Date ? v.toISOString() : String(v ?? ''))
}

function formatDate(days: number, hasTime: boolean): string {
  const seconds = Math.round((days - DAYS_TO_1970) * (DAY_MS / 1_000))
  return new Date(seconds * 1_000)
    .toISOString()
    .slice(0, hasTime ? 16 : 10)
    .replace('T', ' ')
}

/** The library rejects date formats with unescaped full stops, which many programs write. */
function formatWithRepair(shape: string, value: number, is1904: boolean): string {
  if (!isDate(shape)) return String(value)
  try {
    return format(shape.replaceAll(/(?<!\\)\.(?!0)/g, String.raw`\.`), value, { date1904: is1904 })
  } catch {
    return String(value)
  }
}
