/** Finds the words that a misspelt or differently inflected one may stand for. Pure. */

/** Shorter words have too many neighbours. */
const LEAST_LENGTH = 4
const LENGTH_FOR_TWO_MISTAKES = 7
/** A word that goes on as another one begins is taken for a form of it, in languages that no stemmer knows. */
const LEAST_SHARED = 5
const MOST_ENDING = 3

const mistakesAllowed = (word: string): number => (word.length >= LENGTH_FOR_TWO_MISTAKES ? 2 : 1)

/** Lengths in characters of the words to look among; empty where the word is too short to be guessed. */
export function lengthsAround(word: string): number[] {
  if (word.length < LEAST_LENGTH) return []
  const reach = word.length >= LEAST_SHARED ? MOST_ENDING : mistakesAllowed(word)
  return Array.from({ length: 2 * reach + 1 }, (_, index) => word.length - reach + index).filter((length) => length > 2)
}

/**
 * Edits between two words: a letter added, left out or replaced, or two neighbours swapped (optimal string alignment).
 * @returns `limit + 1` as soon as it is more than `limit`.
 */
export function countEdits(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) > limit) return limit + 1
  let [beforeLast, last]: [number[], number[]] = [[], Array.from({ length: other.length + 1 }, (_, index) => index)]
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row]
    let least = row
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
      least = Math.min(least, edits)
    }
    if (least > limit) return limit + 1
    beforeLast = last
    last = current
  }
  return Math.min(last[other.length] ?? 0, limit + 1)
}

export interface Guess {
  readonly term: string
  /** How far it counts, against a word that is there as it was written. */
  readonly weight: number
}

const MOST_GUESSES = 8

/** Words of one length, as they are looked through for those that resemble another. */
export interface WordList {
  /** Of each word, in UTF-16 code units. */
  readonly length: number
  /** The words, one behind the other. */
  readonly units: Uint16Array
  /** Of each word, as `lettersOf` counts them. */
  readonly letters: Int32Array
  readonly byteLength: number
}

/** @param words of that length, each once. */
export function wordListOf(length: number, words: readonly string[]): WordList {
  const units = new Uint16Array(words.length * length)
  const letters = new Int32Array(words.length)
  for (const [index, word] of words.entries()) {
    for (let place = 0; place < length; place += 1) units[index * length + place] = word.charCodeAt(place)
    letters[index] = lettersOf(word)
  }
  return { length, units, letters, byteLength: units.byteLength + letters.byteLength }
}

/** One bit for each kind of letter in a word; letters of scripts larger than 32 share theirs. */
function lettersOf(word: string): number {
  let letters = 0
  for (let index = 0; index < word.length; index += 1) letters |= 1 << (word.charCodeAt(index) & 31)
  return letters
}

/** Of 32, in pairs, fours and eights (Warren, Hacker's Delight, 5-1). */
function countBits(bits: number): number {
  const pairs = bits - ((bits >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** Likely first. */
export function guessTerms(word: string, vocabulary: Iterable<WordList>): Guess[] {
  const limit = mistakesAllowed(word)
  const letters = lettersOf(word)
  const guesses = new Map<string, number>()
  for (const list of vocabulary) {
    const { length, units } = list
    for (let index = 0, at = 0; at < units.length; index += 1, at += length) {
      // An edit brings in at most one kind of letter and takes at most one away: most terms need no closer look.
      const others = list.letters[index] ?? 0
      const isClose = countBits(letters & ~others) <= limit && countBits(others & ~letters) <= limit
      if (!isClose && !beginsAlike(word, units, at)) continue
      const term = String.fromCharCode(...units.subarray(at, at + length))
      const edits = isClose ? countEdits(word, term, limit) : limit + 1
      if (edits > 0 && edits <= limit) guesses.set(term, 0.9 - 0.3 * (edits - 1))
      else if (isOtherForm(word, term)) guesses.set(term, 0.5)
    }
  }
  return [...guesses]
    .map(([term, weight]): Guess => ({ term, weight }))
    .sort((one, other) => other.weight - one.weight)
    .slice(0, MOST_GUESSES)
}

/** What forms of one word have in common at least. */
function beginsAlike(word: string, units: Uint16Array, at: number): boolean {
  for (let place = 0; place < LEAST_SHARED; place += 1) if (word.charCodeAt(place) !== units[at + place]) return false
  return true
}

function isOtherForm(word: string, term: string): boolean {
  const shared = Math.max(LEAST_SHARED, Math.min(word.length, term.length) - MOST_ENDING)
  if (Math.min(word.length, term.length) < shared || Math.abs(word.length - term.length) > MOST_ENDING) return false
  return word.slice(0, shared) === term.slice(0, shared)
}
