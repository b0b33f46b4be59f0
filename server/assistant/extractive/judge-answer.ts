/**
 * Whether anything among the quotations answers the question. A score of seven reasons against it, each a share from 0 to 1
 * or a count; the best quotation decides. The weights are those of a logistic regression over questions with and without
 * an answer (docs/retrieval.md says which, and how well it does on those that it was not fitted to), rounded.
 */
import { isPair } from '#server/search/text/tokenizer.ts'
import type { AnswerEvidence, WordEvidence, WordPlace } from './answer-evidence.ts'
import { type AnswerKind, VISIBLE_KINDS } from './answer-kind.ts'

export interface Judgement {
  readonly answers: boolean
  /** Why nothing answers, as the end of a sentence: 'the year 2012 does not occur there'. */
  readonly reason?: string
}

const WEIGHTS = {
  /** A year of the question does not occur. */
  year: 2.7,
  /** A name of the question occurs nowhere in the document. */
  name: 2.8,
  /** No answer of the kind: 1 if one stands farther away on the page, 2 if none does. */
  kind: 0.8,
  /** Share of what is asked about the subject that is not on the page. */
  asked: 0.6,
  /** Share of all words that are no names and not on the page. */
  words: 0.9,
  /** None of these is on the page. */
  nothing: 1.3,
  /** No sentence holds both what is asked and an answer of the kind. */
  apart: 0.6,
}
type Reasons = Readonly<Record<keyof typeof WEIGHTS, number>>

const MOST = 1.7

/** How much of a word counts as found. */
const SHARE_AT: Readonly<Record<WordPlace, number>> = { quote: 1, passage: 1, page: 0.7, document: 0.3, nowhere: 0 }
const isNear = ({ place }: WordEvidence): boolean => SHARE_AT[place] >= SHARE_AT.page

function missingShare(words: readonly WordEvidence[]): number {
  const total = words.reduce((sum, { weight }) => sum + weight, 0)
  return total === 0 ? 0 : 1 - words.reduce((sum, { weight, place }) => sum + weight * SHARE_AT[place], 0) / total
}

const isNowhere = (word: string, { words }: AnswerEvidence): boolean =>
  words.some((other) => other.word === word && other.place === 'nowhere')

/** A year that stands at none of the quotations. */
const yearMissingEverywhere = ({ missingYears }: AnswerEvidence, all: readonly AnswerEvidence[]): number | undefined =>
  missingYears.find((year) => all.every((other) => other.missingYears.includes(year)))

/** A name or a year of a comparison stands in one of the documents, not in all. */
function weighReasons(evidence: AnswerEvidence, all: readonly AnswerEvidence[]): Reasons {
  const { words, kind, kindPlace, isTogether } = evidence
  const [names, others] = [words.filter(({ isName }) => isName), words.filter(({ isName }) => !isName)]
  return {
    year: yearMissingEverywhere(evidence, all) === undefined ? 0 : 1,
    name: names.some(({ word }) => all.every((other) => isNowhere(word, other))) ? 1 : 0,
    kind: kindPlace === 'nowhere' ? 2 : kindPlace === 'page' ? 1 : 0,
    asked: missingShare(others.filter(({ isAsked }) => isAsked)),
    words: missingShare(others),
    nothing: others.length > 0 && !others.some(isNear) ? 1 : 0,
    apart: kind !== undefined && VISIBLE_KINDS.has(kind) && !isTogether ? 1 : 0,
  }
}

const scoreOf = (reasons: Reasons): number =>
  (Object.keys(WEIGHTS) as (keyof Reasons)[]).reduce((sum, reason) => sum + WEIGHTS[reason] * reasons[reason], 0)

const KIND_NAMES: Readonly<Record<AnswerKind, string>> = {
  percentage: 'no percentage',
  amount: 'no amount of money',
  duration: 'no duration',
  date: 'no date or time',
  number: 'no number',
  contact: 'no address or number to write to or call',
  person: 'no name of a person',
  place: 'no name of a place',
  reason: 'no reason',
  name: 'no name',
}

/** The heaviest reason in words; a pair of Chinese, Japanese or Korean characters is no word that could be named. */
function describe(evidence: AnswerEvidence, reasons: Reasons, all: readonly AnswerEvidence[]): string {
  const { words, kind } = evidence
  const of = (reason: keyof Reasons) => WEIGHTS[reason] * reasons[reason]
  const heaviest = (candidates: readonly WordEvidence[]) =>
    candidates.toSorted((one, other) => other.weight - one.weight).find(({ word }) => !isPair(word))
  const missing =
    heaviest(words.filter(({ isName, place }) => isName && place === 'nowhere')) ??
    heaviest(words.filter((found) => found.isAsked && !isNear(found))) ??
    heaviest(words.filter((found) => !isNear(found)))
  const year = yearMissingEverywhere(evidence, all)
  if (year !== undefined) return `the year ${String(year)} does not occur there`
  if (of('kind') > Math.max(of('name'), of('nothing')) && kind !== undefined)
    return `${KIND_NAMES[kind]} is given there`
  return missing ? `“${missing.word}” does not occur there` : 'they hold too little of the question'
}

/** Words of another language than the page say nothing; a name, a number or a word that both share does. */
const MIN_SHARED_WEIGHT = 0.4
const isShared = (evidence: AnswerEvidence): boolean =>
  evidence.words.some((found) => found.weight >= MIN_SHARED_WEIGHT && isNear(found))

/** Years and answers of a visible kind are written alike in other languages, but "when" may be "after four weeks". */
function missingInForeign(quote: AnswerEvidence, all: readonly AnswerEvidence[]): string | undefined {
  const year = yearMissingEverywhere(quote, all)
  if (year !== undefined) return `the year ${String(year)} does not occur there`
  const { kind, kindPlace } = quote
  return kind !== undefined && kind !== 'date' && VISIBLE_KINDS.has(kind) && kindPlace === 'nowhere'
    ? `${KIND_NAMES[kind]} is given there`
    : undefined
}

export const FOREIGN_REASON = 'the question is in another language'

/** @param evidence of each quotation; without any, nothing answers */
export function judgeAnswer(evidence: readonly AnswerEvidence[]): Judgement {
  const missing = evidence
    .filter((quote) => quote.isForeign && isShared(quote))
    .map((quote) => missingInForeign(quote, evidence))
  if (missing.includes(undefined)) return { answers: true }
  const judged = evidence.filter(({ isForeign }) => !isForeign)
  const [best] = judged
    .map((quote) => ({ quote, reasons: weighReasons(quote, judged) }))
    .toSorted((one, other) => scoreOf(one.reasons) - scoreOf(other.reasons))
  if (!best) return { answers: false, ...(evidence.length > 0 ? { reason: missing[0] ?? FOREIGN_REASON } : {}) }
  return scoreOf(best.reasons) <= MOST
    ? { answers: true }
    : { answers: false, reason: describe(best.quote, best.reasons, judged) }
}
