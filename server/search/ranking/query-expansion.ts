/** Pseudo-relevance feedback by RM3 (Lavrenko and Croft, 2001; Abdul-Jaleel et al., 2004). */
import type { Weights } from './bm25.ts'

export const FEEDBACK_PASSAGES = 5
/** In a larger library the first ten always score evenly, and each added term costs more to read. */
export const MAX_PASSAGES_WITH_FEEDBACK = 20_000
const CANDIDATE_TERMS = 30
const MAX_TERMS = 20
/** A term in a larger share of the passages says nothing about the subject. */
const MAX_FREQUENCY = 0.1
const MAX_WEIGHT = 0.5
/** Score of the tenth passage divided by the first: the weight grows from 0 at the first value to its maximum. */
const [NO_WEIGHT_BELOW, FULL_WEIGHT_FROM] = [0.42, 0.68]
const COMPARED_RANK = 10

/** Weight of the added terms relative to the question's, 0 to 0.5. @param scores of the best passages, best first */
export function feedbackWeight(scores: readonly number[]): number {
  const [first = 0, tenth] = [scores[0], scores[COMPARED_RANK - 1]]
  if (tenth === undefined || first <= 0) return 0
  const share = (tenth / first - NO_WEIGHT_BELOW) / (FULL_WEIGHT_FROM - NO_WEIGHT_BELOW)
  return MAX_WEIGHT * Math.min(1, Math.max(0, share))
}

export interface FeedbackPassage {
  readonly score: number
  readonly terms: readonly string[]
}

export function collectTerms(passages: readonly FeedbackPassage[]): [term: string, weight: number][] {
  const total = passages.reduce((sum, { score }) => sum + score, 0)
  const weights = new Map<string, number>()
  for (const { score, terms } of passages) {
    for (const term of terms) weights.set(term, (weights.get(term) ?? 0) + score / total / terms.length)
  }
  return [...weights].sort(([, one], [, other]) => other - one).slice(0, CANDIDATE_TERMS)
}

export function expandWeights(
  question: Weights,
  collected: readonly (readonly [term: string, weight: number])[],
  { share, isFrequent }: { share: number; isFrequent: (term: string, maxShare: number) => boolean },
): Map<string, number> {
  const added = collected.filter(([term]) => !isFrequent(term, MAX_FREQUENCY)).slice(0, MAX_TERMS)
  const sum = added.reduce((total, [, weight]) => total + weight, 0)
  const questionSum = [...question.values()].reduce((total, weight) => total + weight, 0)
  const expanded = new Map([...question].map(([term, weight]) => [term, ((1 - share) * weight) / questionSum]))
  for (const [term, weight] of added) expanded.set(term, (expanded.get(term) ?? 0) + (share * weight) / sum)
  return expanded
}
