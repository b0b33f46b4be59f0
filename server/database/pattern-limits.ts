/** Bounds what matching a person's pattern may cost: PostgreSQL compiles and matches it while its connection is held. */
import { AppError } from '#server/base/errors.ts'

/** Characters of a pattern or a text search. */
const MAX_PATTERN_LENGTH = 1_000
/** `%` of a LIKE pattern. */
const MAX_WILDCARDS = 50
/** Characters and classes of a regular expression, with bounded repetitions written out. */
const MAX_POSITIONS = 200
/** Pairs of positions that may follow one another: the work for one character of the text. */
const MAX_TRANSITIONS = 5_000
const MAX_QUANTIFIER_NESTING = 3
/** Characters in ranges where case is ignored: PostgreSQL looks up the cases of each. Five times all Chinese characters. */
const MAX_FOLDED_CHARACTERS = 100_000
const MAX_GROUP_NESTING = 20

/** A Glushkov automaton, of which only the numbers matter. Bruggemann-Klein, "Regular expressions into finite automata" (1993). */
interface Automaton {
  readonly isNullable: boolean
  readonly first: number
  readonly last: number
  readonly positions: number
  readonly transitions: number
  readonly quantifierNesting: number
  readonly hasAnchor: boolean
}

const EMPTY: Automaton = {
  isNullable: true,
  first: 0,
  last: 0,
  positions: 0,
  transitions: 0,
  quantifierNesting: 0,
  hasAnchor: false,
}
const CHARACTER: Automaton = { ...EMPTY, isNullable: false, first: 1, last: 1, positions: 1 }
const ANCHOR: Automaton = { ...EMPTY, hasAnchor: true }

const limitError = (pattern: string, why: string) =>
  new AppError('bad_request', 'A pattern of the filter is too complex', {
    details: { pattern: pattern.slice(0, 100), patternLimit: why },
  })

/** Services render `details.patternLimit`, which says what is too much, in their own format. */
export const isPatternLimit = (
  thrown: unknown,
): thrown is AppError & { details: { pattern: string; patternLimit: string } } =>
  thrown instanceof AppError && typeof thrown.details?.['patternLimit'] === 'string'

const combine = (one: Automaton, other: Automaton, merged: Partial<Automaton>): Automaton => ({
  isNullable: one.isNullable && other.isNullable,
  first: one.first + other.first,
  last: one.last + other.last,
  positions: one.positions + other.positions,
  transitions: one.transitions + other.transitions,
  quantifierNesting: Math.max(one.quantifierNesting, other.quantifierNesting),
  hasAnchor: one.hasAnchor || other.hasAnchor,
  ...merged,
})

const concatenate = (one: Automaton, other: Automaton): Automaton =>
  combine(one, other, {
    first: one.first + (one.isNullable ? other.first : 0),
    last: other.last + (other.isNullable ? one.last : 0),
    transitions: one.transitions + other.transitions + one.last * other.first,
  })

const either = (one: Automaton, other: Automaton): Automaton =>
  combine(one, other, { isNullable: one.isNullable || other.isNullable })

interface Bounds {
  readonly least: number
  readonly most: number
}

/** PostgreSQL writes bounded repetitions out; each copy may follow the one before, or be where the whole begins or ends. */
function repeat(inner: Automaton, { least, most }: Bounds): Automaton {
  const isLoop = most === Infinity
  const copies = Math.max(1, isLoop ? least : most)
  const areOptional = most > least && !isLoop
  // Behind copies that may match nothing, every later copy may follow.
  const steps = (inner.isNullable ? (copies * (copies - 1)) / 2 : copies - 1) + (isLoop ? 1 : 0)
  return {
    isNullable: inner.isNullable || least === 0,
    first: inner.first * (areOptional || inner.isNullable ? copies : 1),
    last: inner.last * (areOptional || inner.isNullable ? copies : 1),
    positions: inner.positions * copies,
    transitions: inner.transitions * copies + steps * inner.last * inner.first,
    quantifierNesting: inner.quantifierNesting + (most > 1 ? 1 : 0),
    hasAnchor: inner.hasAnchor,
  }
}

const LAST_CODE_POINT = 0x10_ff_ff
/** Collating elements and classes, escapes, and other characters of a bracket expression. */
const BRACKET_MEMBER =
  /\[\.[\s\S][^.]*\.\]|\[:[^:]*:\]|\[=[\s\S][^=]*=\]|\\(?:u[\da-fA-F]{4}|U[\da-fA-F]{8}|x[\da-fA-F]+|[\s\S])|[\s\S]/gu

