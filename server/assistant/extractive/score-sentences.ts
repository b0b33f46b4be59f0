import { isMessageSource, isPassageSource } from '#contract/source.ts'
import { numberFactor } from './numbers.ts'
import type { QuotableSource } from './quotable.ts'
import { filenameWords, type QuestionPart, type QuoteCandidates } from './quote-candidates.ts'
import type { Sentence } from './sentences.ts'

/** Score multiplier for a sentence that only repeats the question, as titles do. */
const REPETITION_FACTOR = 0.3
/** Score multiplier for navigation: a running title or an entry of a table of contents. */
const NAVIGATION_FACTOR = 0.3
/** Passages below this share of the best score add noise. */
const MIN_SOURCE_SCORE_SHARE = 0.65
/** Minimum share of the question's words in the best passage, in one language of the question. */
const MIN_COVERAGE = 0.3
/** Minimum number of these words where the question has more than two: one match may be chance. */
const MIN_COVERED_WORDS = 2
const HEADING_WEIGHT = 0.5

interface SentenceTerms {
  readonly terms: ReadonlySet<string>
  readonly headingTerms: ReadonlySet<string>
}

export interface ScoredSentence extends Sentence, SentenceTerms {
  readonly score: number
  readonly following: Sentence | undefined
}

/** Inverse document frequency (Robertson and Spärck Jones) over sentences, else over headings, which cover many. */
function weighTerms(terms: ReadonlySet<string>, sentences: readonly SentenceTerms[]): Map<string, number> {
  return new Map(
    [...terms].map((term) => {
      const frequency =
        sentences.filter((sentence) => sentence.terms.has(term)).length ||
        sentences.filter(({ headingTerms }) => headingTerms.has(term)).length
      return [term, Math.log(1 + (sentences.length - frequency + 0.5) / (frequency + 0.5))]
    }),
  )
}

const matchWeight = (term: string, sentence: SentenceTerms): number =>
  sentence.terms.has(term) ? 1 : sentence.headingTerms.has(term) ? HEADING_WEIGHT : 0

function isTableOfContentsEntry({ pageText, start, end, isRow }: Sentence): boolean {
  const text = pageText.slice(start, end)
  const numbers = (text.match(/(?<!\S)\d{1,4}(?!\S)/g) ?? []).map(Number)
  const isAscending = numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0))
  return !isRow && numbers.length > 1 && isAscending && /\p{L}\S*\s+\d{1,4}$/u.test(text)
}

/** Document and message scores are not comparable, so each is relative to the best of its kind. */
function relevanceIn(sentences: readonly Sentence[]): (source: QuotableSource) => number {
  const bestOf = (isOfKind: (source: QuotableSource) => boolean) =>
    sentences.find(({ source }) => isOfKind(source))?.source.score ?? 0
  const best = { passage: bestOf(isPassageSource), message: bestOf(isMessageSource) }
  return (source) => {
    const bestScore = isMessageSource(source) ? best.message : best.passage
    return bestScore === 0 ? 1 : source.score / bestScore
  }
}

function isAnyCovered(
  questionParts: readonly QuestionPart[],
  sentences: readonly (Sentence & SentenceTerms)[],
  termsIn: (words: readonly string[]) => Set<string>,
): boolean {
  const questionTerms = new Set(questionParts.flat(2))
  const covered = new Map<QuotableSource, Set<string>>()
  for (const { source, terms, headingTerms } of sentences) {
    const before = covered.get(source) ?? questionTerms.intersection(termsIn(filenameWords(source)))
    covered.set(source, before.union(questionTerms.intersection(terms.union(headingTerms))))
  }
  return questionParts.some((part) =>
    [...covered.values()].some((found) => {
      const words = part.filter((terms) => terms.some((term) => found.has(term))).length
      return words >= (part.length > 2 ? Math.max(MIN_COVERED_WORDS, MIN_COVERAGE * part.length) : 1)
    }),
  )
}

/** @returns the sentences that may answer, best first; none where no source covers the question. */
export function rankSentences({ questionParts, wantsNumber, sentences, stems }: QuoteCandidates): ScoredSentence[] {
  const relevanceOf = relevanceIn(sentences)
  const questionWords = questionParts.flat()
  const questionTerms = new Set(questionWords.flat())
  const termsIn = (words: readonly string[]) => new Set(words.flatMap((word) => stems.get(word) ?? []))
  const all = sentences.map((sentence) => ({
    ...sentence,
    terms: termsIn(sentence.words),
    headingTerms: termsIn(sentence.headingWords),
  }))
  if (!isAnyCovered(questionParts, all, termsIn)) return []

  const weights = weighTerms(questionTerms, all)
  const saysMore = ({ words }: Sentence) =>
    words.some((word) => word.length > 1 && !(stems.get(word) ?? [word]).some((term) => questionTerms.has(term)))
  const factorOf = (sentence: Sentence) =>
    (wantsNumber ? numberFactor(sentence.pageText.slice(sentence.start, sentence.end)) : 1) *
    (saysMore(sentence) ? 1 : REPETITION_FACTOR) *
    (sentence.isAtEdge || isTableOfContentsEntry(sentence) ? NAVIGATION_FACTOR : 1)
  return all
    .map((sentence, index) => {
      const matched = questionWords.reduce(
        (sum, terms) => sum + Math.max(...terms.map((term) => (weights.get(term) ?? 0) * matchWeight(term, sentence))),
        0,
      )
      const score = matched * factorOf(sentence) * (0.5 + 0.5 * relevanceOf(sentence.source))
      return { ...sentence, following: all[index + 1], score }
    })
    .filter(({ source, score }) => score > 0 && relevanceOf(source) >= MIN_SOURCE_SCORE_SHARE)
    .sort((one, other) => other.score - one.score)
}
