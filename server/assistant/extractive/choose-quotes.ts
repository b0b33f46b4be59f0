import { isMessageSource } from '#contract/source.ts'
import type { PassageRange } from '#server/search/text/passages.ts'
import { joinLines } from './join-lines.ts'
import { findLists, type List, listRangeOf } from './lists.ts'
import type { QuotableSource } from './quotable.ts'
import type { QuoteCandidates } from './quote-candidates.ts'
import { rankSentences, type ScoredSentence } from './score-sentences.ts'
import { toQuote } from './sentences.ts'

export const MAX_QUOTES = 3
/** The answer to a shorter sentence, such as a title or a question, may be the next paragraph. */
const SHORT_SENTENCE_CHARACTERS = 250
/** About a passage: a longer paragraph is quoted in part. */
const MAX_QUOTE_CHARACTERS = 1_000
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
 * A sentence with those around it in its paragraph, where answers often are; a short one also with the next one of another
 * paragraph. One before it that has a word of the question which it lacks is taken first, as before "It costs 12 euros."
 */
function quoteRangeOf(
  { start, end, pageText, preceding, following, terms }: ScoredSentence,
  questionTerms: ReadonlySet<string>,
): PassageRange {
  const isNear = (one: PassageRange, other: PassageRange): boolean =>
    other.start - one.end < MAX_GAP && other.end - one.start <= MAX_QUOTE_CHARACTERS
  const isSameParagraph = (one: PassageRange, other: PassageRange): boolean =>
    !/\n\s*\n/.test(pageText.slice(one.end, other.start))
  let range = { start, end }
  const [before] = preceding
  const isReferring = before !== undefined && !questionTerms.intersection(before.terms).isSubsetOf(terms)
  if (isReferring && isNear(before, range)) range = { start: before.start, end }
  for (const [index, next] of following.entries()) {
    const isNextOfShort = index === 0 && end - start < SHORT_SENTENCE_CHARACTERS
    if (!isNear(range, next) || !(isNextOfShort || isSameParagraph(range, next))) break
    range = { start: range.start, end: next.end }
  }
  for (const previous of preceding.filter((other) => other.start < range.start)) {
    if (!isNear(previous, range) || !isSameParagraph(previous, range)) break
    range = { start: previous.start, end: range.end }
  }
  return range
}

/** Whether another quote has equal words, for instance from a copy of the document, or overlaps. */
function isRepeatedIn(other: ScoredSentence, { source, start, end, pageText }: ScoredSentence, range: PassageRange) {
  return (
    joinLines(other.pageText.slice(other.start, other.end)).includes(joinLines(pageText.slice(start, end))) ||
    (isSamePage(other.source, source) && range.start < other.end && other.start < range.end)
  )
}

/** The range without what other quotations hold, down to the sentence itself. */
function clip(range: PassageRange, sentence: ScoredSentence, chosen: readonly ScoredSentence[]): PassageRange {
  const others = chosen.filter(({ source }) => isSamePage(source, sentence.source))
  return {
    start: Math.max(range.start, ...others.filter(({ end }) => end <= sentence.start).map(({ end }) => end)),
    end: Math.min(range.end, ...others.filter(({ start }) => start >= sentence.end).map(({ start }) => start)),
  }
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
    const inList = (quote: PassageRange) => {
      const list = listRangeOf(sentence.pageText, lists, quote, asksForAll)
      return list && list.start <= sentence.start && sentence.end <= list.end ? list : undefined
    }
    const range = inList(sentence) ?? inList(quoted) ?? clip(quoted, sentence, chosen)
    if (!chosen.some((other) => isRepeatedIn(other, sentence, range))) chosen.push({ ...sentence, ...range })
  }
  const shown = [...Map.groupBy(chosen, (quoted) => quoted.titles || quoted).values()].flat()
  return shown.map((quoted, index) => ({ ...toQuote(quoted, index + 1), score: quoted.score }))
}
