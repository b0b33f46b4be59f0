/** PostgreSQL parses the text itself, so numbers keep their precision. */
import { jsonExcess } from '#server/base/json.ts'
import { restError } from './errors.ts'

export interface Payload {
  readonly text: string
  readonly isArray: boolean
  readonly rowCount: number
  readonly keys: readonly string[]
}

const invalid = (message: string) => restError('PGRST102', message)

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw restError('PGRST102', 'Empty or invalid json', { cause: error })
  }
}

/** @throws RestError PGRST102 */
export function requireBounded(json: string): void {
  const excess = jsonExcess(json)
  if (excess !== undefined) throw invalid(`The json ${excess}`)
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `hasColumns`: `columns` is set, so objects may differ in their keys. @throws RestError PGRST102 */
export function parsePayload(text: string, { hasColumns }: { hasColumns: boolean }): Payload {
  const parsed = parseJson(text)
  requireBounded(text)
  const isArray = Array.isArray(parsed)
  const rows: readonly unknown[] = isArray ? parsed : [parsed]
  const [first = {}] = rows
  if (!rows.every(isObject) || !isObject(first)) throw invalid('All elements must be objects')
  const keys = Object.keys(first)
  const isUniform = rows.every(
    (row) => Object.keys(row).length === keys.length && keys.every((key) => Object.hasOwn(row, key)),
  )
  if (!hasColumns && !isUniform) throw invalid('All object keys must match')
  return { text, isArray, rowCount: rows.length, keys }
}

/** Accepts an object of arguments by name, or any JSON for a single unnamed parameter. */
export function parseArguments(text: string): {
  readonly text: string
  readonly isArray: boolean
  readonly keys: readonly string[]
} {
  if (text.trim() === '') return { text: '{}', isArray: false, keys: [] }
  const parsed = parseJson(text)
  requireBounded(text)
  return { text, isArray: Array.isArray(parsed), keys: isObject(parsed) ? Object.keys(parsed) : [] }
}
