/** Letters and digits in lower-case NFKC. */
export const wordsOf = (text: string): string[] =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll('\u00ad', '')
    .match(/[\p{L}\p{N}]+/gu) ?? []

/** Harmonic mean of precision and recall over the words as a multiset. */
export function wordF1(ours: readonly string[], reference: readonly string[]): number {
  const counts = new Map<string, number>()
  for (const word of reference) counts.set(word, (counts.get(word) ?? 0) + 1)
  let shared = 0
  for (const word of ours) {
    const left = counts.get(word) ?? 0
    if (left > 0) shared += 1
    counts.set(word, left - 1)
  }
  return ours.length + reference.length === 0 ? 1 : (2 * shared) / (ours.length + reference.length)
}

const MOST_WORDS = 6_000

/** Longest common subsequence over the mean length. Compares only the beginning of long texts. */
export function orderScore(ours: readonly string[], reference: readonly string[]): number {
  const [one, other] = [ours.slice(0, MOST_WORDS), reference.slice(0, MOST_WORDS)]
  if (one.length + other.length === 0) return 1
  let previous = new Uint16Array(other.length + 1)
  for (const word of one) {
    const row = new Uint16Array(other.length + 1)
    for (let at = 1; at <= other.length; at += 1)
      row[at] = word === other[at - 1] ? (previous[at - 1] ?? 0) + 1 : Math.max(previous[at] ?? 0, row[at - 1] ?? 0)
    previous = row
  }
  return (2 * (previous.at(-1) ?? 0)) / (one.length + other.length)
}
