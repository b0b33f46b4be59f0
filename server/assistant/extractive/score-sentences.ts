import { isMessageSource, isPassageSource, type PassageSource } from '#contract/source.ts'
import { holdsAnswer, VISIBLE_KINDS } from './answer-kind.ts'
import { isDefinition } from './definitions.ts'
import { containsNumber, numberFactor } from './numbers.ts'
import type { QuotableSource } from './quotable.ts'
import { filenameWords, type QuestionPart, type QuoteCandidates } from './quote-candidates.ts'
import type { Sentence } from './sentences.ts'

/** Score multiplier for a sentence that only repeats the question, as titles do. */
const REPETITION_FACTOR = 0.3
/** Score multiplier for navigation: a running title or an entry of a table of contents. */
const NAVIGATION_FACTOR = 0.3
/** Passages below this share of the best score add noise. */
const MIN_SOURCE_SCORE_SHARE = 0.4
/** Minimum share of the question's words in the best passage, in one language of the question. */
const MIN_COVERAGE = 0.3
/** Minimum number of these words where the question has more than two: one match may be chance. */
const MIN_COVERED_WORDS = 2
/** Weight of a word that only stands around the sentence: in its headings, the file name, or the sentence before or after. */
const NEARBY_WEIGHT = 0.5
/** Weight of a synonym or a translation where other sentences have the word itself. */
const OTHER_FORM_WEIGHT = 0.7
/** Share of the score of a sentence that its passage does not change. */
const OWN_SHARE = 0.25
/** Sentences on each side that a quotation may grow by. */
const MAX_CONTEXT = 5
const [SAME_PAGE_FACTOR, SAME_DOCUMENT_FACTOR] = [1.6, 1.3]
/** Score multiplier for the definition of a subject that the question asks for. */
const DEFINITION_FACTOR = 2
/** Score multiplier where the kind of answer that the question asks for is missing. */
const WITHOUT_ANSWER_FACTOR = 0.35

interface SentenceTerms {
  readonly terms: ReadonlySet<string>
  readonly headingTerms: ReadonlySet<string>
}

export interface ScoredSentence extends Sentence, SentenceTerms {
  readonly score: number
  /** The sentences of the passage around this one, the nearest first, up to a row or navigation. */
  readonly preceding: readonly (Sentence & SentenceTerms)[]
  readonly following: readonly (Sentence & SentenceTerms)[]
}

const holdsAny = (found: ReadonlySet<string>, terms: readonly string[]): boolean =>
  terms.some((term) => found.has(term))

/** Inverse document frequency (Robertson and Spärck Jones) over sentences, else over headings, which cover many. */
function rarityAmong(sentences: readonly SentenceTerms[], terms: readonly string[]): number {
  const frequency =
    sentences.filter((sentence) => holdsAny(sentence.terms, terms)).length ||
    sentences.filter(({ headingTerms }) => holdsAny(headingTerms, terms)).length
  return Math.log(1 + (sentences.length - frequency + 0.5) / (frequency + 0.5))
}

/**
 * Weight of each word of the question: the mean of its rarity in the library, which tells what the question is about, and
 * among the sentences, which tells them apart.
 */
function weighQuestionWords(
  questionWords: QuestionPart,
  sentences: readonly SentenceTerms[],
  importance: QuoteCandidates['importance'],
): { terms: readonly string[]; weight: number }[] {
  return questionWords.map((terms) => {
    const rarity = rarityAmong(sentences, terms)
    const known = importance?.get(terms.join(' ')) ?? { rarity, share: 1 }
    return { terms, weight: ((known.rarity + rarity) / 2) * known.share }
  })
}

function isTableOfContentsEntry({ pageText, start, end, isRow }: Sentence): boolean {
  const text = pageText.slice(start, end)
  const numbers = (text.match(/(?<!\S)\d{1,4}(?!\S)/g) ?? []).map(Number)
  const isAscending = numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0))
  const hasLeaders = /(?:\.\s?){6,}/u.test(text)
  return !isRow && (hasLeaders || (numbers.length > 1 && isAscending && /\p{L}\S*\s+\d{1,4}$/u.test(text)))
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

/** A follow-up asks for more about what the answer before quoted. */
function continuationFactor({ source }: Sentence, cited: readonly PassageSource[]): number {
  if (!isPassageSource(source)) return 1
  const ofDocument = cited.filter(({ documentId }) => documentId === source.documentId)
  if (ofDocument.some(({ page }) => page === source.page)) return SAME_PAGE_FACTOR
  return ofDocument.length > 0 ? SAME_DOCUMENT_FACTOR : 1
}

