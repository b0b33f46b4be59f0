/** Words and phrases of a question that may be said otherwise, with what the lists of concepts hold of them. */
import type { Scope } from '#server/database/scope.ts'
import { detectLanguage } from '#server/search/text/detect-language.ts'
import { stemByLanguage } from '#server/search/text/stemmer.ts'
import { detectQuestionLanguages, isStopWord } from '#server/search/text/stop-words.ts'
import { foldAccents, wordsOf } from '#server/search/text/tokenizer.ts'
import { foreignNamesIn } from '#server/search/text/transliteration.ts'
import {
  type Column,
  COLUMNS,
  type Concept,
  type ConceptColumn,
  openColumn,
  STEMMERS,
  wordsInOrder,
} from './concepts.ts'
import { type JapaneseSynonyms, openJapaneseSynonyms } from './japanese-synonyms.ts'
import { wordKey } from './word-key.ts'

export interface QuestionSpan {
  readonly text: string
  /** As the tokenizer yields them. */
  readonly words: readonly string[]
  readonly column: Column
  readonly concepts: readonly Concept[]
  /** Below 1 for a part of a compound. */
  readonly weight: number
}

const PAIRED_RUN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー々]+/gu
const LATIN_COLUMNS = COLUMNS.filter((column) => !['ru', 'ar', 'ja', 'zh', 'ko'].includes(column))

const columnsOf = (languages: readonly string[]): Column[] =>
  COLUMNS.filter((column) => STEMMERS[column].some((stemmer) => languages.includes(stemmer)))

