const DAY_MS = 86_400_000

type Clock = { now?: Date; timeZone?: string }

function dayNumber(date: Date, timeZone: string | undefined): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    ...(timeZone === undefined ? {} : { timeZone }),
  }).formatToParts(date)
  const part = (type: string): number => Number(parts.find((given) => given.type === type)?.value)
  return Date.UTC(part('year'), part('month') - 1, part('day')) / DAY_MS
}

/** 'Recently' for an invalid date. Counts calendar days in the person's time zone. */
export function formatDateLabel(value: string | null | undefined, { now = new Date(), timeZone }: Clock = {}): string {
  const date = new Date(value ?? Number.NaN)
  if (Number.isNaN(date.getTime())) return 'Recently'
  const days = dayNumber(now, timeZone) - dayNumber(date, timeZone)
  if (days <= 0) return 'Today'
  if (days === 1) return 'Yesterday'
  if (days <= 7) return `${days} days ago`
  return new Intl.DateTimeFormat('en-US', {
    month: 'short',
    day: 'numeric',
    ...(timeZone === undefined ? {} : { timeZone }),
  }).format(date)
}

const clockFormats = new Map<string | undefined, Intl.DateTimeFormat>()

/** Cached: creating a formatter takes longer than rendering a message. */
function clockFormat(timeZone: string | undefined): Intl.DateTimeFormat {
  const known = clockFormats.get(timeZone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('en-US', {
    hour: 'numeric',
    minute: '2-digit',
    hour12: true,
    ...(timeZone === undefined ? {} : { timeZone }),
  })
  clockFormats.set(timeZone, made)
  return made
}

/** Hour and minute with am or pm, such as '3:07 pm'; an invalid date falls back to the current time. */
export function formatTime(value: string | null | undefined, { now = new Date(), timeZone }: Clock = {}): string {
  const given = new Date(value ?? Number.NaN)
  const date = Number.isNaN(given.getTime()) ? now : given
  return clockFormat(timeZone)
    .format(date)
    .replace(/\u202f/g, ' ')
    .toLowerCase()
}