/** @returns the sentences that may answer, best first; none where no source covers the question. */
export function rankSentences({
  questionParts,
  wantsNumber,
  answerKind,
  definedSubject,
  importance,
  cited = [],
  isNearestWanted = false,
  sentences,
  stems,
  addedWeights = new Map(),
  otherForms = new Map(),
}: QuoteCandidates): ScoredSentence[] {
  const relevanceOf = relevanceIn(sentences)
  const questionWords = questionParts.flat()
  const questionTerms = new Set(questionWords.flat())
  const termsIn = (words: readonly string[]) => new Set(words.flatMap((word) => stems.get(word) ?? []))
  const all = sentences.map((sentence) => ({
    ...sentence,
    terms: termsIn(sentence.words),
    headingTerms: termsIn(sentence.headingWords),
  }))
  if (!isNearestWanted && !isAnyCovered(questionParts, all, termsIn)) return []

  const isNavigation = (sentence: Sentence) => sentence.isAtEdge || isTableOfContentsEntry(sentence)
  const weighted = weighQuestionWords(questionWords, all, importance)
  const saysMore = ({ words }: Sentence) =>
    words.some((word) => word.length > 1 && !(stems.get(word) ?? [word]).some((term) => questionTerms.has(term)))
  const isAnswerMissing = (text: string, isRow: boolean) =>
    answerKind !== undefined &&
    VISIBLE_KINDS.has(answerKind) &&
    !holdsAnswer(answerKind, text) &&
    // Cells have their unit in the column title.
    !(isRow && containsNumber(text))
  const isSame = (one: string, other: string) =>
    one === other || (stems.get(one) ?? []).some((term) => stems.get(other)?.includes(term) === true)
  const defines = (text: string) => definedSubject !== undefined && isDefinition(text, definedSubject, isSame)
  const factorOf = (sentence: Sentence) => {
    const text = sentence.pageText.slice(sentence.start, sentence.end)
    return (
      (wantsNumber ? numberFactor(text) : 1) *
      (defines(text) ? DEFINITION_FACTOR : 1) *
      (isAnswerMissing(text, sentence.isRow) ? WITHOUT_ANSWER_FACTOR : 1) *
      (saysMore(sentence) ? 1 : REPETITION_FACTOR) *
      (isNavigation(sentence) ? NAVIGATION_FACTOR : 1)
    )
  }
  const isContext = (other: Sentence, { source, isRow }: Sentence) =>
    other.source === source && !isRow && !other.isRow && !isNavigation(other)
  /** 0 if none of the terms is there. A synonym or a translation counts less than the word itself. */
  const weightIn = (found: ReadonlySet<string>, terms: readonly string[]): number => {
    const weight = Math.max(0, ...terms.map((term) => (found.has(term) ? (addedWeights.get(term) ?? 1) : 0)))
    if (weight > 0) return weight
    const others = [...(otherForms.get(terms.join(' ')) ?? [])].filter(([term]) => found.has(term))
    return OTHER_FORM_WEIGHT * Math.max(0, ...others.map(([, ofTerm]) => ofTerm))
  }
  const nameTerms = new Map(all.map(({ source }) => [source, termsIn(filenameWords(source))]))
  return all
    .map((sentence, index) => {
      const contextAt = (step: -1 | 1) => {
        const context: (Sentence & SentenceTerms)[] = []
        for (let at = index + step; context.length < MAX_CONTEXT; at += step) {
          const other = all[at]
          if (!other || !isContext(other, sentence)) break
          context.push(other)
        }
        return context
      }
      const [preceding, following] = [contextAt(-1), contextAt(1)]
      const nearby = [sentence.headingTerms, nameTerms.get(sentence.source), preceding[0]?.terms, following[0]?.terms]
      const matched = weighted.reduce((sum, { terms, weight }) => {
        const own = weightIn(sentence.terms, terms)
        const around = Math.max(...nearby.map((found) => (found ? weightIn(found, terms) : 0)))
        return sum + weight * (own > 0 ? own : NEARBY_WEIGHT * around)
      }, 0)
      const score =
        matched *
        factorOf(sentence) *
        continuationFactor(sentence, cited) *
        (OWN_SHARE + (1 - OWN_SHARE) * relevanceOf(sentence.source))
      return { ...sentence, preceding, following, score }
    })
    .filter(({ source, score }) => score > 0 && relevanceOf(source) >= MIN_SOURCE_SCORE_SHARE)
    .sort((one, other) => other.score - one.score)
}
