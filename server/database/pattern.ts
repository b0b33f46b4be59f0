/**
 * Matches in time proportional to pattern times text: JavaScript's engine takes exponential time on hostile patterns.
 */
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

/** Compiles PostgreSQL's regular expressions that need no backtracking. @throws AppError `bad_request` for others */
export function regexPattern(pattern: string, { ignoreCase }: PatternOptions): Test {
  const states: State[] = []
  const characters = Array.from(pattern)
  let at = 0

  function reject(): never {
    throw new AppError('bad_request', `invalid or unsupported regular expression: "${pattern}"`)
  }

  function add(state: State): number {
    if (states.length >= MAX_STATES) reject()
    return states.push(state) - 1
  }

  function single(state: State): Fragment {
    const enter = add(state)
    return { enter, exits: [(target) => (state.next = target)] }
  }

  function join(first: Fragment, second: Fragment): Fragment {
    for (const exit of first.exits) exit(second.enter)
    return { enter: first.enter, exits: second.exits }
  }

  const empty = (): Fragment => {
    const state: State = { kind: 'fork', next: -1, other: -1 }
    return single(state)
  }

  function optional(inner: Fragment): Fragment {
    const fork: State = { kind: 'fork', next: inner.enter, other: -1 }
    return { enter: add(fork), exits: [...inner.exits, (target) => (fork.other = target)] }
  }

  function loop(inner: Fragment): Fragment {
    const fork: State = { kind: 'fork', next: inner.enter, other: -1 }
    const enter = add(fork)
    for (const exit of inner.exits) exit(enter)
    return { enter, exits: [(target) => (fork.other = target)] }
  }

  function characterOf(source: string): Fragment {
    try {
      return single({ kind: 'character', test: new RegExp(`^(?:${source})$`, ignoreCase ? 'isu' : 'su'), next: -1 })
    } catch {
      return reject()
    }
  }

  const escapeCharacter = (character: string) => (/[\\^$.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character)

  function readClass(): Fragment {
    const start = at
    if (characters[at] === '^') at += 1
    if (characters[at] === ']') at += 1
    while (at < characters.length && characters[at] !== ']') at += characters[at] === '\\' ? 2 : 1
    const inside = characters.slice(start, at).join('')
    at += 1
    if (at > characters.length || /[[]/.test(inside) || /\\[^dswnrt\\\]^-]/.test(inside)) return reject()
    return characterOf(
      `[${inside.replace(/^(\^?)\]/, '$1\\]').replaceAll(/\\([\s\S])/g, (pair) => (pair === '\\w' ? WORD : pair))}]`,
    )
  }

  function readAtom(): Fragment {
    const character = characters[at] ?? reject()
    at += 1
    if (character === '.') return characterOf('.')
    if (character === '^') return single({ kind: 'start', next: -1 })
    if (character === '$') return single({ kind: 'end', next: -1 })
    if (character === '[') return readClass()
    if (character === '(') {
      if (characters[at] === '?') {
        if (characters[at + 1] !== ':') return reject()
        at += 2
      }
      const inner = readAlternatives()
      if (characters[at] !== ')') return reject()
      at += 1
      return inner
    }
    if (character === '\\') {
      const escaped = characters[at] ?? reject()
      at += 1
      if (/[wW]/.test(escaped)) return characterOf(`[${escaped === 'W' ? '^' : ''}${WORD}]`)
      if (/[dDsSnrt]/.test(escaped)) return characterOf(`\\${escaped}`)
      return /\w/.test(escaped) ? reject() : characterOf(escapeCharacter(escaped))
    }
    return /[*+?{})\]]/.test(character) ? reject() : characterOf(escapeCharacter(character))
  }

  function readBounds(): { least: number; most: number } | undefined {
    const symbol = characters[at] ?? ''
    const simple = { '*': [0, Infinity], '+': [1, Infinity], '?': [0, 1] }[symbol]
    if (simple) {
      at += 1
      return { least: simple[0] ?? 0, most: simple[1] ?? 0 }
    }
    if (symbol !== '{') return undefined
    const bounds = /^\{(\d{1,3})(,(\d{1,3})?)?\}/.exec(characters.slice(at, at + 10).join('')) ?? reject()
    at += bounds[0].length
    const least = Number(bounds[1])
    const most = bounds[2] === undefined ? least : bounds[3] === undefined ? Infinity : Number(bounds[3])
    return most < least ? reject() : { least, most }
  }

  function readRepeated(): Fragment {
    const start = at
    const first = readAtom()
    const end = at
    const bounds = readBounds()
    if (!bounds) return first
    if (states[first.enter]?.kind === 'start' || states[first.enter]?.kind === 'end') return reject()
    // Greediness changes where a match ends, not whether there is one.
    if (characters[at] === '?') at += 1
    const after = at
    const again = () => {
      at = start
      const copy = readAtom()
      if (at !== end) reject()
      at = after
      return copy
    }
    let whole = bounds.least === 0 ? empty() : first
    for (let count = 1; count < bounds.least; count += 1) whole = join(whole, again())
    if (bounds.most === Infinity) return join(whole, loop(again()))
    for (let count = bounds.least; count < bounds.most; count += 1) whole = join(whole, optional(again()))
    return whole
  }

  function readSequence(): Fragment {
    let whole = empty()
    while (at < characters.length && characters[at] !== '|' && characters[at] !== ')')
      whole = join(whole, readRepeated())
    return whole
  }

  function readAlternatives(): Fragment {
    const first = readSequence()
    if (characters[at] !== '|') return first
    at += 1
    const rest = readAlternatives()
    const enter = add({ kind: 'fork', next: first.enter, other: rest.enter })
    return { enter, exits: [...first.exits, ...rest.exits] }
  }

  const whole = readAlternatives()
  if (at < characters.length) reject()
  const accepted = states.length
  for (const exit of whole.exits) exit(accepted)

  function reach(target: number, reached: Set<number>, place: { isStart: boolean; isEnd: boolean }): void {
    const waiting = [target]
    for (let state = waiting.pop(); state !== undefined; state = waiting.pop()) {
      if (state < 0 || reached.has(state)) continue
      reached.add(state)
      const found = states[state]
      if (found?.kind === 'fork') waiting.push(found.next, found.other)
      else if ((found?.kind === 'start' && place.isStart) || (found?.kind === 'end' && place.isEnd))
        waiting.push(found.next)
    }
  }

  return function matchesRegex(text) {
    const given = Array.from(text)
    let current = new Set<number>()
    for (let position = 0; position <= given.length; position += 1) {
      const place = { isStart: position === 0, isEnd: position === given.length }
      reach(whole.enter, current, place)
      if (current.has(accepted)) return true
      const character = given[position]
      if (character === undefined) return false
      const following = new Set<number>()
      const nextPlace = { isStart: false, isEnd: position + 1 === given.length }
      for (const index of current) {
        const state = states[index]
        if (state?.kind === 'character' && state.test.test(character)) reach(state.next, following, nextPlace)
      }
      current = following
    }
    return false
  }
}
