/**
 * A score of the retrieval as a share of the best one among the sources of the same answer, 0 to 100. The scores have no
 * unit of their own; only their order and their distance mean something.
 */
export function relevancePercent(score: number, sources: readonly { score: number }[]): number {
  const best = Math.max(...sources.map((source) => source.score))
  if (!(best > 0) || !Number.isFinite(score)) return 0
  return Math.round(Math.min(1, Math.max(0, score / best)) * 100)
}
