/** Postings of several terms put together for one question: all words of a phrase, or any of several alternatives. */
import { eachPassage, eachPositions, type ListedPassage, type TermPostings } from './posting-lookup.ts'

/** Words of a phrase may have this many other words between them, all together. */
const MAX_WORDS_BETWEEN = 3

/** Passages that hold every term, near each other where the index has their positions (pairs of characters have none). */
export function listPhrase(terms: readonly TermPostings[]): ReadonlyMap<number, ListedPassage> {
  const [rarest, ...others] = terms.toSorted((one, other) => one.frequency - other.frequency)
  if (!rarest) return new Map<number, ListedPassage>()
  let counts = countsOf(rarest)
  for (const other of others) {
    const held = new Map<number, number>()
    eachPassage(other, (passage, count) => {
      const before = counts.get(passage)
      if (before !== undefined) held.set(passage, Math.min(before, count))
    })
    counts = held
  }
  const positions = terms.map((term) => positionsOf(term, counts))
  const phrases = new Map<number, ListedPassage>()
  for (const [passage, count] of counts) {
    const ofTerms = positions.map((ofTerm) => ofTerm.get(passage) ?? [])
    if (ofTerms.some((ofTerm) => ofTerm.length === 0)) {
      phrases.set(passage, { count, positions: ofTerms.find((ofTerm) => ofTerm.length > 0) ?? [] })
      continue
    }
    const found = findPhrases(ofTerms)
    if (found.length > 0) phrases.set(passage, { count: found.length, positions: found })
  }
  return phrases
}

function countsOf(term: TermPostings): Map<number, number> {
  const counts = new Map<number, number>()
  eachPassage(term, (passage, count) => counts.set(passage, count))
  return counts
}

function positionsOf(term: TermPostings, wanted: ReadonlyMap<number, unknown>): Map<number, readonly number[]> {
  const positions = new Map<number, readonly number[]>()
  eachPositions(
    term,
    (passage) => wanted.has(passage),
    (passage, list) => positions.set(passage, [...(positions.get(passage) ?? []), ...list]),
  )
  return positions
}

/** @returns positions of the first term at which every other term is near. */
function findPhrases([first = [], ...others]: readonly (readonly number[])[]): number[] {
  const reach = others.length + MAX_WORDS_BETWEEN
  return first.filter((position) =>
    others.every((positions) => positions.some((other) => Math.abs(other - position) <= reach && other !== position)),
  )
}

export interface WeightedPassages {
  readonly passages: ReadonlyMap<number, ListedPassage>
  readonly weight: number
}

/**
 * One term for all alternatives of a word, after Pirkola (1998): their counts are added, each by its weight, and rarity is
 * that of all of them together, so that a rare alternative does not outweigh the others.
 *
 * @param own passages of the word itself, which its own term scores
 */
export function uniteAlternatives(
  alternatives: readonly WeightedPassages[],
  own: ReadonlyMap<number, unknown>,
): TermPostings {
  const united = new Map<number, ListedPassage>()
  const held = new Set(own.keys())
  for (const { passages, weight } of alternatives) {
    for (const [passage, { count, positions }] of passages) {
      held.add(passage)
      if (own.has(passage)) continue
      const before = united.get(passage)
      united.set(passage, {
        count: (before?.count ?? 0) + weight * count,
        positions: before ? [...before.positions, ...positions] : positions,
      })
    }
  }
  return { parts: [], frequency: held.size, listed: united }
}
