/**
 * Widens a question by words of the passages that it found first (relevance model 3: Lavrenko and Croft, 2001; Abdul-Jaleel
 * et al., 2004). That helps where many passages are about the question, and harms where one of them holds the answer: how
 * evenly the first ten score tells the two apart, and decides how much weight the new words get. Pure.
 */
import { type Weights } from './bm25.ts'

/** Passages that are read for words. */
export const FEEDBACK_PASSAGES = 5
/** In a larger library the first ten score evenly whatever is asked, and each new word costs more to read. */
export const LARGEST_WIDENED = 20_000
/** Words that are looked up; those that turn out to be everywhere are dropped. */
const CANDIDATES = 30
const MOST_TERMS = 20
/** A word in more of the library than this says nothing about the subject. */
const MOST_FREQUENT = 0.1
const MOST_WEIGHT = 0.5
/** Score of the tenth passage as a share of the first: below the one nothing is added, from the other on the most. */
const [LEAST_EVEN, MOST_EVEN] = [0.42, 0.68]
const EVEN_OVER = 10

/** Weight of the new words against the question's own, 0 to 0.5. @param scores of the best passages, best first. */
export function feedbackWeight(scores: readonly number[]): number {
  const [first = 0, tenth] = [scores[0], scores[EVEN_OVER - 1]]
  if (tenth === undefined || first <= 0) return 0
  const share = (tenth / first - LEAST_EVEN) / (MOST_EVEN - LEAST_EVEN)
  return MOST_WEIGHT * Math.min(1, Math.max(0, share))
}

export interface FeedbackPassage {
  readonly score: number
  /** In order, without stop words. */
  readonly terms: readonly string[]
}

/** Terms that tell what the passages are about, the weightiest first; their weights add up to less than 1. */
export function collectTerms(passages: readonly FeedbackPassage[]): [term: string, weight: number][] {
  const total = passages.reduce((sum, { score }) => sum + score, 0)
  const weights = new Map<string, number>()
  for (const { score, terms } of passages) {
    for (const term of terms) weights.set(term, (weights.get(term) ?? 0) + score / total / terms.length)
  }
  return [...weights].sort(([, one], [, other]) => other - one).slice(0, CANDIDATES)
}

/** The question's weights and the new ones, each to their share. */
export function widen(
  asked: Weights,
  collected: readonly (readonly [term: string, weight: number])[],
  { share, isFrequent }: { share: number; isFrequent: (term: string, most: number) => boolean },
): Map<string, number> {
  const kept = collected.filter(([term]) => !isFrequent(term, MOST_FREQUENT)).slice(0, MOST_TERMS)
  const sum = kept.reduce((total, [, weight]) => total + weight, 0)
  const askedSum = [...asked.values()].reduce((total, weight) => total + weight, 0)
  const widened = new Map([...asked].map(([term, weight]) => [term, ((1 - share) * weight) / askedSum]))
  for (const [term, weight] of kept) widened.set(term, (widened.get(term) ?? 0) + (share * weight) / sum)
  return widened
}
