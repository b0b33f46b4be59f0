/** Percentage of the best score: scores have no unit. Null for a whole document, which was not searched for. */
export function relevancePercent(score: number, sources: readonly { score: number }[]): number | null {
  const best = Math.max(...sources.map((source) => source.score))
  if (!(best > 0) || !(score > 0)) return null
  return Math.round(Math.min(1, score / best) * 100)
}
