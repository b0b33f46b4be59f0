/** Sources that the Alcove Reader quotes for a question. */
import { isPassageSource, type Source } from '#contract/source.ts'
import type { Retrieval } from '#server/assistant/retrieval/find-passages.ts'
import { asksToListAll } from '#server/assistant/retrieval/whole-document-question.ts'
import type { Scope } from '#server/database/scope.ts'
import { listLanguages } from '#server/search/index/segments.ts'
import { NO_LANGUAGE } from '#server/search/text/detect-language.ts'
import { languageOf } from '#server/search/text/text-language.ts'
import { readEvidence } from './answer-evidence.ts'
import { answerKindOf } from './answer-kind.ts'
import { chooseQuotes } from './choose-quotes.ts'
import { FOREIGN_REASON, type Judgement, judgeAnswer } from './judge-answer.ts'
import { quoteAll } from './list-all-quotes.ts'
import { asksForNumber } from './numbers.ts'
import { containerIdOf, numbered, type QuotableSource } from './quotable.ts'
import { type PreparedCandidates, prepareCandidates } from './quote-candidates.ts'
import { quoteSummary } from './summary-quotes.ts'

export interface SelectionInput {
  /** The question as it was typed; a follow-up is searched together with the question before it. */
  readonly question: string
  readonly found: readonly QuotableSource[]
  readonly isWhole: boolean
  readonly parts: NonNullable<Retrieval['parts']>
  /** Sources of the answer before. */
  readonly cited: readonly Source[]
  /** False where a command asks for what was found, whether it answers or not. */
  readonly isJudged: boolean
}

export interface SelectedQuotes extends Judgement {
  readonly quotes: readonly QuotableSource[]
}

/** Runs as the person. */
export async function selectQuotes(
  scope: Scope,
  query: string,
  { question, found, isWhole, parts, cited, isJudged }: SelectionInput,
): Promise<SelectedQuotes> {
  if (query.trim() === '') return answering(await quoteSummary(scope, found))
  if (isWhole) {
    const every = asksToListAll(query) ? await quoteAll(scope, query, found) : []
    return answering(every.length > 0 ? every : await quoteSummary(scope, found))
  }
  const ofParts = parts.length > 0 ? await quoteParts(scope, question, { parts, isJudged }) : answering([])
  if (ofParts.quotes.length > 0) return ofParts
  const continues = cited.length > 0 || isJoined(query, question)
  const candidates = continues
    ? await prepareFollowUp(scope, query, { question, found, cited })
    : await prepareCandidates(scope, query, found)
  return isJudged ? judgeQuotes(scope, query, candidates) : answering(chooseQuotes(candidates))
}

const answering = (quotes: QuotableSource[]): SelectedQuotes => ({ quotes, answers: true })

/** The nearest passages of a question that nothing answers have no score: cards would claim a relevance. */
const judged = (quotes: readonly QuotableSource[], judgement: Judgement): SelectedQuotes => ({
  quotes: judgement.answers ? quotes : quotes.map((quote) => ({ ...quote, score: 0 })),
  ...judgement,
})

/** The quotations that answer, else the nearest ones with what is missing there. */
async function judgeQuotes(scope: Scope, query: string, candidates: PreparedCandidates): Promise<SelectedQuotes> {
  const quotes = chooseQuotes({ ...candidates, isNearestWanted: true })
  if (quotes.length === 0)
    return {
      quotes,
      answers: false,
      ...((await mayBeInAnotherLanguage(scope, query)) ? { reason: FOREIGN_REASON } : {}),
    }
  return judged(quotes, judgeAnswer(await readEvidence(scope, query, quotes, candidates)))
}

const isJoined = (query: string, question: string): boolean => query !== question && query.startsWith(`${question}\n`)

/** Characters of a page around what the answer before quoted. */
const AROUND_CITED = 1_200

/** The answer to a follow-up is mostly near that to the question before: on the same page, or in the same document. */
async function prepareFollowUp(
  scope: Scope,
  query: string,
  { question, found, cited }: Pick<SelectionInput, 'question' | 'found' | 'cited'>,
): Promise<PreparedCandidates> {
  const before = cited.filter(isPassageSource)
  const best = Math.max(1, ...found.map(({ score }) => score))
  const near = before.map(({ titles: _, cited: __, ...source }) => ({
    ...source,
    start: Math.max(0, source.start - AROUND_CITED),
    end: source.end + AROUND_CITED,
    score: best,
  }))
  const others = found.filter(
    (source) =>
      !isPassageSource(source) ||
      !near.some(
        ({ documentId, page, start, end }) =>
          source.documentId === documentId && source.page === page && source.start < end && start < source.end,
      ),
  )
  const candidates = await prepareCandidates(scope, query, numbered([...near, ...others]), question)
  return { ...candidates, cited: before }
}

/** No word of the question was found, and documents are in other languages than it. */
async function mayBeInAnotherLanguage(scope: Scope, query: string): Promise<boolean> {
  const asked = languageOf(query)
  const languages = (await listLanguages(scope)).filter((language) => language !== NO_LANGUAGE)
  return asked !== undefined && languages.some((language) => language !== asked)
}

const QUOTES_OF_PART = 2

/** Quotes every part of the question, the best of each first. Nothing answers where nothing answers any part. */
async function quoteParts(
  scope: Scope,
  question: string,
  { parts, isJudged }: Pick<SelectionInput, 'parts' | 'isJudged'>,
): Promise<SelectedQuotes> {
  const ofParts: QuotableSource[][] = []
  const judgements: Judgement[] = []
  for (const { query, passages } of parts) {
    const candidates = await prepareCandidates(scope, query, numbered(passages))
    // "How long … compared with …" asks for a time in both parts, and says so in one.
    const wanted = {
      answerKind: candidates.answerKind ?? answerKindOf(question),
      wantsNumber: candidates.wantsNumber || (candidates.answerKind === undefined && asksForNumber(question)),
    }
    const quotes = chooseQuotes({ ...candidates, ...wanted }, QUOTES_OF_PART)
    ofParts.push(quotes)
    if (isJudged && quotes.length > 0)
      judgements.push(judgeAnswer(await readEvidence(scope, query, quotes, candidates)))
  }
  const inTurn = Array.from({ length: QUOTES_OF_PART }, (_, place) => ofParts.flatMap((quotes) => quotes[place] ?? []))
  const isFirst = (quote: QuotableSource, index: number, all: readonly QuotableSource[]) =>
    all.findIndex(({ text }) => text === quote.text) === index
  // Those of one document stand together, the best of each part first.
  const quotes = numbered([...Map.groupBy(inTurn.flat().filter(isFirst), containerIdOf).values()].flat())
  const [first] = judgements
  return first && judgements.every(({ answers }) => !answers) ? judged(quotes, first) : answering(quotes)
}
