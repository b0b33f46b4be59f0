const day = new Intl.DateTimeFormat('en-US', { day: 'numeric', month: 'long' })
const dayOfYear = new Intl.DateTimeFormat('en-US', { day: 'numeric', month: 'long', year: 'numeric' })

/** Day and month of a time in the person's time zone, such as 'March 4'; with the year where it is not this one. */
export function formatDay(time: string): string {
  const date = new Date(time)
  return (date.getFullYear() === new Date().getFullYear() ? day : dayOfYear).format(date)
}
