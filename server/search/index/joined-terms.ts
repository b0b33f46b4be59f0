/** Postings of several terms put together for one question: all words of a phrase, or any of several alternatives. */
import type { TermPostings } from './posting-lookup.ts'

/** Words of a phrase may have this many other words between them, all together. */
const MAX_WORDS_BETWEEN = 3

const NO_POSTINGS: TermPostings = { frequency: 0, eachPassage: () => undefined, eachPositions: () => undefined }

interface Held {
  readonly passages: number[]
  /** By passage. A typed array, since in a large library a map takes longer than the search itself. */
  readonly counts: Float64Array
}

/**
 * Passages that hold every term, near each other where the index has their positions (pairs of characters have none).
 *
 * @param size number of passages of the library, deleted ones included
 */
export function joinPhrase(size: number, terms: readonly TermPostings[]): TermPostings {
  const [rarest, ...others] = terms.toSorted((one, other) => one.frequency - other.frequency)
  if (!rarest) return NO_POSTINGS
  if (others.length === 0) return rarest
  let held = holding(size, rarest)
  for (const other of others) held = alsoHolding(size, held, other)
  const ofTerms = terms.map((term) => positionsOf(term, held))
  const positionsIn = new Map<number, readonly number[]>()
  const phrases: Held = { passages: [], counts: held.counts }
  for (const passage of held.passages) {
    const positions = ofTerms.map((ofTerm) => ofTerm.get(passage) ?? [])
    const isPlaced = positions.every((ofTerm) => ofTerm.length > 0)
    const found = isPlaced ? findPhrases(positions) : (positions.find((ofTerm) => ofTerm.length > 0) ?? [])
    if (isPlaced && found.length === 0) continue
    phrases.passages.push(passage)
    if (isPlaced) phrases.counts[passage] = found.length
    positionsIn.set(passage, found)
  }
  return {
    frequency: phrases.passages.length,
    eachPassage: (visit) => visitEach(phrases, visit),
    eachPositions(isWanted, visit) {
      for (const [passage, positions] of positionsIn) if (isWanted(passage)) visit(passage, positions)
    },
  }
}

function visitEach({ passages, counts }: Held, visit: (passage: number, count: number) => void): void {
  for (const passage of passages) visit(passage, counts[passage] ?? 0)
}

function holding(size: number, term: TermPostings): Held {
  const held: Held = { passages: [], counts: new Float64Array(size) }
  term.eachPassage((passage, count) => {
    held.passages.push(passage)
    held.counts[passage] = count
  })
  return held
}

function alsoHolding(size: number, held: Held, term: TermPostings): Held {
  const both: Held = { passages: [], counts: new Float64Array(size) }
  term.eachPassage((passage, count) => {
    const before = held.counts[passage] ?? 0
    if (before === 0) return
    both.passages.push(passage)
    both.counts[passage] = Math.min(before, count)
  })
  return both
}

function positionsOf(term: TermPostings, { counts, passages }: Held): Map<number, readonly number[]> {
  const positions = new Map<number, readonly number[]>()
  if (passages.length === 0) return positions
  const isWanted = (passage: number) => (counts[passage] ?? 0) > 0
  term.eachPositions(isWanted, (passage, list) => {
    const before = positions.get(passage)
    positions.set(passage, before ? [...before, ...list] : list)
  })
  return positions
}

/** @returns positions of the first term at which every other term is near. */
function findPhrases([first = [], ...others]: readonly (readonly number[])[]): number[] {
  const reach = others.length + MAX_WORDS_BETWEEN
  return first.filter((position) =>
    others.every((positions) => positions.some((other) => Math.abs(other - position) <= reach && other !== position)),
  )
}

/** @param terms of which no passage holds two, as the stems of a word in several languages */
export const joinApart = (terms: readonly TermPostings[]): TermPostings => ({
  frequency: terms.reduce((sum, { frequency }) => sum + frequency, 0),
  eachPassage(visit) {
    for (const term of terms) term.eachPassage(visit)
  },
  eachPositions(isWanted, visit) {
    for (const term of terms) term.eachPositions(isWanted, visit)
  },
})

export interface WeightedPostings {
  readonly postings: TermPostings
  readonly weight: number
}

/**
 * One term for all alternatives of a word, after Pirkola (1998): their counts are added, each by its weight, and rarity is
 * that of all of them together, so that a rare alternative does not outweigh the others.
 *
 * @param size number of passages of the library, deleted ones included
 * @param own postings of the word itself, whose passages its own term scores
 */
export function uniteAlternatives(
  size: number,
  alternatives: readonly WeightedPostings[],
  own: TermPostings = NO_POSTINGS,
): TermPostings {
  const isOwn = new Uint8Array(size)
  own.eachPassage((passage) => (isOwn[passage] = 1))
  const united: Held = { passages: [], counts: new Float64Array(size) }
  for (const { postings, weight } of alternatives) {
    postings.eachPassage((passage, count) => {
      if (isOwn[passage] === 1) return
      const before = united.counts[passage] ?? 0
      if (before === 0) united.passages.push(passage)
      united.counts[passage] = before + weight * count
    })
  }
  return {
    frequency: own.frequency + united.passages.length,
    eachPassage: (visit) => visitEach(united, visit),
    eachPositions(isWanted, visit) {
      const isHeld = (passage: number) => isOwn[passage] === 0 && isWanted(passage)
      for (const { postings } of alternatives) postings.eachPositions(isHeld, visit)
    },
  }
}
