import type { LibraryIndex } from '#server/search/index/library-index.ts'
import type { ExpandedQuestion } from '#server/search/query/expansion.ts'
import type { RankedPassages } from './rank-passages.ts'

/** Passages found answered 82 of 83 development questions from here on, and 39 of 75 below (docs/retrieval.md). */
export const ENOUGH_EVIDENCE = 0.36
/** In smaller libraries most words are frequent, so that scores say little. */
const MIN_PASSAGES = 100

/**
 * How well the best passage fits the question's own words, 0 to about 1: its score against that of a passage which holds
 * every word, each of them as rare as a word can be in this library. In small libraries the share of the question's words
 * that occur there.
 */
export function measureEvidence(
  library: LibraryIndex,
  { weights, postings }: ExpandedQuestion,
  { order, scoresOf }: RankedPassages,
): number {
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0)
  if (total === 0) return 0
  if (library.passages < MIN_PASSAGES) {
    const known = [...weights].filter(([term]) => (postings.get(term)?.frequency ?? 0) > 0)
    return known.reduce((sum, [, weight]) => sum + weight, 0) / total
  }
  const [best] = order
  return best === undefined ? 0 : (scoresOf(best).words ?? 0) / (total * Math.log(1 + library.passages))
}