/** Undefined for what is not written as one character or its number. */
function codePointOf(member: string | undefined): number | undefined {
  const hex = /^\\[uUx]([\da-fA-F]+)$/.exec(member ?? '')?.[1]
  if (hex !== undefined) return Number.parseInt(hex, 16)
  const character = /^\[\.([\s\S])\.\]$/u.exec(member ?? '')?.[1] ?? member
  return character !== undefined && /^[\s\S]$/u.test(character) ? character.codePointAt(0) : undefined
}

/** Characters in the ranges of a bracket expression, at most: an end of unknown value counts as the farthest one. */
function charactersInRanges(bracket: string): number {
  const members = bracket.replace(/^\[\^?/, '').match(BRACKET_MEMBER) ?? []
  return members.reduce((sum, member, at) => {
    const isRange = member === '-' && at > 0 && at < members.length - 1 && members[at + 1] !== ']'
    if (!isRange) return sum
    const from = codePointOf(members[at - 1]) ?? 0
    const to = codePointOf(members[at + 1]) ?? LAST_CODE_POINT
    return sum + Math.max(0, Math.min(to, LAST_CODE_POINT) - from + 1)
  }, 0)
}

/** Reads the advanced regular expressions of PostgreSQL, without validating them: PostgreSQL rejects the invalid. */
class CostReader {
  readonly #pattern: string
  #ignoresCase: boolean
  #at = 0
  #foldedCharacters = 0

  constructor(pattern: string, { ignoresCase }: { ignoresCase: boolean }) {
    this.#pattern = pattern
    this.#ignoresCase = ignoresCase
  }

  read(): Automaton {
    if (this.#pattern.startsWith('***')) this.#reject('it begins with a director (***)')
    const options = /^\(\?([a-z]+)\)/.exec(this.#pattern)
    if (options && /[^cimnpstw]/.test(options[1] ?? '')) this.#reject(`it has the option (?${options[1] ?? ''})`)
    this.#ignoresCase ||= options?.[1]?.includes('i') ?? false
    this.#at = options?.[0].length ?? 0
    let whole = this.#readAlternatives(0)
    // Behind an unopened parenthesis, which PostgreSQL rejects.
    while (this.#at < this.#pattern.length) {
      this.#at += 1
      whole = concatenate(whole, this.#readAlternatives(0))
    }
    return whole
  }

  #reject(why: string): never {
    throw limitError(this.#pattern, why)
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#pattern)
    if (found) this.#at += found[0].length
    return found ?? undefined
  }

  /** The length of a pattern bounds the loops; this bounds what they add up to. */
  #bounded(automaton: Automaton): Automaton {
    if (automaton.positions > MAX_POSITIONS)
      this.#reject(`with its repetitions written out it has more than ${MAX_POSITIONS} characters and classes`)
    if (automaton.transitions > MAX_TRANSITIONS)
      this.#reject(`its repetitions and alternatives allow more than ${MAX_TRANSITIONS} transitions`)
    if (automaton.quantifierNesting > MAX_QUANTIFIER_NESTING)
      this.#reject(`repetitions are nested more than ${MAX_QUANTIFIER_NESTING} deep`)
    return automaton
  }

  #readAlternatives(depth: number): Automaton {
    if (depth > MAX_GROUP_NESTING) this.#reject(`groups are nested more than ${MAX_GROUP_NESTING} deep`)
    let result = this.#readSequence(depth)
    while (this.#take(/\|/y)) result = this.#bounded(either(result, this.#readSequence(depth)))
    return result
  }

  #readSequence(depth: number): Automaton {
    let result = EMPTY
    while (this.#at < this.#pattern.length && !/[|)]/.test(this.#pattern[this.#at] ?? ''))
      result = this.#bounded(concatenate(result, this.#readRepeated(depth)))
    return result
  }

  #readRepeated(depth: number): Automaton {
    let result = this.#readAtom(depth)
    for (let bounds = this.#readBounds(); bounds; bounds = this.#readBounds()) {
      if (result.hasAnchor) this.#reject('a group with an anchor is repeated')
      result = this.#bounded(repeat(result, bounds))
    }
    return result
  }

  #readBounds(): Bounds | undefined {
    const symbol = this.#take(/([*+?])\??/y)?.[1]
    if (symbol !== undefined) return { least: symbol === '+' ? 1 : 0, most: symbol === '?' ? 1 : Infinity }
    const bounds = this.#take(/\{(\d+)(,(\d*))?\}\??/y)
    if (!bounds) return undefined
    const [, least, more, most] = bounds
    const end = more === undefined ? least : most === '' ? Infinity : most
    return { least: Number(least), most: Number(end) }
  }

  #readAtom(depth: number): Automaton {
    if (this.#take(/[$^]/y)) return ANCHOR
    if (this.#take(/\\/y)) return this.#readEscape()
    if (this.#take(/\(\?#[^)]*\)?/y)) return EMPTY
    if (this.#take(/\(\?<?[=!]/y)) this.#reject('it looks ahead or behind')
    if (this.#take(/\((\?:)?/y)) {
      const inner = this.#readAlternatives(depth + 1)
      this.#take(/\)/y)
      return inner
    }
    // The first bracket is a member; classes such as [:alpha:] may hold one too.
    const bracket = this.#take(/\[\^?\]?(\[(:[^:]*:|\.[\s\S][^.]*\.|=[\s\S][^=]*=)\]|\\[\s\S]|[^\]\\])*\]?/y)
    if (bracket) this.#foldRanges(bracket[0])
    else this.#take(/[\s\S]/uy)
    return CHARACTER
  }

  #foldRanges(bracket: string): void {
    if (!this.#ignoresCase) return
    this.#foldedCharacters += charactersInRanges(bracket)
    if (this.#foldedCharacters > MAX_FOLDED_CHARACTERS)
      this.#reject(`it ignores the case of ranges of more than ${MAX_FOLDED_CHARACTERS} characters together`)
  }

  #readEscape(): Automaton {
    if (this.#take(/[1-9]/y)) this.#reject('it refers back to a group')
    if (this.#take(/[AmMyYZ]/y)) return ANCHOR
    this.#take(/u[\da-f]{4}|U[\da-f]{8}|x[\da-f]+|c?[\s\S]/iuy)
    return CHARACTER
  }
}

/** The elements of an array literal, as PostgreSQL reads them; dimensions count as one more element. */
const elementsOf = (literal: string): string[] =>
  (literal.match(/(?:"(?:[^"\\]|\\[\s\S])*"|[^",{}\\]|\\[\s\S])+/g) ?? []).map((element) =>
    element.replaceAll(/\\([\s\S])|"/g, '$1'),
  )

function requireLength(pattern: string): void {
  if (pattern.length > MAX_PATTERN_LENGTH)
    throw limitError(pattern, `it is longer than ${MAX_PATTERN_LENGTH} characters`)
}

/** @throws AppError `bad_request` with `details.patternLimit` */
export function requireBoundedRegex(pattern: string, { ignoresCase = false } = {}): void {
  requireLength(pattern)
  new CostReader(pattern, { ignoresCase }).read()
}

function requireBoundedLike(pattern: string): void {
  requireLength(pattern)
  if (pattern.replaceAll(/[^%*]/g, '').length > MAX_WILDCARDS)
    throw limitError(pattern, `it has more than ${MAX_WILDCARDS} wildcards`)
}

const CHECKS: Readonly<Record<string, (pattern: string) => void>> = {
  match: (pattern) => requireBoundedRegex(pattern),
  imatch: (pattern) => requireBoundedRegex(pattern, { ignoresCase: true }),
  like: requireBoundedLike,
  ilike: requireBoundedLike,
  fts: requireLength,
  plfts: requireLength,
  phfts: requireLength,
  wfts: requireLength,
}

export interface PatternCondition {
  readonly operator: string
  readonly value: string | readonly string[]
  readonly quantifier?: 'any' | 'all' | undefined
}

/** Takes a condition as `readCondition` returns it. @throws AppError `bad_request` with `details.patternLimit` */
export function requireBoundedPattern({ operator, value, quantifier }: PatternCondition): void {
  const check = CHECKS[operator]
  if (check === undefined || typeof value !== 'string') return
  // A list of patterns costs as much as all of them: the length of the whole is bounded first.
  requireLength(value)
  for (const pattern of quantifier === undefined ? [value] : elementsOf(value)) check(pattern)
}
