/** Takes time proportional to pattern times text: JavaScript's engine takes exponential time on hostile patterns. */
import { AppError } from '#server/base/errors.ts'
import { UNLIMITED_WORK, type Work } from './work.ts'

type Test = (text: string) => boolean
interface PatternOptions {
  readonly ignoreCase: boolean
  readonly work?: Work
}

/** `%` matches any text, `_` one character, a backslash escapes. */
export function likePattern(pattern: string, { ignoreCase, work = UNLIMITED_WORK }: PatternOptions): Test {
  work.spend(pattern.length)
  const fold = (text: string) => (ignoreCase ? text.toLowerCase() : text)
  const wanted: { readonly kind: 'text' | 'one' | 'any'; readonly character: string }[] = []
  const characters = Array.from(fold(pattern))
  for (let index = 0; index < characters.length; index += 1) {
    const character = characters[index] ?? ''
    if (character === '%') wanted.push({ kind: 'any', character })
    else if (character === '_') wanted.push({ kind: 'one', character })
    else if (character !== '\\') wanted.push({ kind: 'text', character })
    else {
      index += 1
      const escaped = characters[index]
      if (escaped === undefined) throw new AppError('bad_request', 'LIKE pattern must not end with escape character')
      wanted.push({ kind: 'text', character: escaped })
    }
  }

  return function matchesLike(text) {
    work.spend(text.length * STEPS_PER_CHARACTER)
    const given = Array.from(fold(text))
    let [at, position] = [0, 0]
    let [lastAny, resumeFrom] = [-1, 0]
    while (position < given.length) {
      const next = wanted[at]
      if (next?.kind === 'any') {
        lastAny = at
        resumeFrom = position
        at += 1
      } else if (next && (next.kind === 'one' || next.character === given[position])) {
        at += 1
        position += 1
      } else if (lastAny >= 0) {
        work.spend(1 + position - resumeFrom)
        resumeFrom += 1
        position = resumeFrom
        at = lastAny + 1
      } else return false
    }
    return wanted.slice(at).every(({ kind }) => kind === 'any')
  }
}

type State =
  | { readonly kind: 'character'; readonly set: CharacterSet; next: number }
  | { readonly kind: 'start' | 'end'; next: number }
  | { readonly kind: 'fork'; next: number; other: number }

/** A character or class; equal ones of a pattern share one, so that a character of the text is tested once. */
interface CharacterSet {
  /** Undefined for one character. */
  readonly regex: RegExp | undefined
  readonly literal: string
  /** The position of the text that `isMember` is about. */
  testedAt: number
  isMember: boolean
}

interface Fragment {
  readonly enter: number
  readonly exits: readonly ((target: number) => void)[]
}

const MAX_STATES = 500
const STEPS_PER_CHARACTER = 2
const STEPS_PER_TEST = 10
const STEPS_PER_SET = 50
// As in PostgreSQL; JavaScript's `\w` is ASCII.
const WORD = '\\p{L}\\p{N}_'

interface Boundaries {
  readonly isStart: boolean
  readonly isEnd: boolean
}

interface Program {
  readonly states: readonly State[]
  readonly enter: number
  /** The index after the last state. */
  readonly accepted: number
}

/**
 * Compiles PostgreSQL's regular expressions without backtracking: classes, `\d \s \w`, groups, `|`, repetition, `^ $`.
 * @throws AppError `bad_request` for anything else.
 */
export function regexPattern(pattern: string, { ignoreCase, work = UNLIMITED_WORK }: PatternOptions): Test {
  const program = new RegexParser(pattern, ignoreCase, work).parse()
  return function matchesRegex(text) {
    return runProgram(program, text, work)
  }
}

