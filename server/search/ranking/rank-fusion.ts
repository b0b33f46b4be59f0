import type { LibraryIndex } from '#server/search/index/library-index.ts'
import type { SimilarPassage } from '#server/search/vectors/vector-store.ts'
import type { RankedPassages } from './rank-passages.ts'

/** A larger value reduces the advantage of the first ranks. */
const RANK_OFFSET = 60
/** Other words find the answer first or not at all; chosen by the development questions (docs/retrieval.md). */
const RANK_OFFSET_OF_SEARCHES = 10
/** Other words may miss what is meant, so the question's own count as much as two of them. */
const OWN_WEIGHT = 2

/** Reciprocal rank fusion (Cormack et al., 2009), scaled so that a passage which is first in both rankings scores 1. */
export function fuseRankings(
  library: LibraryIndex,
  byWords: RankedPassages,
  similar: readonly SimilarPassage[],
): RankedPassages {
  const bases = new Map(library.segments.map(({ segment, base }) => [segment, base]))
  const cosines = new Map<number, number>()
  for (const { segment, number, cosine } of similar) {
    const base = bases.get(segment)
    if (base !== undefined) cosines.set(base + number, cosine)
  }
  const scores = new Map<number, number>()
  for (const order of [byWords.order, [...cosines.keys()]]) {
    for (const [rank, passage] of order.entries())
      scores.set(passage, (scores.get(passage) ?? 0) + (RANK_OFFSET + 1) / (RANK_OFFSET + 1 + rank) / 2)
  }
  const scoreOf = (passage: number) => scores.get(passage) ?? 0
  return {
    order: [...scores.keys()].sort((one, other) => scoreOf(other) - scoreOf(one)),
    scoreOf,
    scoresOf(passage) {
      const cosine = cosines.get(passage)
      return { ...byWords.scoresOf(passage), ...(cosine === undefined ? {} : { meaning: cosine }) }
    },
    matched: byWords.matched,
  }
}

/**
 * Reciprocal rank fusion of the question's ranking with those of searches in other words; at most 1. The first passage of each
 * search comes before all others: fusion alone buries one that is first in a single ranking.
 */
export function fuseSearches(own: RankedPassages, others: readonly RankedPassages[]): RankedPassages {
  if (others.length === 0) return own
  const weighted = [{ ranked: own, weight: OWN_WEIGHT }, ...others.map((ranked) => ({ ranked, weight: 1 }))]
  const total = OWN_WEIGHT + others.length
  const scores = new Map<number, number>()
  for (const { ranked, weight } of weighted) {
    for (const [rank, passage] of ranked.order.entries()) {
      const share = (weight / total) * ((RANK_OFFSET_OF_SEARCHES + 1) / (RANK_OFFSET_OF_SEARCHES + 1 + rank))
      scores.set(passage, (scores.get(passage) ?? 0) + share)
    }
  }
  const scoreOf = (passage: number) => scores.get(passage) ?? 0
  const byScore = (one: number, other: number) => scoreOf(other) - scoreOf(one)
  const firsts = new Set(weighted.flatMap(({ ranked }) => ranked.order.slice(0, 1)))
  return {
    order: [...new Set([...[...firsts].sort(byScore), ...[...scores.keys()].sort(byScore)])],
    scoreOf,
    scoresOf: own.scoresOf,
    matched: Math.max(...weighted.map(({ ranked }) => ranked.matched)),
  }
}
