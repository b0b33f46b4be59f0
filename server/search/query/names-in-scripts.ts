/** Words of a library that write a name of the question in another script. */
import { LONGEST_VOCABULARY_WORD, SHORTEST_VOCABULARY_WORD } from '#server/search/index/pack-segment.ts'
import { letterBit, type WordList } from '#server/search/text/spelling.ts'
import {
  bareForms,
  consonantKeys,
  type LetterFilter,
  letterFilter,
  romanise,
  type Script,
  scriptOf,
  soundSimilarity,
  WORD_SCRIPTS,
  wordScriptOf,
} from '#server/search/text/transliteration.ts'

/** Many words share fewer consonants than these. */
const MIN_CONSONANTS = 3
const MIN_SIMILARITY = 0.7
/** A name of two consonants ("Kenya") must be this similar. */
const MIN_SIMILARITY_OF_SHORT = 0.9
const MAX_MATCHES = 4
/** Lengths against the romanised name: scripts without vowels write half of the letters. */
const [SHORTEST, LONGEST] = [0.5, 1.5]

export interface ScriptMatch {
  readonly term: string
  /** Similarity of the sounds, up to 1. */
  readonly similarity: number
}

/** Lengths of the words of a vocabulary that may write a name; none for a longer text. */
export function lengthsInScripts(name: string): number[] {
  const script = scriptOf(name)
  const { length } = script === undefined ? name : romanise(name, script)
  if (length > LONGEST_VOCABULARY_WORD) return []
  const from = Math.max(SHORTEST_VOCABULARY_WORD, Math.floor(length * SHORTEST))
  const to = Math.min(LONGEST_VOCABULARY_WORD, Math.ceil(length * LONGEST))
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
}

interface Sounds {
  readonly roman: string
  readonly keys: ReadonlySet<string>
}

const soundsOf = (word: string, script: Script): Sounds => {
  const roman = romanise(word, script)
  return { roman, keys: consonantKeys(roman) }
}

function similarityOf(name: Sounds, word: Sounds): number {
  const shared = name.keys.intersection(word.keys)
  if (shared.size === 0) return 0
  const consonants = Math.max(...[...shared].map((key) => key.length))
  const similarity = soundSimilarity(name.roman, word.roman)
  if (consonants >= MIN_CONSONANTS) return similarity >= MIN_SIMILARITY ? similarity : 0
  return consonants === MIN_CONSONANTS - 1 && similarity >= MIN_SIMILARITY_OF_SHORT ? similarity : 0
}

const passes = (
  { allowed, required, first, last }: LetterFilter,
  letters: number,
  firstUnit: number,
  lastUnit: number,
) =>
  (letters & ~allowed) === 0 &&
  (first & letterBit(firstUnit)) !== 0 &&
  (last & letterBit(lastUnit)) !== 0 &&
  required.every((bits) => (letters & bits) !== 0)

/** The most similar words of other scripts, the best first. @param vocabulary at least of `lengthsInScripts` */
export function findInScripts(name: string, vocabulary: Iterable<WordList>): ScriptMatch[] {
  const script = scriptOf(name)
  const lengths = new Set(lengthsInScripts(name))
  if (script === undefined || lengths.size === 0) return []
  const forms = bareForms(name, script).map((form) => soundsOf(form, script))
  const filtersOf = new Map(
    WORD_SCRIPTS.filter((other) => other !== script).map((other) => [
      other,
      forms.map((form) => ({ form, filter: letterFilter(form.keys, other) })),
    ]),
  )
  const matches = new Map<string, number>()
  for (const { length, units, letters } of vocabulary) {
    if (!lengths.has(length)) continue
    for (let index = 0, at = 0; at < units.length; index += 1, at += length) {
      const [first = 0, last = 0] = [units[at], units[at + length - 1]]
      const other = wordScriptOf(first)
      const filters = other && filtersOf.get(other)
      if (!filters) continue
      const passing = filters.filter(({ filter }) => passes(filter, letters[index] ?? 0, first, last))
      if (passing.length === 0) continue
      const term = String.fromCharCode(...units.subarray(at, at + length))
      const sounds = soundsOf(term, other)
      const similarity = Math.max(...passing.map(({ form }) => similarityOf(form, sounds)))
      if (similarity > (matches.get(term) ?? 0)) matches.set(term, similarity)
    }
  }
  return [...matches]
    .map(([term, similarity]) => ({ term, similarity }))
    .toSorted((one, other) => other.similarity - one.similarity)
    .slice(0, MAX_MATCHES)
}
