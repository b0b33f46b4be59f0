/** JSON from outside, made safe for PostgreSQL, which stores less than JavaScript reads. */
import { AppError } from './errors.ts'

/** PostgreSQL reads nested JSON recursively and gives up at the size of its stack. */
export const DEEPEST_NESTING = 500

/** How many brackets stand open at once in a JSON text. */
export function nestingOf(json: string): number {
  let depth = 0
  let deepest = 0
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (token === '[' || token === '{') deepest = Math.max(deepest, (depth += 1))
    else if (token === ']' || token === '}') depth -= 1
  }
  return deepest
}

// The last alternative takes any other escape along, so that an escaped back-slash never begins one.
const ESCAPES = /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[dD][89a-fA-F][\da-fA-F]{2}|\\u0000|\\./g

/**
 * Parses a body. Half a surrogate pair, which a text cut at a fixed length may end with, becomes U+FFFD, as it does
 * wherever text is encoded.
 * @throws AppError `bad_request` for what is no JSON, is nested too deeply or holds a NUL character.
 */
export function parseJson(json: string): unknown {
  const text = json.replace(ESCAPES, (escape) => {
    if (escape === '\\u0000')
      throw new AppError('bad_request', 'The body holds a NUL character, which cannot be stored.')
    return /^\\u[dD][89a-fA-F]/.test(escape) && escape.length === 6 ? '\\ufffd' : escape
  })
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    throw new AppError('bad_request', 'The body is not valid JSON.', { cause: error })
  }
  if (nestingOf(text) > DEEPEST_NESTING) throw new AppError('bad_request', 'The body is nested too deeply.')
  return parsed
}
