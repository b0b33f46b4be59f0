import { isMessageSource } from '#contract/source.ts'
import { joinLines } from './join-lines.ts'
import type { QuotableSource } from './quotable.ts'
import type { QuoteCandidates } from './quote-candidates.ts'
import { rankSentences, type ScoredSentence } from './score-sentences.ts'
import { toQuote } from './sentences.ts'

export const MAX_QUOTES = 3
/** Shorter quotes include the next sentence, which often contains the answer. */
const SHORT_QUOTE_CHARACTERS = 120
/** Quotes below this share of the first score answer something else. */
const MIN_QUOTE_SCORE_SHARE = 0.5

function isSamePage(one: QuotableSource, other: QuotableSource): boolean {
  if (isMessageSource(one) || isMessageSource(other)) return one === other
  return one.documentId === other.documentId && one.page === other.page
}

/** A row with equal column titles and fewer words of the question is about something else. */
function isWeakerRow(row: ScoredSentence, other: ScoredSentence, questionTerms: ReadonlySet<string>): boolean {
  const [found, foundThere] = [questionTerms.intersection(row.terms), questionTerms.intersection(other.terms)]
  return (
    row.titles !== '' &&
    row.titles === other.titles &&
    isSamePage(row.source, other.source) &&
    found.size < foundThere.size &&
    found.isSubsetOf(foundThere)
  )
}

function quoteEndOf({ source, start, end, isRow, following }: ScoredSentence): number {
  const takesNext =
    !isRow &&
    end - start < SHORT_QUOTE_CHARACTERS &&
    following?.source === source &&
    !following.isRow &&
    !following.isAtEdge &&
    following.start - end < 3
  return takesNext ? following.end : end
}

/** Whether another quote has equal words, for instance from a copy of the document, or overlaps. */
function isRepeatedIn(other: ScoredSentence, { source, start, end, pageText }: ScoredSentence, quoteEnd: number) {
  return (
    joinLines(other.pageText.slice(other.start, other.end)).includes(joinLines(pageText.slice(start, end))) ||
    (isSamePage(other.source, source) && start < other.end && other.start < quoteEnd)
  )
}

/** @returns sources whose text is exactly the quote, best first, with rows of one table together. */
export function chooseQuotes(candidates: QuoteCandidates, maxQuotes = MAX_QUOTES): QuotableSource[] {
  const questionTerms = new Set(candidates.questionParts.flat(2))
  const ranked = rankSentences(candidates)
  const chosen: ScoredSentence[] = []
  for (const sentence of ranked) {
    if (chosen.length === maxQuotes || sentence.score < (ranked[0]?.score ?? 0) * MIN_QUOTE_SCORE_SHARE) break
    if (sentence.isRow && chosen.some((other) => isWeakerRow(sentence, other, questionTerms))) continue
    const quoteEnd = quoteEndOf(sentence)
    if (!chosen.some((other) => isRepeatedIn(other, sentence, quoteEnd))) chosen.push({ ...sentence, end: quoteEnd })
  }
  const shown = [...Map.groupBy(chosen, (quoted) => quoted.titles || quoted).values()].flat()
  return shown.map((quoted, index) => ({ ...toQuote(quoted, index + 1), score: quoted.score }))
}
