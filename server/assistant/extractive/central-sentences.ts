/** Central sentences after SumBasic (Nenkova and Vanderwende, "The impact of frequency on summarization", 2005). */
import { wordsOf } from '#server/search/text/tokenizer.ts'
import type { Sentence } from './sentences.ts'

/** Titles, names and addresses have fewer words; lists and merged sentences have more. */
const [MIN_WORDS, MAX_WORDS] = [8, 45]
/** Words in a larger share of the sentences belong to the language rather than the subject. */
const COMMON_SHARE = 0.12
const MIN_COMMON_SENTENCES = 4
const MIN_LETTERS = 4
const REPEATED_FACTOR = 0.4
/** Bonus for sentences at the beginning, falling to zero at this share of the document. */
const [FIRST_BONUS, FIRST_SHARE] = [0.5, 0.1]

const SENTENCE_END = /(?:[.!?…؟।]|[。！？])["'”’»」』)\]]*$/u
const BOILERPLATE =
  /[©®™]|\bcopyright\b|\ball rights reserved\b|\balle rechte vorbehalten\b|\btous droits réservés\b|\bISBN\b|https?:|www\.|_{3,}|\.{4,}/iu

function isProse({ pageText, start, end, words, isRow, isAtEdge }: Sentence): boolean {
  const text = pageText.slice(start, end)
  return (
    !isRow &&
    !isAtEdge &&
    words.length >= MIN_WORDS &&
    words.length <= MAX_WORDS &&
    SENTENCE_END.test(text) &&
    !/^\p{Ll}/u.test(text) &&
    !BOILERPLATE.test(text)
  )
}

const isAlphabetic = (word: string): boolean => /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]+$/u.test(word)

/** Square root of the number of sentences that contain the word. Title words always belong to the subject. */
function weighWords(sentences: readonly ReadonlySet<string>[], named: ReadonlySet<string>): Map<string, number> {
  const counts = new Map<string, number>()
  for (const words of sentences) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  const most = Math.max(MIN_COMMON_SENTENCES, COMMON_SHARE * sentences.length)
  return new Map(
    [...counts]
      .filter(
        ([word, count]) =>
          count > 1 && (count <= most || named.has(word)) && (word.length >= MIN_LETTERS || !isAlphabetic(word)),
      )
      .filter(([word]) => !/^\p{N}+$/u.test(word))
      .map(([word, count]) => [word, Math.sqrt(count)]),
  )
}

/** @returns at most `count` sentences in document order; none without complete sentences. */
export function centralSentences(sentences: readonly Sentence[], title: string, count: number): Sentence[] {
  const candidates = sentences.flatMap((sentence, index) =>
    isProse(sentence)
      ? [{ sentence, words: new Set(sentence.words), lead: Math.max(0, 1 - index / (FIRST_SHARE * sentences.length)) }]
      : [],
  )
  const weights = weighWords(
    candidates.map(({ words }) => words),
    new Set(wordsOf(title)),
  )
  const scoreOf = ({ words, lead }: (typeof candidates)[number]): number => {
    const said = [...words].reduce((sum, word) => sum + (weights.get(word) ?? 0), 0)
    return (said / Math.sqrt(words.size)) * (1 + FIRST_BONUS * lead)
  }
  const left = new Set(candidates)
  const chosen = new Set<Sentence>()
  while (chosen.size < count && left.size > 0) {
    const best = [...left].map((candidate) => ({ candidate, worth: scoreOf(candidate) }))
    const { candidate } = best.reduce((one, other) => (other.worth > one.worth ? other : one))
    left.delete(candidate)
    chosen.add(candidate.sentence)
    for (const word of candidate.words) weights.set(word, (weights.get(word) ?? 0) * REPEATED_FACTOR)
  }
  return sentences.filter((sentence) => chosen.has(sentence))
}
