import type { Scope } from '#server/database/scope.ts'
import type { LibraryIndex } from '#server/search/index/library-index.ts'
import { type IndexedTerm, joinForms, readTerms, type TermPostings } from '#server/search/index/posting-lookup.ts'
import { readVocabulary } from '#server/search/index/vocabulary.ts'
import { guessTerms, lengthsAround } from '#server/search/text/spelling.ts'
import { type ParsedQuestion, termKey } from './parse-question.ts'

/** Weight of another language's stem of a word, in passages whose own stem does not match. */
const OTHER_LANGUAGE_WEIGHT = 0.9

export interface GuessedWord {
  readonly word: string
  readonly terms: readonly string[]
  /** Those of them that would correct a mistake; the others are forms of the word. */
  readonly corrections: readonly string[]
}

export interface ExpandedQuestion {
  readonly weights: ReadonlyMap<string, number>
  readonly postings: ReadonlyMap<string, TermPostings>
  /** Terms that replace a word of the question: misspelt, or inflected in a language without a stemmer. */
  readonly guessed: readonly GuessedWord[]
}

export async function expandQuestion(
  scope: Scope,
  library: LibraryIndex,
  question: ParsedQuestion,
): Promise<ExpandedQuestion> {
  const weights = new Map([...question.terms].map(([key, { weight }]) => [key, weight]))
  const read = await readTerms(
    scope,
    library,
    [...question.terms.values()].flatMap(({ forms }) => [...forms.keys()]),
  )
  const postings = joinQuestionForms(question, read)
  const isUnknown = (terms: readonly string[]) => (postings.get(termKey(terms))?.frequency ?? 0) === 0
  const unknown = [...question.words].filter(
    ([, terms]) => isUnknown(terms) && lengthsAround(terms[0] ?? '').length > 0,
  )
  if (unknown.length === 0 || library.segments.length === 0) return { weights, postings, guessed: [] }
  const lengths = [...new Set(unknown.flatMap(([, [term = '']]) => lengthsAround(term)))]
  const vocabulary = await readVocabulary(scope, library, lengths)
  const guessed: GuessedWord[] = []
  for (const [word, terms] of unknown) {
    const elsewhere = terms.filter((term) => read.has(term)).map((term) => ({ term, weight: OTHER_LANGUAGE_WEIGHT }))
    const similar = guessTerms(terms[0] ?? '', vocabulary)
    const guesses = [...elsewhere, ...similar]
    for (const guess of guesses) if (!weights.has(guess.term)) weights.set(guess.term, guess.weight)
    if (guesses.length > 0) {
      const forms = new Set(elsewhere.map(({ term }) => term))
      const corrections = similar.filter(({ term, isCorrection }) => isCorrection && !forms.has(term))
      guessed.push({ word, terms: guesses.map(({ term }) => term), corrections: corrections.map(({ term }) => term) })
    }
  }
  const more = await readTerms(
    scope,
    library,
    guessed.flatMap(({ terms }) => terms),
  )
  return { weights, postings: new Map([...postings, ...more]), guessed }
}

function joinQuestionForms(
  { terms }: ParsedQuestion,
  read: ReadonlyMap<string, IndexedTerm>,
): Map<string, TermPostings> {
  const joined = new Map<string, TermPostings>()
  for (const [key, { forms }] of terms) {
    const held = [...forms].flatMap(([term, languages]) => {
      const postings = read.get(term)
      return postings ? [{ postings, languages }] : []
    })
    const [first] = held
    if (first) joined.set(key, forms.size === 1 ? first.postings : joinForms(held))
  }
  return joined
}
