import { z } from 'zod'

/** Answer of the SQL function `own_usage`; a limit of 0 is none. */
export const ownUsage = z.object({
  file_bytes: z.number(),
  file_limit: z.number(),
  text_bytes: z.number(),
  text_limit: z.number(),
})
export type OwnUsage = Readonly<z.infer<typeof ownUsage>>

/** As the SQL function `describe_bytes`: decimal units, at most one digit after the point. */
export function describeBytes(bytes: number): string {
  const [size, unit] = bytes >= 1e9 ? [1e9, 'GB'] : bytes >= 1e6 ? [1e6, 'MB'] : [1e3, 'kB']
  const count = unit === 'kB' ? Math.ceil(Math.max(bytes, 0) / size) : Math.round((bytes / size) * 10) / 10
  return `${count} ${unit}`
}

export const describeFullTexts = ({
  text_bytes: used,
  text_limit: limit,
}: Pick<OwnUsage, 'text_bytes' | 'text_limit'>): string =>
  `Your conversations use ${describeBytes(used)} of ${describeBytes(limit)}. Delete some to write more.`

export const describeFullFiles = ({ file_bytes: used, file_limit: limit }: OwnUsage): string =>
  `Your documents use ${describeBytes(used)} of ${describeBytes(limit)}. Delete some to upload more.`

const amount = z.coerce.number()
const day = z.union([z.string(), z.date()]).transform((value) => (typeof value === 'string' ? value : toDay(value)))

/** A date of PostgreSQL arrives as midnight of the server's time zone. */
const toDay = (date: Date): string =>
  [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, '0')).join('-')

const dailyUsageRow = z.object({
  day,
  questions: amount,
  /** Tokens of the installation's own model accounts; `own_tokens` are of accounts that people connected. */
  tokens: amount,
  own_tokens: amount,
  /** In millionths of a dollar. */
  cost: amount,
  documents: amount,
  pages: amount,
  /** Stored at the end of the day. */
  bytes: amount,
})
export type DailyUsage = Readonly<z.infer<typeof dailyUsageRow>>

/** Answer of the SQL function `own_daily_usage`: days without use are missing. */
export const ownDailyUsage = z.array(dailyUsageRow)

/** Sums over all people. */
export const allDailyUsage = z.array(dailyUsageRow.extend({ people: amount }))

/** Answer of the SQL function `own_limits`. Limits for all people (`all …`) are in per cent. */
export const ownLimits = z.array(z.object({ name: z.string(), used: amount, allowed: amount }))
export type OwnLimits = z.infer<typeof ownLimits>
