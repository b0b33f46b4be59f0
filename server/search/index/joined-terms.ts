/** Postings of several terms put together for one question: all words of a phrase, or any of several alternatives. */
import type { TermPostings } from './posting-lookup.ts'

/** Words of a phrase may have this many other words between them, all together. */
const MAX_WORDS_BETWEEN = 3

const NO_POSTINGS: TermPostings = { frequency: 0, eachPassage: () => undefined, eachPositions: () => undefined }

interface Held {
  readonly passages: readonly number[]
  /** In their order. */
  readonly counts: readonly number[]
}

/** By passage, all 0 between two uses. A map of many passages takes longer than the search itself; nothing here waits. */
let shared = new Float64Array()

/** @param size number of passages of the library, deleted ones included */
function withCounts<Result>(size: number, { passages, counts }: Held, use: (countOf: Float64Array) => Result): Result {
  if (shared.length < size) shared = new Float64Array(size)
  const countOf = shared
  try {
    for (const [index, passage] of passages.entries()) countOf[passage] = counts[index] ?? 0
    return use(countOf)
  } finally {
    for (const passage of passages) countOf[passage] = 0
  }
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
  let held = holding(rarest)
  for (const other of others) held = withCounts(size, held, (countOf) => alsoHolding(countOf, other))
  const ofTerms = withCounts(size, held, (countOf) => terms.map((term) => positionsOf(term, countOf)))
  const positionsIn = new Map<number, readonly number[]>()
  const counts: number[] = []
  for (const [index, passage] of held.passages.entries()) {
    const positions = ofTerms.map((ofTerm) => ofTerm.get(passage) ?? [])
    const isPlaced = positions.every((ofTerm) => ofTerm.length > 0)
    const found = isPlaced ? findPhrases(positions) : (positions.find((ofTerm) => ofTerm.length > 0) ?? [])
    if (isPlaced && found.length === 0) continue
    positionsIn.set(passage, found)
    counts.push(isPlaced ? found.length : (held.counts[index] ?? 0))
  }
  const phrases: Held = { passages: [...positionsIn.keys()], counts }
  return {
    frequency: phrases.passages.length,
    eachPassage: (visit) => visitEach(phrases, visit),
    eachPositions(isWanted, visit) {
      for (const [passage, positions] of positionsIn) if (isWanted(passage)) visit(passage, positions)
    },
  }
}

function visitEach({ passages, counts }: Held, visit: (passage: number, count: number) => void): void {
  for (const [index, passage] of passages.entries()) visit(passage, counts[index] ?? 0)
}

function holding(term: TermPostings): Held {
  const [passages, counts]: [number[], number[]] = [[], []]
  term.eachPassage((passage, count) => {
    passages.push(passage)
    counts.push(count)
  })
  return { passages, counts }
}

/** @param countOf of the passages that hold the terms before, by passage */
function alsoHolding(countOf: Float64Array, term: TermPostings): Held {
  const [passages, counts]: [number[], number[]] = [[], []]
  term.eachPassage((passage, count) => {
    const before = countOf[passage] ?? 0
    if (before === 0) return
    passages.push(passage)
    counts.push(Math.min(before, count))
  })
  return { passages, counts }
}

/** @param countOf above 0 for the passages that are wanted */
function positionsOf(term: TermPostings, countOf: Float64Array): Map<number, readonly number[]> {
  const positions = new Map<number, readonly number[]>()
  const isWanted = (passage: number) => (countOf[passage] ?? 0) > 0
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
  const united = addUp(size, alternatives, isOwn)
  const isUnited = new Uint8Array(size)
  for (const passage of united.passages) isUnited[passage] = 1
  return {
    frequency: own.frequency + united.passages.length,
    eachPassage: (visit) => visitEach(united, visit),
    eachPositions(isWanted, visit) {
      const isHeld = (passage: number) => isUnited[passage] === 1 && isWanted(passage)
      for (const { postings } of alternatives) postings.eachPositions(isHeld, visit)
    },
  }
}

function addUp(size: number, alternatives: readonly WeightedPostings[], isOwn: Uint8Array): Held {
  const passages: number[] = []
  // Passages that are added meanwhile are cleared, too.
  return withCounts(size, { passages, counts: [] }, (countOf) => {
    for (const { postings, weight } of alternatives) {
      postings.eachPassage((passage, count) => {
        if (isOwn[passage] === 1) return
        const before = countOf[passage] ?? 0
        if (before === 0) passages.push(passage)
        countOf[passage] = before + weight * count
      })
    }
    return { passages, counts: passages.map((passage) => countOf[passage] ?? 0) }
  })
}
