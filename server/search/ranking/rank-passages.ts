import type { PassageScores } from '#contract/trace.ts'
import type { Scope } from '#server/database/scope.ts'
import type { LibraryIndex } from '#server/search/index/library-index.ts'
import { readTerms } from '#server/search/index/posting-lookup.ts'
import type { ExpandedQuestion } from '#server/search/query/expansion.ts'
import type { ParsedQuestion } from '#server/search/query/parse-question.ts'
import { bestPassages, type PostingsByTerm, scoreBm25 } from './bm25.ts'
import { readFeedbackTerms } from './feedback-terms.ts'
import { scoreProximity } from './proximity.ts'
import {
  collectTerms,
  expandWeights,
  FEEDBACK_PASSAGES,
  feedbackWeight,
  MAX_PASSAGES_WITH_FEEDBACK,
} from './query-expansion.ts'

export interface RankedPassages {
  readonly order: readonly number[]
  readonly scoreOf: (passage: number) => number
  readonly scoresOf: (passage: number) => PassageScores
  readonly matched: number
}

interface WordRanking extends RankedPassages {
  readonly bm25: (passage: number) => number
  readonly byBm25: readonly number[]
}

export interface RankingInput {
  readonly library: LibraryIndex
  readonly question: ParsedQuestion
  readonly expanded: ExpandedQuestion
  readonly isAllowed: (passage: number) => boolean
  readonly limit: number
}

/** @param ranking of `rankByWords` for this input */
export async function rankPassages(
  scope: Scope,
  input: RankingInput,
  ranking: WordRanking = rankByWords(input),
): Promise<RankedPassages> {
  const hasFeedback = input.library.passages <= MAX_PASSAGES_WITH_FEEDBACK
  const share = hasFeedback ? feedbackWeight(ranking.byBm25.slice(0, 10).map(ranking.bm25)) : 0
  return share === 0 ? ranking : rankWithFeedback(scope, input, { ranking, share })
}

export function rankByWords({ library, expanded: { weights, postings }, isAllowed, limit }: RankingInput): WordRanking {
  const { scores, matched } = scoreBm25(library, weights, postings)
  const byBm25 = bestPassages(scores, limit, isAllowed)
  const proximity = scoreProximity(library, weights.keys(), postings, byBm25)
  const bm25 = (passage: number) => scores[passage] ?? 0
  const scoreOf = (passage: number) => bm25(passage) + (proximity.get(passage) ?? 0)
  return {
    bm25,
    byBm25,
    order: byBm25.toSorted((one, other) => scoreOf(other) - scoreOf(one)),
    scoreOf,
    scoresOf: (passage) => ({ words: bm25(passage), nearness: proximity.get(passage) ?? 0 }),
    matched,
  }
}

/** The first passage by words stays first. @param share of the feedback terms in the weights */
async function rankWithFeedback(
  scope: Scope,
  { library, question, expanded: { weights, postings }, isAllowed, limit }: RankingInput,
  { ranking, share }: { readonly ranking: WordRanking; readonly share: number },
): Promise<RankedPassages> {
  const passages = ranking.byBm25.slice(0, FEEDBACK_PASSAGES)
  const terms = await readFeedbackTerms(scope, library, passages)
  const collected = collectTerms(
    passages.flatMap((passage) => {
      const ofPassage = terms.get(passage)
      return ofPassage ? [{ score: ranking.bm25(passage), terms: ofPassage }] : []
    }),
  )
  const keys = new Map([...question.terms].flatMap(([key, { forms }]) => [...forms.keys()].map((term) => [term, key])))
  const feedback = collected.map(([term, weight]) => [keys.get(term) ?? term, weight] as const)
  const more = await readTerms(
    scope,
    library,
    feedback.map(([term]) => term).filter((term) => !postings.has(term)),
  )
  const all: PostingsByTerm = new Map([...postings, ...more])
  const widened = expandWeights(weights, feedback, {
    share,
    isFrequent: (term, maxShare) => (all.get(term)?.frequency ?? Infinity) > maxShare * library.passages,
  })
  const { scores } = scoreBm25(library, widened, all)
  const [first] = ranking.order
  const order = bestPassages(scores, limit, (passage) => passage !== first && isAllowed(passage))
  // Feedback weights add up to 1, which makes scores of different questions comparable.
  const questionWeight = [...weights.values()].reduce((sum, weight) => sum + weight, 0)
  const subject = (passage: number) => (scores[passage] ?? 0) * questionWeight
  return {
    order: first === undefined ? order : [first, ...order],
    scoreOf: (passage) =>
      passage === first ? ranking.scoreOf(first) : Math.min(ranking.scoreOf(first ?? passage), subject(passage)),
    scoresOf: (passage) => ({ ...ranking.scoresOf(passage), subject: subject(passage) }),
    matched: ranking.matched,
  }
}
