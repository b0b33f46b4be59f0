/** Shorter words have too many neighbours. */
const MIN_LENGTH = 4
const MIN_LENGTH_FOR_TWO_EDITS = 7
/** In languages without a stemmer, words with this common prefix count as forms of one word. */
const MIN_SHARED = 5
const MAX_ENDING = 3

const maxEdits = (word: string): number => (word.length >= MIN_LENGTH_FOR_TWO_EDITS ? 2 : 1)

export function lengthsAround(word: string): number[] {
  if (word.length < MIN_LENGTH) return []
  const reach = word.length >= MIN_SHARED ? MAX_ENDING : maxEdits(word)
  return Array.from({ length: 2 * reach + 1 }, (_, index) => word.length - reach + index).filter((length) => length > 2)
}

/** Optimal string alignment distance (edits and swapped neighbours); `limit + 1` for any larger distance. */
export function countEdits(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) > limit) return limit + 1
  let [beforeLast, last]: [number[], number[]] = [[], Array.from({ length: other.length + 1 }, (_, index) => index)]
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row]
    let lowest = row
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1]
      let edits = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
      )
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      if (row > 1 && column > 1 && isSwapped) edits = Math.min(edits, (beforeLast[column - 2] ?? 0) + 1)
      current.push(edits)
      lowest = Math.min(lowest, edits)
    }
    if (lowest > limit) return limit + 1
    beforeLast = last
    last = current
  }
  return Math.min(last[other.length] ?? 0, limit + 1)
}

export interface Guess {
  readonly term: string
  readonly weight: number
  /** Whether it corrects a mistake; otherwise it is the word with another ending. */
  readonly isCorrection: boolean
}

const MAX_GUESSES = 8

export interface WordList {
  readonly length: number
  readonly units: Uint16Array
  readonly letters: Int32Array
  readonly byteLength: number
}

export function wordListOf(length: number, words: readonly string[]): WordList {
  const units = new Uint16Array(words.length * length)
  const letters = new Int32Array(words.length)
  for (const [index, word] of words.entries()) {
    for (let at = 0; at < length; at += 1) units[index * length + at] = word.charCodeAt(at)
    letters[index] = lettersOf(word)
  }
  return { length, units, letters, byteLength: units.byteLength + letters.byteLength }
}

/** The bit of a UTF-16 code unit in a 32-bit set; letters with equal lowest five bits share it. */
export const letterBit = (unit: number): number => 1 << (unit & 31)

/** A set of the word's letters. */
function lettersOf(word: string): number {
  let letters = 0
  for (let index = 0; index < word.length; index += 1) letters |= letterBit(word.charCodeAt(index))
  return letters
}

/** Whether at most so many of 32 bits are set: each round clears the lowest one. */
function hasAtMost(limit: number, bits: number): boolean {
  let rest = bits
  for (let round = 0; round < limit; round += 1) rest &= rest - 1
  return rest === 0
}

export function guessTerms(word: string, vocabulary: Iterable<WordList>): Guess[] {
  const limit = maxEdits(word)
  const letters = lettersOf(word)
  const guesses = new Map<string, Omit<Guess, 'term'>>()
  for (const list of vocabulary) {
    const { length, units } = list
    const isNear = Math.abs(length - word.length) <= limit
    if (!isNear && Math.abs(length - word.length) > MAX_ENDING) continue
    for (let index = 0, at = 0; at < units.length; index += 1, at += length) {
      // An edit adds at most one letter to the set and removes at most one, so this skips most terms.
      const ofTerm = list.letters[index] ?? 0
      const isClose = isNear && hasAtMost(limit, letters & ~ofTerm) && hasAtMost(limit, ofTerm & ~letters)
      if (!isClose && !sharesBeginning(word, units, at)) continue
      const term = String.fromCharCode(...units.subarray(at, at + length))
      const edits = isClose ? countEdits(word, term, limit) : limit + 1
      if (edits > 0 && edits <= limit)
        guesses.set(term, { weight: 0.9 - 0.3 * (edits - 1), isCorrection: !isOtherForm(word, term) })
      else if (isOtherForm(word, term)) guesses.set(term, { weight: 0.5, isCorrection: false })
    }
  }
  return [...guesses]
    .map(([term, guess]): Guess => ({ term, ...guess }))
    .sort((one, other) => other.weight - one.weight)
    .slice(0, MAX_GUESSES)
}

function sharesBeginning(word: string, units: Uint16Array, at: number): boolean {
  for (let index = 0; index < MIN_SHARED; index += 1) if (word.charCodeAt(index) !== units[at + index]) return false
  return true
}

function isOtherForm(word: string, term: string): boolean {
  const shared = Math.max(MIN_SHARED, Math.min(word.length, term.length) - MAX_ENDING)
  if (Math.min(word.length, term.length) < shared || Math.abs(word.length - term.length) > MAX_ENDING) return false
  return word.slice(0, shared) === term.slice(0, shared)
}
