/** The clock of the person who asks: dates whose local fields are the day and time in a time zone. Pure. */

const MAX_NAME = 64

/** Undefined for none that is known here: then the time zone of the server counts. */
export function readTimeZone(name: unknown): string | undefined {
  if (typeof name !== 'string' || name.length > MAX_NAME) return undefined
  try {
    return formatOf(name).resolvedOptions().timeZone
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const formatOf = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })

type Fields = [year: number, month: number, day: number, hours: number, minutes: number, seconds: number]

function fieldsAt(instant: number, timeZone: string): Fields {
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = (
    ['year', 'month', 'day', 'hour', 'minute', 'second'] as const
  ).map((type) => parts.get(type))
  return [year, month - 1, day, hour, minute, second]
}

export const wallClockAt = (instant: Date, timeZone: string | undefined): Date =>
  timeZone === undefined ? instant : new Date(...fieldsAt(instant.getTime(), timeZone))

/** The instant at which the clock shows this; where it skips an hour, one next to it. */
export function instantAt(wall: Date, timeZone: string | undefined): Date {
  if (timeZone === undefined) return wall
  const wanted = Date.UTC(
    wall.getFullYear(),
    wall.getMonth(),
    wall.getDate(),
    wall.getHours(),
    wall.getMinutes(),
    wall.getSeconds(),
  )
  const offsetAt = (instant: number) => Date.UTC(...fieldsAt(instant, timeZone)) - instant
  // The first guess may lie on the other side of a change of the offset.
  const guess = wanted - offsetAt(wanted)
  return new Date(wanted - offsetAt(guess))
}