/** Columns in whose languages the question may be, the likeliest first. @param languages stemmers of the library */
export function detectColumns(text: string, languages: readonly string[]): Column[] {
  const paired = text.match(PAIRED_RUN)?.join('') ?? ''
  if (paired.length > 1) {
    if (/\p{Script=Hangul}/u.test(paired)) return ['ko']
    return /[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(paired) ? ['ja'] : ['zh', 'ja']
  }
  const found = columnsOf(detectQuestionLanguages(wordsInOrder(text)).slice(0, 1))
  if (found.length > 0) return found
  const detected = columnsOf([detectLanguage(text)])
  if (detected.length > 0) return detected
  if (!/\p{Script=Latin}/u.test(text)) return []
  const held = columnsOf(languages).filter((column) => LATIN_COLUMNS.includes(column))
  return held.length > 0 ? held : ['en']
}

export async function findSpans(scope: Scope, text: string, languages: readonly string[]): Promise<QuestionSpan[]> {
  const spans: QuestionSpan[] = []
  for (const column of detectColumns(text, languages)) {
    const index = await openColumn(scope, column)
    const found =
      STEMMERS[column].length === 0
        ? findInRuns(text, column, index, column === 'ja' ? await openJapaneseSynonyms() : undefined)
        : await findInWords(scope, text, column, index)
    // The first language that knows a word has it.
    for (const span of found) {
      const other = spans.findIndex(
        ({ text: known, column: knownColumn, words }) =>
          known === span.text || (knownColumn !== column && words.some((word) => span.words.includes(word))),
      )
      const before = spans[other]
      if (!before) spans.push(span)
      else if (before.concepts.length === 0 && span.concepts.length > 0) spans[other] = span
    }
  }
  return spans
}

/** The longest words of the lists at each place; the rest stays unread. */
function findInRuns(text: string, column: Column, index: ConceptColumn, synonyms?: JapaneseSynonyms): QuestionSpan[] {
  const spans: QuestionSpan[] = []
  const longest = Math.max(index.longest, 8)
  for (const [run] of wordKey(text).matchAll(PAIRED_RUN)) {
    for (let from = 0; from < run.length;) {
      let length = Math.min(longest, run.length - from)
      const isKnown = (word: string) => index.conceptsOf.has(word) || (word.length > 1 && synonyms?.has(word) === true)
      while (length > 0 && !isKnown(run.slice(from, from + length))) length -= 1
      const word = run.slice(from, from + length)
      if (length > 1)
        spans.push({
          text: word,
          words: wordsOf(word),
          column,
          concepts: index.conceptsOf.get(word) ?? [],
          weight: 1,
        })
      from += Math.max(1, length)
    }
  }
  return [...spans, ...soundedWords(text, column, spans)]
}

/** Words that are written by their sounds, and so may be names. */
const SOUNDED: Partial<Record<Column, (text: string) => readonly string[]>> = {
  ja: (text) => text.match(/[\p{Script=Katakana}ー]{3,}/gu) ?? [],
  zh: foreignNamesIn,
  ko: (text) => text.match(/\p{Script=Hangul}{2,}/gu) ?? [],
}

function soundedWords(text: string, column: Column, known: readonly QuestionSpan[]): QuestionSpan[] {
  const unknown = known.reduce((rest, span) => rest.replaceAll(span.text, ' '), wordKey(text))
  const words = SOUNDED[column]?.(unknown) ?? []
  return words.map((word) => ({ text: word, words: wordsOf(word), column, concepts: [], weight: 1 }))
}

async function findInWords(scope: Scope, text: string, column: Column, index: ConceptColumn): Promise<QuestionSpan[]> {
  const [language = ''] = STEMMERS[column]
  const words = wordsInOrder(text).filter((word) => !isStopWord(word, [language]))
  const stems = await stemByLanguage(scope, words, [language])
  const stemOf = (word: string) => stems.get(word)?.get(language) ?? word
  const spans: QuestionSpan[] = []
  for (let from = 0; from < words.length;) {
    let length = Math.min(index.longest, words.length - from)
    const conceptsAt = () =>
      index.conceptsOf.get(
        words
          .slice(from, from + length)
          .map(stemOf)
          .join(' '),
      )
    while (length > 1 && !conceptsAt()) length -= 1
    const ofSpan = words.slice(from, from + length)
    const [word = ''] = ofSpan
    const concepts = conceptsAt() ?? []
    const parts = concepts.length === 0 ? splitCompound(word, stemOf(word), column, index) : []
    if (parts.length > 0) spans.push(...parts)
    else spans.push({ text: ofSpan.join(' '), words: ofSpan, column, concepts, weight: 1 })
    from += length
  }
  return spans
}

const COMPOUNDING: readonly Column[] = ['de', 'nl', 'sv', 'no']
const LINKS = ['', 's', 'es', 'n', 'en', 'e']
const [MIN_HEAD, MIN_TAIL, MIN_LONE_TAIL] = [3, 4, 6]
/** A compound's last part alone names the kind of thing only. */
const LONE_TAIL_WEIGHT = 0.7

/** "Brustoperation": breast, operation. The last part carries the ending, so it is looked up by its stem. */
function splitCompound(
  word: string,
  stem: string,
  column: Column,
  { conceptsOf, written }: ConceptColumn,
): QuestionSpan[] {
  if (!COMPOUNDING.includes(column)) return []
  const span = (text: string, concepts: readonly Concept[], weight: number): QuestionSpan => ({
    text: `${word}: ${text}`,
    words: [word],
    column,
    concepts,
    weight,
  })
  for (let at = MIN_HEAD; at <= stem.length - MIN_TAIL; at += 1) {
    const tail = conceptsOf.get(stem.slice(at))
    if (!tail) continue
    const before = foldAccents(word).slice(0, at)
    for (const link of LINKS) {
      const head = before.endsWith(link) ? before.slice(0, before.length - link.length) : ''
      const concepts = head.length < MIN_HEAD ? undefined : (written.get(head) ?? written.get(`${head}e`))
      if (concepts) return [span(head, concepts, 1), span(stem.slice(at), tail, 1)]
    }
    if (stem.length - at >= MIN_LONE_TAIL) return [span(stem.slice(at), tail, LONE_TAIL_WEIGHT)]
  }
  return []
}
