import type { Scope } from '#server/database/scope.ts'
import { stemByLanguage } from '#server/search/text/stemmer.ts'
import { detectQuestionLanguages, isStopWord } from '#server/search/text/stop-words.ts'
import { wordsOf } from '#server/search/text/tokenizer.ts'
import { removeQuestionPhrases } from './question-phrases.ts'
import { weighWord } from './word-weight.ts'

export interface QuestionTerm {
  readonly weight: number
  readonly forms: ReadonlyMap<string, readonly string[]>
}

export interface ParsedQuestion {
  /** Without the phrases that only ask. */
  readonly text: string
  readonly terms: ReadonlyMap<string, QuestionTerm>
  /** The terms of each word that is no stop word. */
  readonly words: ReadonlyMap<string, readonly string[]>
}

/** A word has several terms if the languages of the library stem it differently. */
export const termKey = (terms: Iterable<string>): string => [...terms].join('/')

export function groupWordsByLanguage(question: string): ReadonlySet<string>[] {
  const languages = detectQuestionLanguages(wordsOf(question))
  const groups = new Map<string, Set<string>>()
  let [current = ''] = languages
  for (const clause of question.split(/[.,;:!?…()\n]+/)) {
    const words = wordsOf(clause).map((word) => ({
      word,
      language: languages.find((language) => isStopWord(word, [language])),
    }))
    const known = words.flatMap(({ language }, at) => (language === undefined ? [] : [{ language, at }]))
    let next = 0
    for (const [at, { word, language }] of words.entries()) {
      if (language !== undefined) continue
      while (next < known.length && (known[next]?.at ?? 0) < at) next += 1
      const [before, after] = [known[next - 1], known[next]]
      const isAfterNearer = after && (!before || after.at - at < at - before.at)
      current = (isAfterNearer ? after : before)?.language ?? current
      groups.set(current, (groups.get(current) ?? new Set()).add(word))
    }
  }
  return [...groups.values()]
}

export async function parseQuestion(
  scope: Scope,
  question: string,
  languages: readonly string[],
): Promise<ParsedQuestion> {
  const text = removeQuestionPhrases(question, languages)
  const words = wordsOf(text)
  const known = detectQuestionLanguages(words).filter((language) => languages.includes(language))
  const telling = words.filter((word) => !isStopWord(word, known.length > 0 ? known : languages) && weighWord(word) > 0)
  const searched = telling.length > 0 ? telling : wordsOf(question)
  const stems = await stemByLanguage(scope, searched, languages)
  const formsOf = new Map([...stems].map(([word, terms]) => [word, invert(terms)]))
  const terms = new Map<string, QuestionTerm>()
  for (const word of searched) {
    const forms = formsOf.get(word) ?? new Map<string, string[]>()
    const key = termKey(forms.keys())
    terms.set(key, { forms, weight: (terms.get(key)?.weight ?? 0) + (weighWord(word) || 1) })
  }
  return { text, terms, words: new Map([...formsOf].map(([word, forms]) => [word, [...forms.keys()]])) }
}

function invert(terms: ReadonlyMap<string, string>): Map<string, string[]> {
  const forms = new Map<string, string[]>()
  for (const [language, term] of terms) forms.set(term, [...(forms.get(term) ?? []), language])
  return forms
}
