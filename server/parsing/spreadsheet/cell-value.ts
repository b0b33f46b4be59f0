/** What a cell of a sheet says, as a person sees it who opens the workbook, or finds it who looks for what is in it. */
import { type CellObject, SSF } from '@e965/xlsx'
import { z } from 'zod'
import { withoutNul } from '#server/parsing/page.ts'

/** What Excel shows in the order of the reader's country, so that no one order is what was written. */
const LOCAL_DATE = /^m\/d\/yy(?:yy)?( h:mm(?::ss)?)?(?:;@)?$/i

const DAY_MS = 86_400_000
const DAYS_TO_1904 = 1_462
const DAYS_TO_1970 = 25_569
/** The year 9999 ends on this day; what is later is shown as it stands. */
const LAST_DAY = 2_958_465
/** Numbers that are kept to the last digit; of longer ones these many are kept. */
const SIGNIFICANT_DIGITS = 15

/** Its types say nothing about it. */
interface Formatter {
  readonly format: (format: string, value: number, options: { readonly date1904: boolean }) => string
  readonly is_date: (format: string) => boolean
}
const { format, is_date: isDate } = z.custom<Formatter>().parse(SSF)

/** How a comment begins that Excel writes for versions that know no conversations. */
const CONVERSATION_NOTICE = /^\s*\[[^\]]*\][\s\S]*?https?:\/\/\S+\s+[^:\n]{1,20}:\s*/

/** Dates whose order depends on the reader's country as ISO 8601, whole numbers with all their digits; comments in brackets. */
export function formatCell(cell: CellObject, is1904: boolean): string {
  const comments = (cell.c ?? []).map(({ t }) => `[${t.replace(CONVERSATION_NOTICE, '').trim()}]`)
  return [formatValue(cell, is1904), ...new Set(comments)]
    .map((part) => withoutNul(part).replaceAll(/\s+/g, ' ').trim())
    .filter((part) => part !== '' && part !== '[]')
    .join(' ')
}

function formatValue({ t, v, w, f, z: shape }: CellObject, is1904: boolean): string {
  // Programs that write workbooks leave it to Excel to find out what a formula gives.
  if (v === undefined && f !== undefined) return `=${f}`
  if (t === 'z') return ''
  if (t === 'n' && typeof v === 'number' && typeof shape === 'string') {
    const local = LOCAL_DATE.exec(shape)
    if (local && v >= 0 && v <= LAST_DAY) return formatDate(v + (is1904 ? DAYS_TO_1904 : 0), local[1] !== undefined)
    // An article number in a column without a format: how wide the column is decides what can be seen of it.
    if (shape === 'General' && Number.isInteger(v)) return BigInt(Number(v.toPrecision(SIGNIFICANT_DIGITS))).toString()
    if (w === undefined) return formatWithRepair(shape, v, is1904)
  }
  // Words in a format that shows nothing are found none the less.
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

/** Formats that the library refuses are those of dates with full stops that nothing escapes, as many programs write them. */
function formatWithRepair(shape: string, value: number, is1904: boolean): string {
  if (!isDate(shape)) return String(value)
  try {
    return format(shape.replaceAll(/(?<!\\)\.(?!0)/g, String.raw`\.`), value, { date1904: is1904 })
  } catch {
    // The bare number is what is left of a date in a format that nobody can read.
    return String(value)
  }
}
