import { type DailyUsage, describeBytes } from '#contract/usage.ts'

const DAY_MS = 86_400_000

/** In US dollars. @param micros millionths of a dollar */
export const formatCost = (micros: number): string => `$${(micros / 1e6).toFixed(2)}`

export const formatCount = (count: number): string => count.toLocaleString('en')

/** All days of a period in UTC, the oldest first, with zeros where nothing was used. What is stored stays from day to day. */
export function fillDays(rows: readonly DailyUsage[], days: number, now = new Date()): DailyUsage[] {
  const byDay = new Map(rows.map((row) => [row.day, row]))
  let bytes = 0
  return Array.from({ length: days }, (_, index) => {
    const day = new Date(now.getTime() - (days - 1 - index) * DAY_MS).toISOString().slice(0, 10)
    const row = byDay.get(day)
    bytes = row?.bytes || bytes
    return row === undefined
      ? { day, questions: 0, tokens: 0, own_tokens: 0, cost: 0, documents: 0, pages: 0, bytes }
      : { ...row, bytes }
  })
}

export const USAGE_MEASURES = [
  { label: 'Questions', read: (row: DailyUsage) => row.questions, format: formatCount },
  { label: 'Tokens', read: (row: DailyUsage) => row.tokens, format: formatCount },
  { label: 'Tokens of own accounts', read: (row: DailyUsage) => row.own_tokens, format: formatCount },
  { label: 'Cost', read: (row: DailyUsage) => row.cost, format: formatCost },
  { label: 'Documents added', read: (row: DailyUsage) => row.documents, format: formatCount },
  { label: 'Pages recognised', read: (row: DailyUsage) => row.pages, format: formatCount },
  { label: 'Storage', read: (row: DailyUsage) => row.bytes, format: describeBytes },
] as const
