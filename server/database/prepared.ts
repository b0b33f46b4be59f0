/**
 * Names under which a connection keeps a statement parsed and planned, for statements that come again and again. PostgreSQL
 * plans anew by itself where the role, the policies or the tables have changed.
 */
import { createHash } from 'node:crypto'
import type pg from 'pg'

interface Naming {
  /** Each connection holds the plans of so many of these statements at most; what comes after them is parsed each time. */
  readonly most: number
  /** How often a text must have come before it is thought to come again. */
  readonly sightings: number
}

/** Texts that are counted until they are named; of those that never come again nothing is kept for long. */
const MOST_COUNTED = 2_000

function createNames({ most, sightings }: Naming): (text: string) => string | undefined {
  const names = new Map<string, string>()
  const seen = new Map<string, number>()

  return function nameOf(text) {
    const known = names.get(text)
    if (known !== undefined || names.size >= most) return known
    const times = (seen.get(text) ?? 0) + 1
    if (times < sightings) {
      if (seen.size >= MOST_COUNTED) seen.clear()
      seen.set(text, times)
      return undefined
    }
    seen.delete(text)
    const name = createHash('sha1').update(text).digest('base64url')
    names.set(text, name)
    return name
  }
}

const nameOfOurs = createNames({ most: 300, sightings: 1 })
// Counted apart: whoever makes up requests must not use up the names of our own statements.
const nameOfAsked = createNames({ most: 100, sightings: 3 })

const named = (name: string | undefined, text: string, values: readonly unknown[]): pg.QueryConfig => ({
  text,
  values: [...values],
  ...(name === undefined ? {} : { name }),
})

/** The statement as `pg` takes it, under its name. */
export const prepared = (text: string, values: readonly unknown[] = []): pg.QueryConfig =>
  named(nameOfOurs(text), text, values)

/** The same for a text that a request has brought about: it is named once it has come several times. */
export const preparedOnRepeat = (text: string, values: readonly unknown[] = []): pg.QueryConfig =>
  named(nameOfAsked(text), text, values)
