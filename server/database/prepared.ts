/** PostgreSQL replans a prepared statement when roles, policies or tables change. */
import { createHash } from 'node:crypto'
import type pg from 'pg'

interface Naming {
  readonly maxNames: number
  readonly minUses: number
}

/** Bounds the memory for texts that do not repeat. */
const MAX_COUNTED = 2_000

function createNames({ maxNames, minUses }: Naming): (text: string) => string | undefined {
  const names = new Map<string, string>()
  const uses = new Map<string, number>()

  return function nameOf(text) {
    const known = names.get(text)
    if (known !== undefined || names.size >= maxNames) return known
    const times = (uses.get(text) ?? 0) + 1
    if (times < minUses) {
      if (uses.size >= MAX_COUNTED) uses.clear()
      uses.set(text, times)
      return undefined
    }
    uses.delete(text)
    const name = createHash('sha1').update(text).digest('base64url')
    names.set(text, name)
    return name
  }
}

const ownStatementName = createNames({ maxNames: 300, minUses: 1 })
// Counted separately, so that requests cannot use up the names of Alcove's own statements.
const requestStatementName = createNames({ maxNames: 100, minUses: 3 })

const named = (name: string | undefined, text: string, values: readonly unknown[]): pg.QueryConfig => ({
  text,
  values: [...values],
  ...(name === undefined ? {} : { name }),
})

export const prepared = (text: string, values: readonly unknown[] = []): pg.QueryConfig =>
  named(ownStatementName(text), text, values)

export const preparedOnRepeat = (text: string, values: readonly unknown[] = []): pg.QueryConfig =>
  named(requestStatementName(text), text, values)
