const sameYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const otherYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' })

/** A day, with the year only in other years: `Nov 21`, `Mar 3, 2024`. */
export function formatDate(timestamp: string, now = new Date()): string {
  const date = new Date(timestamp)
  return (date.getFullYear() === now.getFullYear() ? sameYear : otherYear).format(date)
}
