import type { PublishedTable } from './catalogue.ts'

export type RowValues = Readonly<Record<string, unknown>>

/** Bounds what a batch of large rows holds in memory. */
const MAX_CACHED_CHARACTERS = 8 * 1024 * 1024

function parseObject(json: string): RowValues {
  const parsed: unknown = JSON.parse(json)
  return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {}
}

/** `exact` holds the values that JavaScript would round, as text. */
export type ParseRow = (table: PublishedTable, json: string, exact: string | null) => RowValues

/** Equal rows of a table are parsed once for many subscribers, and give the same object. */
export function createRowParser(): ParseRow {
  let parsed = new Map<PublishedTable, Map<string, RowValues>>()
  let characters = 0

  return function parseRow(table, json, exact) {
    const key = exact === null ? json : `${json}\0${exact}`
    const known = parsed.get(table)?.get(key)
    if (known) return known
    characters += key.length
    if (characters > MAX_CACHED_CHARACTERS) {
      parsed = new Map()
      characters = key.length
    }
    const values = { ...parseObject(json), ...(exact === null ? {} : parseObject(exact)) }
    const ofTable = parsed.get(table) ?? new Map<string, RowValues>()
    parsed.set(table, ofTable.set(key, values))
    return values
  }
}
