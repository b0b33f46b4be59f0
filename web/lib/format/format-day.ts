type Month = 'long' | 'short'

const formats = new Map<string, Intl.DateTimeFormat>()

/** Cached: creating a formatter takes longer than rendering a row. */
function formatOf(month: Month, year: 'numeric' | undefined): Intl.DateTimeFormat {
  const key = `${month} ${year}`
  const format = formats.get(key) ?? new Intl.DateTimeFormat('en-US', { day: 'numeric', month, year })
  formats.set(key, format)
  return format
}

/** A day in the person's time zone, such as 'March 4'; with the year where it is not this one. */
export function formatDay(time: string, month: Month = 'long'): string {
  const date = new Date(time)
  return formatOf(month, date.getFullYear() === new Date().getFullYear() ? undefined : 'numeric').format(date)
}

/** A day with its year, such as 'March 4, 2026'. */
export const formatFullDay = (time: string, month: Month = 'long'): string =>
  formatOf(month, 'numeric').format(new Date(time))
