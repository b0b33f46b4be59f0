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

/** The longest words of the lists at each place, and words that are written by their sounds; the rest stays unread. */
function findInRuns(text: string, column: Column, index: ConceptColumn, synonyms?: JapaneseSynonyms): QuestionSpan[] {
  const longest = Math.max(index.longest, 8)
  const isKnown = (word: string) => index.conceptsOf.has(word) || (word.length > 1 && synonyms?.has(word) === true)
  const lengthAt = (run: string, from: number): number => {
    let length = Math.min(longest, run.length - from)
    while (length > 0 && !isKnown(run.slice(from, from + length))) length -= 1
    return length
  }
  const found: string[] = []
  const unread: string[] = []
  for (const [run] of wordKey(text).matchAll(PAIRED_RUN)) {
    // Words within a name would be others ("レオ" in "ナポレオン"), unless the whole is made of them.
    const parts = column === 'ja' ? run.split(KATAKANA_RUN) : [run]
    for (const part of parts) {
      const words: string[] = []
      let rest = ''
      for (let from = 0; from < part.length;) {
        const length = lengthAt(part, from)
        if (length > 1) words.push(part.slice(from, from + length))
        rest += length > 1 ? ' ' : part.slice(from, from + 1)
        from += Math.max(1, length)
      }
      const isOneWord = column === 'ja' && /^[\p{Script=Katakana}ー]+$/u.test(part)
      if (isOneWord && (words.length > 1 || rest.trim() !== '')) unread.push(part)
      if (!isOneWord || rest.trim() === '') found.push(...words)
      if (!isOneWord) unread.push(rest)
    }
  }
  const spanOf = (word: string, concepts: readonly Concept[]): QuestionSpan => {
    return { text: word, words: wordsOf(word), column, concepts, weight: 1 }
  }
  return [
    ...found.map((word) => spanOf(word, index.conceptsOf.get(word) ?? [])),
    ...unread.flatMap((rest) => soundedWords(rest, column)).map((word) => spanOf(word, [])),
  ]
}

const KATAKANA_RUN = /([\p{Script=Katakana}ー]+)/u
const MIN_KATAKANA = 3
/** Endings of verbs, and words that ask. */
const KOREAN_GRAMMAR =
  /(?:니까|니다|나요|까요|세요|어요|아요|해요|가요|는가|은가|는지|었다|했다|한다|하는|되는|있는|없는|하기|위해|대한|대해|통해)$|^(?:언제|어디|무엇|무슨|누구|누가|어떤|어떻게|얼마|얼마나|왜|어느|몇|그리고|또는|가장|모든)/u

/** Words that are written by their sounds and so may be names. */
function soundedWords(text: string, column: Column): readonly string[] {
  if (column === 'zh') return foreignNamesIn(text)
  if (column === 'ja') return KATAKANA_RUN.test(text) && text.length >= MIN_KATAKANA ? [text] : []
  return (text.match(/\p{Script=Hangul}{2,}/gu) ?? []).filter((word) => !KOREAN_GRAMMAR.test(word))
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
