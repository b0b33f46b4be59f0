const day = new Intl.DateTimeFormat('en-US', { day: 'numeric', month: 'long' })

/** Day and month of a time, such as 'March 4', in the person's time zone. */
export const formatDay = (time: string): string => day.format(new Date(time))
