import type { LibraryIndex } from '#server/search/index/library-index.ts'
import { markPassages } from '#server/search/index/posting-lookup.ts'
import { idf, K1, type PostingsByTerm, saturation } from './bm25.ts'

/** Pairs of words within this distance add to the score, by the inverse square of the distance. */
const MAX_DISTANCE_WORDS = 8
const PROXIMITY_WEIGHT = 0.3

/** The proximity score of each candidate (Büttcher et al., 2006). */
export function scoreProximity(
  library: LibraryIndex,
  terms: Iterable<string>,
  postings: PostingsByTerm,
  candidates: readonly number[],
): Map<number, number> {
  const distinct = [...terms]
  const occurrences = findOccurrences(library, distinct, { postings, candidates })
  const idfs = new Map(distinct.map((term) => [term, idf(library, postings.get(term)?.frequency ?? 0)]))
  const idfOf = (term: string) => idfs.get(term) ?? 0
  return new Map(
    candidates.map((passage) => {
      const inOrder = (occurrences.get(passage) ?? []).sort((one, other) => one.position - other.position)
      const accumulated = new Map<string, number>()
      const add = (term: string, value: number) => accumulated.set(term, (accumulated.get(term) ?? 0) + value)
      for (const [index, { term, position }] of inOrder.entries()) {
        for (let before = index - 1; before >= 0; before -= 1) {
          const other = inOrder[before]
          if (!other || position - other.position > MAX_DISTANCE_WORDS) break
          if (other.term === term || other.position === position) continue
          const closeness = 1 / (position - other.position) ** 2
          add(term, idfOf(other.term) * closeness)
          add(other.term, idfOf(term) * closeness)
        }
      }
      let sum = 0
      for (const [term, value] of accumulated) {
        sum += (Math.min(1, idfOf(term)) * value * (K1 + 1)) / (value + saturation(library, passage))
      }
      return [passage, PROXIMITY_WEIGHT * sum]
    }),
  )
}

interface Occurrence {
  readonly term: string
  readonly position: number
}

function findOccurrences(
  library: LibraryIndex,
  terms: Iterable<string>,
  { postings, candidates }: { readonly postings: PostingsByTerm; readonly candidates: readonly number[] },
): Map<number, Occurrence[]> {
  const occurrences = new Map<number, Occurrence[]>()
  const isCandidate = markPassages(library.lengths.length, candidates)
  for (const term of terms) {
    const ofTerm = postings.get(term)
    if (!ofTerm) continue
    ofTerm.eachPositions(isCandidate, (passage, positions) => {
      const known = occurrences.get(passage) ?? []
      for (const position of positions) known.push({ term, position })
      occurrences.set(passage, known)
    })
  }
  return occurrences
}