const escapeCharacter = (character: string) => (/[\\^$.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character)

/** A recursive-descent parser that emits states as it reads. */
class RegexParser {
  readonly #pattern: string
  readonly #ignoreCase: boolean
  readonly #characters: readonly string[]
  readonly #states: State[] = []
  readonly #sets = new Map<string, CharacterSet>()
  readonly #work: Work
  #at = 0

  constructor(pattern: string, ignoreCase: boolean, work: Work) {
    work.spend(pattern.length)
    this.#pattern = pattern
    this.#ignoreCase = ignoreCase
    this.#work = work
    this.#characters = Array.from(pattern)
  }

  parse(): Program {
    const root = this.#readAlternatives()
    if (this.#at < this.#characters.length) this.#reject()
    const accepted = this.#states.length
    for (const exit of root.exits) exit(accepted)
    return { states: this.#states, enter: root.enter, accepted }
  }

  #reject(): never {
    throw new AppError('bad_request', `invalid or unsupported regular expression: "${this.#pattern}"`)
  }

  #add(state: State): number {
    if (this.#states.length >= MAX_STATES) this.#reject()
    this.#work.spend(1)
    return this.#states.push(state) - 1
  }

  #single(state: State): Fragment {
    const enter = this.#add(state)
    return { enter, exits: [(target) => (state.next = target)] }
  }

  #join(first: Fragment, second: Fragment): Fragment {
    for (const exit of first.exits) exit(second.enter)
    return { enter: first.enter, exits: second.exits }
  }

  #empty(): Fragment {
    return this.#single({ kind: 'fork', next: -1, other: -1 })
  }

  #optional(inner: Fragment): Fragment {
    const fork: State = { kind: 'fork', next: inner.enter, other: -1 }
    return { enter: this.#add(fork), exits: [...inner.exits, (target) => (fork.other = target)] }
  }

  #loop(inner: Fragment): Fragment {
    const fork: State = { kind: 'fork', next: inner.enter, other: -1 }
    const enter = this.#add(fork)
    for (const exit of inner.exits) exit(enter)
    return { enter, exits: [(target) => (fork.other = target)] }
  }

  #characterOf(source: string, literal = ''): Fragment {
    const set = this.#sets.get(source) ?? this.#newSet(source, literal)
    return this.#single({ kind: 'character', set, next: -1 })
  }

  #newSet(source: string, literal: string): CharacterSet {
    const isLiteral = literal !== '' && !this.#ignoreCase
    this.#work.spend(isLiteral ? 1 : STEPS_PER_SET)
    try {
      const regex = isLiteral ? undefined : new RegExp(`^(?:${source})$`, this.#ignoreCase ? 'isu' : 'su')
      const set = { regex, literal, testedAt: -1, isMember: false }
      this.#sets.set(source, set)
      return set
    } catch {
      return this.#reject()
    }
  }

  #readClass(): Fragment {
    const start = this.#at
    if (this.#characters[this.#at] === '^') this.#at += 1
    // A leading bracket is a member of the class.
    if (this.#characters[this.#at] === ']') this.#at += 1
    while (this.#at < this.#characters.length && this.#characters[this.#at] !== ']')
      this.#at += this.#characters[this.#at] === '\\' ? 2 : 1
    const inside = this.#characters.slice(start, this.#at).join('')
    this.#at += 1
    if (this.#at > this.#characters.length || /[[]/.test(inside) || /\\[^dswnrt\\\]^-]/.test(inside))
      return this.#reject()
    return this.#characterOf(
      `[${inside.replace(/^(\^?)\]/, '$1\\]').replaceAll(/\\([\s\S])/g, (pair) => (pair === '\\w' ? WORD : pair))}]`,
    )
  }

  #readAtom(): Fragment {
    const character = this.#characters[this.#at] ?? this.#reject()
    this.#at += 1
    if (character === '.') return this.#characterOf('.')
    if (character === '^') return this.#single({ kind: 'start', next: -1 })
    if (character === '$') return this.#single({ kind: 'end', next: -1 })
    if (character === '[') return this.#readClass()
    if (character === '(') {
      if (this.#characters[this.#at] === '?') {
        if (this.#characters[this.#at + 1] !== ':') return this.#reject()
        this.#at += 2
      }
      const inner = this.#readAlternatives()
      if (this.#characters[this.#at] !== ')') return this.#reject()
      this.#at += 1
      return inner
    }
    if (character === '\\') {
      const escaped = this.#characters[this.#at] ?? this.#reject()
      this.#at += 1
      if (/[wW]/.test(escaped)) return this.#characterOf(`[${escaped === 'W' ? '^' : ''}${WORD}]`)
      if (/[dDsSnrt]/.test(escaped)) return this.#characterOf(`\\${escaped}`)
      return /\w/.test(escaped) ? this.#reject() : this.#characterOf(escapeCharacter(escaped), escaped)
    }
    return /[*+?{})\]]/.test(character) ? this.#reject() : this.#characterOf(escapeCharacter(character), character)
  }

  #readBounds(): { least: number; most: number } | undefined {
    const symbol = this.#characters[this.#at] ?? ''
    const simple = { '*': [0, Infinity], '+': [1, Infinity], '?': [0, 1] }[symbol]
    if (simple) {
      this.#at += 1
      return { least: simple[0] ?? 0, most: simple[1] ?? 0 }
    }
    if (symbol !== '{') return undefined
    const bounds =
      /^\{(\d{1,3})(,(\d{1,3})?)?\}/.exec(this.#characters.slice(this.#at, this.#at + 10).join('')) ?? this.#reject()
    this.#at += bounds[0].length
    const least = Number(bounds[1])
    const most = bounds[2] === undefined ? least : bounds[3] === undefined ? Infinity : Number(bounds[3])
    return most < least ? this.#reject() : { least, most }
  }

  #readRepeated(): Fragment {
    const start = this.#at
    const first = this.#readAtom()
    const end = this.#at
    const bounds = this.#readBounds()
    if (!bounds) return first
    if (this.#states[first.enter]?.kind === 'start' || this.#states[first.enter]?.kind === 'end') return this.#reject()
    // Greediness changes where a match ends, not whether there is one.
    if (this.#characters[this.#at] === '?') this.#at += 1
    const after = this.#at
    const again = () => {
      this.#at = start
      const copy = this.#readAtom()
      if (this.#at !== end) this.#reject()
      this.#at = after
      return copy
    }
    let result = bounds.least === 0 ? this.#empty() : first
    for (let count = 1; count < bounds.least; count += 1) result = this.#join(result, again())
    if (bounds.most === Infinity) return this.#join(result, this.#loop(again()))
    for (let count = bounds.least; count < bounds.most; count += 1) result = this.#join(result, this.#optional(again()))
    return result
  }

  #readSequence(): Fragment {
    let result = this.#empty()
    while (
      this.#at < this.#characters.length &&
      this.#characters[this.#at] !== '|' &&
      this.#characters[this.#at] !== ')'
    )
      result = this.#join(result, this.#readRepeated())
    return result
  }

  #readAlternatives(): Fragment {
    const first = this.#readSequence()
    if (this.#characters[this.#at] !== '|') return first
    this.#at += 1
    const rest = this.#readAlternatives()
    const enter = this.#add({ kind: 'fork', next: first.enter, other: rest.enter })
    return { enter, exits: [...first.exits, ...rest.exits] }
  }
}

/** Follows all paths at once: each character costs at most one visit of each state. */
function runProgram({ states, enter, accepted }: Program, text: string, work: Work): boolean {
  work.spend(text.length * STEPS_PER_CHARACTER)
  const characters = Array.from(text)
  let [current, following] = [new ReachedStates(states), new ReachedStates(states)]
  for (const set of new Set(states.flatMap((state) => (state.kind === 'character' ? [state.set] : []))))
    set.testedAt = -1
  for (let position = 0; position <= characters.length; position += 1) {
    current.add(enter, { isStart: position === 0, isEnd: position === characters.length })
    if (current.has(accepted)) return true
    const character = characters[position]
    if (character === undefined) return false
    const boundaries = { isStart: false, isEnd: position + 1 === characters.length }
    following.clear()
    let steps = current.size
    for (let at = 0; at < current.size; at += 1) {
      const state = states[current.at(at)]
      if (state?.kind !== 'character') continue
      const { set } = state
      if (set.testedAt !== position) {
        set.testedAt = position
        set.isMember = set.regex?.test(character) ?? character === set.literal
        steps += set.regex ? STEPS_PER_TEST : 1
      }
      if (set.isMember) following.add(state.next, boundaries)
    }
    work.spend(steps)
    ;[current, following] = [following, current]
  }
  return false
}

/** Numbers of states that some path is in, in order of arrival. */
class ReachedStates {
  readonly #states: readonly State[]
  readonly #list: Int32Array
  /** The generation in which each state was last reached. */
  readonly #reachedIn: Int32Array
  readonly #waiting: number[] = []
  #generation = 1
  #size = 0

  constructor(states: readonly State[]) {
    this.#states = states
    // One more for the accepted state.
    this.#list = new Int32Array(states.length + 1)
    this.#reachedIn = new Int32Array(states.length + 1)
  }

  get size(): number {
    return this.#size
  }

  at(index: number): number {
    return this.#list[index] ?? -1
  }

  has(state: number): boolean {
    return this.#reachedIn[state] === this.#generation
  }

  clear(): void {
    this.#generation += 1
    this.#size = 0
  }

  /** Adds a state and those that it leads to without a character. */
  add(target: number, { isStart, isEnd }: Boundaries): void {
    this.#waiting.push(target)
    for (let index = this.#waiting.pop(); index !== undefined; index = this.#waiting.pop()) {
      if (index < 0 || this.has(index)) continue
      this.#reachedIn[index] = this.#generation
      this.#list[this.#size] = index
      this.#size += 1
      const state = this.#states[index]
      if (state?.kind === 'fork') this.#waiting.push(state.next, state.other)
      else if ((state?.kind === 'start' && isStart) || (state?.kind === 'end' && isEnd)) this.#waiting.push(state.next)
    }
  }
}
