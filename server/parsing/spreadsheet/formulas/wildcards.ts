/** Patterns with "?" and "*" of SEARCH, COUNTIF and their like, without regard to case. */
import { NotComputable } from './values.ts'

const MAX_PATTERN_CHARACTERS = 255

export interface Wildcards {
  readonly matches: (text: string) => boolean
  /** Index of the first match, or -1. */
  readonly find: (text: string) => number
}

/** Long texts take longer than the step that reads their cell. */
export const stepsToMatch = (text: string): number => 1 + (text.length >> 6)

/** One UTF-16 unit; undefined stands for any. */
type Unit = string | undefined

/**
 * Each part between two "*" is looked for once, at its first place behind the part before it: going back could only find
 * later places, and takes time without end.
 *
 * @throws NotComputable for a pattern that is too long.
 */
export function readWildcards(pattern: string): Wildcards {
  if (pattern.length > MAX_PATTERN_CHARACTERS) throw new NotComputable('a long pattern')
  const parts = splitParts(foldCase(pattern))
  const [first = [], ...others] = parts
  const last = others.at(-1)
  return {
    matches(text) {
      const folded = foldCase(text)
      if (!fits(first, folded, 0)) return false
      if (!last) return folded.length === first.length
      const end = findParts(others.slice(0, -1), folded, first.length)
      const lastStart = folded.length - last.length
      return end !== -1 && end <= lastStart && fits(last, folded, lastStart)
    },
    find(text) {
      const folded = foldCase(text)
      const start = findPart(first, folded, 0)
      return start === -1 || findParts(others, folded, start + first.length) === -1 ? -1 : start
    },
  }
}

function splitParts(pattern: string): Unit[][] {
  let part: Unit[] = []
  const parts = [part]
  for (const [found, escaped] of pattern.matchAll(/~([*?~])|[^]/g)) {
    if (escaped === undefined && found === '*') {
      part = []
      parts.push(part)
    } else part.push(escaped ?? (found === '?' ? undefined : found))
  }
  return parts
}

/** End of the last part, or -1. */
function findParts(parts: readonly (readonly Unit[])[], text: string, from: number): number {
  let end = from
  for (const part of parts) {
    const start = findPart(part, text, end)
    if (start === -1) return -1
    end = start + part.length
  }
  return end
}

function findPart(part: readonly Unit[], text: string, from: number): number {
  if (!part.includes(undefined)) return text.indexOf(part.join(''), from)
  for (let start = from; start + part.length <= text.length; start += 1) if (fits(part, text, start)) return start
  return -1
}

const fits = (part: readonly Unit[], text: string, start: number): boolean =>
  start + part.length <= text.length && part.every((unit, index) => unit === undefined || unit === text[start + index])

/** Lower case of the same length: places in the text stay. */
function foldCase(text: string): string {
  const lower = text.toLowerCase()
  if (lower.length === text.length) return lower
  return text
    .split('')
    .map((unit) => (unit.toLowerCase().length === 1 ? unit.toLowerCase() : unit))
    .join('')
}
