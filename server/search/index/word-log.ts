/**
 * The words of documents as numbers, in the order of their occurrence: one number takes four bytes, while a list of strings
 * and positions for each word of each passage takes most of the time of an index to collect.
 */
import { isPair } from '#server/search/text/tokenizer.ts'
import { isWrittenForm } from '#server/search/text/written-forms.ts'

export interface NumberedWords {
  readonly numberOf: (word: string) => number
  /** By number. */
  readonly words: readonly string[]
  /** Whether the word is another form of what is counted anyway. */
  readonly isForm: (number: number) => boolean
  /** Positions of character pairs would be half of the index, and consecutive pairs overlap anyway. */
  readonly hasPositions: (number: number) => boolean
}

export function numberWords(): NumberedWords {
  const numbers = new Map<string, number>()
  const words: string[] = []
  const forms: boolean[] = []
  const positions: boolean[] = []
  return {
    words,
    numberOf(word) {
      const known = numbers.get(word)
      if (known !== undefined) return known
      const number = words.length
      numbers.set(word, number)
      words.push(word)
      const isForm = isWrittenForm(word)
      forms.push(isForm)
      positions.push(!isForm && !isPair(word))
      return number
    },
    isForm: (number) => forms[number] ?? false,
    hasPositions: (number) => positions[number] ?? false,
  }
}

const FIRST_SIZE = 1_024

export interface WordLog {
  /** Number of passages added. */
  readonly passages: number
  addPassage(inside: readonly number[], heading: readonly number[]): void
  /** Passages in order, with the words of each in order; those of the heading come last, with a position of -1. */
  forEach(visit: (word: number, passage: number, position: number) => void): void
}

export function createWordLog(): WordLog {
  /** For each passage the numbers of words inside and in the heading, then these. */
  let log = new Int32Array(FIRST_SIZE)
  let [length, passages] = [0, 0]
  return {
    get passages() {
      return passages
    },
    addPassage(inside, heading) {
      const end = length + 2 + inside.length + heading.length
      if (end > log.length) {
        const grown = new Int32Array(Math.max(2 * log.length, end))
        grown.set(log)
        log = grown
      }
      log[length] = inside.length
      log[length + 1] = heading.length
      log.set(inside, length + 2)
      log.set(heading, length + 2 + inside.length)
      length = end
      passages += 1
    },
    forEach(visit) {
      let passage = 0
      for (let at = 0; at < length; passage += 1) {
        const inside = log[at] ?? 0
        const words = inside + (log[at + 1] ?? 0)
        at += 2
        for (let index = 0; index < words; index += 1) visit(log[at + index] ?? 0, passage, index < inside ? index : -1)
        at += words
      }
    },
  }
}
