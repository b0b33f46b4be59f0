import type { LibraryIndex } from '#server/search/index/library-index.ts'
import type { TermPostings } from '#server/search/index/posting-lookup.ts'

/** Okapi BM25 (Robertson and Zaragoza, 2009): term saturation and length normalisation. */
export const K1 = 1.2
const B = 0.65

export type Weights = ReadonlyMap<string, number>
export type PostingsByTerm = ReadonlyMap<string, TermPostings>

export const idf = (library: LibraryIndex, frequency: number): number =>
  Math.log(1 + (Math.max(library.passages - frequency, 0) + 0.5) / (frequency + 0.5))

export const saturation = (library: LibraryIndex, passage: number): number =>
  K1 * (1 - B + (B * (library.lengths[passage] ?? 0)) / library.averageLength)

export interface ScoredPassages {
  /** By passage; 0 where no term occurs. */
  readonly scores: Float64Array
  /** Number of passages with a score. */
  readonly matched: number
}

export function scoreBm25(library: LibraryIndex, weights: Weights, postings: PostingsByTerm): ScoredPassages {
  const { lengths } = library
  const scores = new Float64Array(lengths.length)
  // Counted by a sum: a branch on each score takes longer, because no processor can predict it.
  const isScored = new Uint8Array(lengths.length)
  const [perPassage, perWord] = [K1 * (1 - B), (K1 * B) / library.averageLength]
  for (const [term, weight] of weights) {
    const ofTerm = postings.get(term)
    if (!ofTerm || weight === 0) continue
    const factor = weight * idf(library, ofTerm.frequency) * (K1 + 1)
    ofTerm.eachChunk(({ length, passages, counts }) => {
      for (let index = 0; index < length; index += 1) {
        const passage = passages[index] ?? 0
        const count = counts[index] ?? 0
        const score = (factor * count) / (count + perPassage + perWord * (lengths[passage] ?? 0))
        scores[passage] = (scores[passage] ?? 0) + score
        isScored[passage] = 1
      }
    })
  }
  let matched = 0
  for (let passage = 0; passage < isScored.length; passage += 1) matched += isScored[passage] ?? 0
  return { scores, matched }
}

export function bestPassages(
  scores: Float64Array,
  limit: number,
  isAllowed: (passage: number) => boolean = () => true,
): number[] {
  const best: number[] = []
  const scoreAt = (index: number) => scores[best[index] ?? 0] ?? 0
  let lowest = 0
  // In a large library an iterator takes longer than the search itself.
  for (let passage = 0; passage < scores.length; passage += 1) {
    const score = scores[passage] ?? 0
    if (score <= lowest || !isAllowed(passage)) continue
    let [low, high] = [0, best.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (scoreAt(middle) >= score) low = middle + 1
      else high = middle
    }
    best.splice(low, 0, passage)
    if (best.length > limit) best.pop()
    if (best.length === limit) lowest = scoreAt(limit - 1)
  }
  return best
}
