import { AppError } from './errors.ts'

/** PostgreSQL parses nested JSON recursively, within its stack. */
export const MAX_NESTING = 500

export function nestingOf(json: string): number {
  let depth = 0
  let deepest = 0
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (token === '[' || token === '{') deepest = Math.max(deepest, (depth += 1))
    else if (token === ']' || token === '}') depth -= 1
  }
  return deepest
}

// The last alternative consumes any other escape, so that an escaped backslash never begins one.
const ESCAPES = /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[dD][89a-fA-F][\da-fA-F]{2}|\\u0000|\\./g

/** A lone surrogate becomes U+FFFD. @throws AppError `bad_request` for invalid JSON, too deep nesting and NUL */
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
  if (nestingOf(text) > MAX_NESTING) throw new AppError('bad_request', 'The body is nested too deeply.')
  return parsed
}
