import type { LibraryIndex } from '#server/search/index/library-index.ts'
import type { SimilarPassage } from '#server/search/vectors/vector-store.ts'
import type { RankedPassages } from './rank-passages.ts'

/** A larger value reduces the advantage of the first ranks. */
const RANK_OFFSET = 60

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
