import { isMessageSource } from '#contract/source.ts'
import type { PassageRange } from '#server/search/text/passages.ts'
import { joinLines } from './join-lines.ts'
import { findLists, type List, listRangeOf } from './lists.ts'
import type { QuotableSource } from './quotable.ts'
import type { QuoteCandidates } from './quote-candidates.ts'
import { rankSentences, type ScoredSentence } from './score-sentences.ts'
import { toQuote } from './sentences.ts'

export const MAX_QUOTES = 3
/** Shorter quotes include the next sentence, which often contains the answer. */
const SHORT_QUOTE_CHARACTERS = 250
const MAX_QUOTE_CHARACTERS = 500
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

/** Characters between sentences of one paragraph or of neighbouring ones. */
const MAX_GAP = 3

/**
 * A short sentence with the one after it, where answers often are, and with the one before it if only that has a word of
 * the question, as before "It costs 12 euros."
 */
function quoteRangeOf(
  { start, end, preceding, following, terms }: ScoredSentence,
  questionTerms: ReadonlySet<string>,
): PassageRange {
  const isShort = end - start < SHORT_QUOTE_CHARACTERS
  const completed =
    isShort && following && following.start - end < MAX_GAP && following.end - start <= MAX_QUOTE_CHARACTERS
      ? following.end
      : end
  const isReferring =
    preceding !== undefined &&
    start - preceding.end < MAX_GAP &&
    completed - preceding.start <= MAX_QUOTE_CHARACTERS &&
    !questionTerms.intersection(preceding.terms).isSubsetOf(terms)
  return { start: isReferring ? preceding.start : start, end: completed }
}

/** Whether another quote has equal words, for instance from a copy of the document, or overlaps. */
function isRepeatedIn(other: ScoredSentence, { source, start, end, pageText }: ScoredSentence, range: PassageRange) {
  return (
    joinLines(other.pageText.slice(other.start, other.end)).includes(joinLines(pageText.slice(start, end))) ||
    (isSamePage(other.source, source) && range.start < other.end && other.start < range.end)
  )
}

/** @returns sources whose text is exactly the quote, best first, with rows of one table together. */
export function chooseQuotes(candidates: QuoteCandidates, maxQuotes = MAX_QUOTES): QuotableSource[] {
  const questionTerms = new Set(candidates.questionParts.flat(2))
  const asksForAll = candidates.asksForSeveral ?? false
  const found = new Map<string, List[]>()
  const listsOf = (text: string): List[] => {
    const lists = found.get(text) ?? findLists(text)
    found.set(text, lists)
    return lists
  }
  const ranked = rankSentences(candidates)
  const chosen: ScoredSentence[] = []
  for (const sentence of ranked) {
    if (chosen.length === maxQuotes || sentence.score < (ranked[0]?.score ?? 0) * MIN_QUOTE_SCORE_SHARE) break
    if (sentence.isRow && chosen.some((other) => isWeakerRow(sentence, other, questionTerms))) continue
    const quoted = quoteRangeOf(sentence, questionTerms)
    const lists = sentence.isRow ? [] : listsOf(sentence.pageText)
    const inList = (quote: PassageRange) => listRangeOf(sentence.pageText, lists, quote, asksForAll)
    const range = inList(sentence) ?? inList(quoted) ?? quoted
    if (!chosen.some((other) => isRepeatedIn(other, sentence, range))) chosen.push({ ...sentence, ...range })
  }
  const shown = [...Map.groupBy(chosen, (quoted) => quoted.titles || quoted).values()].flat()
  return shown.map((quoted, index) => ({ ...toQuote(quoted, index + 1), score: quoted.score }))
}
