const sameYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const otherYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' })

/** A day, with the year only where it is not this one: `Nov 21`, `Mar 3, 2024`. */
export function formatDate(timestamp: string, now = new Date()): string {
  const date = new Date(timestamp)
  return (date.getFullYear() === now.getFullYear() ? sameYear : otherYear).format(date)
}
