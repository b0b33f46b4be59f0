/** Scores passages by the words that they share with a question. Pure: what it reads has been read before. */
import { eachPassage, eachPlace, type Library, type TermPostings } from '#server/search/index/posting-lookup.ts'

/** Okapi BM25 (Robertson and Zaragoza, 2009): how soon further occurrences stop counting, and how much length does. */
const K1 = 1.2
const B = 0.65

/** Words this close to each other add to the score, less with the square of their distance (Büttcher et al., 2006). */
const NEAR_WORDS = 8
const NEARNESS_WEIGHT = 0.3

export type Weights = ReadonlyMap<string, number>
export type Found = ReadonlyMap<string, TermPostings>

/** How rare a term is: 0 where every passage holds it. */
export const rarity = (library: Library, frequency: number): number =>
  Math.log(1 + (Math.max(library.passages - frequency, 0) + 0.5) / (frequency + 0.5))

const saturation = (library: Library, passage: number): number =>
  K1 * (1 - B + (B * (library.lengths[passage] ?? 0)) / library.averageLength)

/** BM25 of every passage of the library; 0 where it shares no word. */
export function scoreWords(library: Library, weights: Weights, found: Found): Float64Array {
  const { lengths } = library
  const scores = new Float64Array(lengths.length)
  const [perPassage, perWord] = [K1 * (1 - B), (K1 * B) / library.averageLength]
  for (const [term, weight] of weights) {
    const postings = found.get(term)
    if (!postings) continue
    const factor = weight * rarity(library, postings.frequency) * (K1 + 1)
    eachPassage(postings, (passage, count) => {
      const score = (factor * count) / (count + perPassage + perWord * (lengths[passage] ?? 0))
      scores[passage] = (scores[passage] ?? 0) + score
    })
  }
  return scores
}

export function countScored(scores: Float64Array): number {
  let count = 0
  for (let passage = 0; passage < scores.length; passage += 1) if ((scores[passage] ?? 0) > 0) count += 1
  return count
}

/** The best passages, best first; equals in their order. */
export function bestPassages(
  scores: Float64Array,
  limit: number,
  isAllowed: (passage: number) => boolean = () => true,
): number[] {
  const best: number[] = []
  const scoreAt = (index: number) => scores[best[index] ?? 0] ?? 0
  let least = 0
  // An iterator over a large library would take longer than the search.
  for (let passage = 0; passage < scores.length; passage += 1) {
    const score = scores[passage] ?? 0
    if (score <= least || !isAllowed(passage)) continue
    let [low, high] = [0, best.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (scoreAt(middle) >= score) low = middle + 1
      else high = middle
    }
    best.splice(low, 0, passage)
    if (best.length > limit) best.pop()
    if (best.length === limit) least = scoreAt(limit - 1)
  }
  return best
}

/** What is to be added to the score of each candidate because words of the question stand near each other in it. */
export function scoreNearness(
  library: Library,
  terms: Iterable<string>,
  found: Found,
  candidates: readonly number[],
): Map<number, number> {
  const asked = [...terms]
  const places = gatherPlaces(library, asked, found, candidates)
  const rarities = new Map(asked.map((term) => [term, rarity(library, found.get(term)?.frequency ?? 0)]))
  const rarityOf = (term: string) => rarities.get(term) ?? 0
  return new Map(
    candidates.map((passage) => {
      const inOrder = (places.get(passage) ?? []).sort((one, other) => one.position - other.position)
      const gathered = new Map<string, number>()
      const add = (term: string, value: number) => gathered.set(term, (gathered.get(term) ?? 0) + value)
      for (const [index, { term, position }] of inOrder.entries()) {
        for (let before = index - 1; before >= 0; before -= 1) {
          const other = inOrder[before]
          if (!other || position - other.position > NEAR_WORDS) break
          if (other.term === term || other.position === position) continue
          const closeness = 1 / (position - other.position) ** 2
          add(term, rarityOf(other.term) * closeness)
          add(other.term, rarityOf(term) * closeness)
        }
      }
      let sum = 0
      for (const [term, value] of gathered) {
        sum += (Math.min(1, rarityOf(term)) * value * (K1 + 1)) / (value + saturation(library, passage))
      }
      return [passage, NEARNESS_WEIGHT * sum]
    }),
  )
}

interface Place {
  readonly term: string
  readonly position: number
}

function gatherPlaces(
  library: Library,
  terms: Iterable<string>,
  found: Found,
  candidates: readonly number[],
): Map<number, Place[]> {
  const places = new Map<number, Place[]>()
  // Asked for every passage that holds a term: a set would take longer to answer.
  const isCandidate = new Uint8Array(library.lengths.length)
  for (const passage of candidates) isCandidate[passage] = 1
  for (const term of terms) {
    const postings = found.get(term)
    if (!postings) continue
    eachPlace(
      postings,
      (passage) => isCandidate[passage] === 1,
      (passage, positions) => {
        const known = places.get(passage) ?? []
        for (const position of positions) known.push({ term, position })
        places.set(passage, known)
      },
    )
  }
  return places
}
