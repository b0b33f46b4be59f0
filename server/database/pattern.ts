/** Takes time proportional to pattern times text: JavaScript's engine takes exponential time on hostile patterns. */
import { AppError } from '#server/base/errors.ts'

type Test = (text: string) => boolean
interface PatternOptions {
  readonly ignoreCase: boolean
}

/** `%` matches any text, `_` one character, a backslash escapes. */
export function likePattern(pattern: string, { ignoreCase }: PatternOptions): Test {
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
        resumeFrom += 1
        position = resumeFrom
        at = lastAny + 1
      } else return false
    }
    return wanted.slice(at).every(({ kind }) => kind === 'any')
  }
}

type State =
  | { readonly kind: 'character'; readonly test: RegExp; next: number }
  | { readonly kind: 'start' | 'end'; next: number }
  | { readonly kind: 'fork'; next: number; other: number }

interface Fragment {
  readonly enter: number
  readonly exits: readonly ((target: number) => void)[]
}

const MAX_STATES = 500
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
export function regexPattern(pattern: string, options: PatternOptions): Test {
  const program = new RegexParser(pattern, options).parse()
  return function matchesRegex(text) {
    return runProgram(program, text)
  }
}

const escapeCharacter = (character: string) => (/[\\^$.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character)

/** A recursive-descent parser that emits states as it reads. */
class RegexParser {
  readonly #pattern: string
  readonly #flags: string
  readonly #characters: readonly string[]
  readonly #states: State[] = []
  #at = 0

  constructor(pattern: string, { ignoreCase }: PatternOptions) {
    this.#pattern = pattern
    this.#flags = ignoreCase ? 'isu' : 'su'
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

  #characterOf(source: string): Fragment {
    try {
      return this.#single({ kind: 'character', test: new RegExp(`^(?:${source})$`, this.#flags), next: -1 })
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
      return /\w/.test(escaped) ? this.#reject() : this.#characterOf(escapeCharacter(escaped))
    }
    return /[*+?{})\]]/.test(character) ? this.#reject() : this.#characterOf(escapeCharacter(character))
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
function runProgram({ states, enter, accepted }: Program, text: string): boolean {
  const characters = Array.from(text)
  let current = new Set<number>()
  for (let position = 0; position <= characters.length; position += 1) {
    const isEnd = position === characters.length
    addReachable(states, enter, current, { isStart: position === 0, isEnd })
    if (current.has(accepted)) return true
    const character = characters[position]
    if (character === undefined) return false
    const following = new Set<number>()
    const boundaries = { isStart: false, isEnd: position + 1 === characters.length }
    for (const index of current) {
      const state = states[index]
      if (state?.kind === 'character' && state.test.test(character))
        addReachable(states, state.next, following, boundaries)
    }
    current = following
  }
  return false
}

function addReachable(
  states: readonly State[],
  target: number,
  reached: Set<number>,
  { isStart, isEnd }: Boundaries,
): void {
  const waiting = [target]
  for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
    if (index < 0 || reached.has(index)) continue
    reached.add(index)
    const state = states[index]
    if (state?.kind === 'fork') waiting.push(state.next, state.other)
    else if ((state?.kind === 'start' && isStart) || (state?.kind === 'end' && isEnd)) waiting.push(state.next)
  }
}
