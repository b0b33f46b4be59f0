/**
 * A score of the retrieval as a share of the best one among the sources of the same answer, 0 to 100. The scores have no
 * unit of their own; only their order and their distance mean something. Null where no search was made: a whole document was read.
 */
export function relevancePercent(score: number, sources: readonly { score: number }[]): number | null {
  const best = Math.max(...sources.map((source) => source.score))
  if (!(best > 0) || !(score > 0)) return null
  return Math.round(Math.min(1, score / best) * 100)
}
