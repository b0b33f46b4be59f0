const format = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeStyle: 'short' })

/** Date and time as on paper, where "Yesterday" would soon be wrong; empty for an invalid date. */
export function formatMoment(value: string): string {
  const date = new Date(value)
  return Number.isNaN(date.getTime()) ? '' : format.format(date).replaceAll('\u202f', ' ')
}
