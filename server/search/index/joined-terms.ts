/** Postings of several terms put together for one question: all words of a phrase, or any of several alternatives. */
import { markPassages, type PassageChunk, type TermPostings } from './posting-lookup.ts'

/** Words of a phrase may have this many other words between them, all together. */
const MAX_WORDS_BETWEEN = 3

const NO_POSTINGS: TermPostings = { frequency: 0, eachChunk: () => undefined, eachPositions: () => undefined }

/** Postings collected one by one. */
interface Held {
  readonly passages: number[]
  /** In their order. */
  readonly counts: number[]
}

const toChunk = ({ passages, counts }: Held): PassageChunk => ({
  length: passages.length,
  passages: Int32Array.from(passages),
  counts: Float64Array.from(counts),
})

/** By passage, all 0 between two uses. A map of many passages takes longer than the search itself; nothing here waits. */
let shared = new Float64Array()

/** @param size number of passages of the library, deleted ones included */
function withCounts<Result>(size: number, { passages, counts }: Held, use: (countOf: Float64Array) => Result): Result {
  if (shared.length < size) shared = new Float64Array(size)
  const countOf = shared
  try {
    for (let index = 0; index < passages.length; index += 1) countOf[passages[index] ?? 0] = counts[index] ?? 0
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
  const isHeld = markPassages(size, held.passages)
  const ofTerms = terms.map((term) => positionsOf(term, isHeld))
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
  const phrases = toChunk({ passages: [...positionsIn.keys()], counts })
  return {
    frequency: phrases.length,
    eachChunk: (visit) => visit(phrases),
    eachPositions(isWanted, visit) {
      for (const [passage, positions] of positionsIn) if (isWanted[passage] === 1) visit(passage, positions)
    },
  }
}

function holding(term: TermPostings): Held {
  const held: Held = { passages: [], counts: [] }
  term.eachChunk(({ length, passages, counts }) => {
    for (let index = 0; index < length; index += 1) {
      held.passages.push(passages[index] ?? 0)
      held.counts.push(counts[index] ?? 0)
    }
  })
  return held
}

/** @param countOf of the passages that hold the terms before, by passage */
function alsoHolding(countOf: Float64Array, term: TermPostings): Held {
  const held: Held = { passages: [], counts: [] }
  term.eachChunk(({ length, passages, counts }) => {
    for (let index = 0; index < length; index += 1) {
      const passage = passages[index] ?? 0
      const before = countOf[passage] ?? 0
      if (before === 0) continue
      held.passages.push(passage)
      held.counts.push(Math.min(before, counts[index] ?? 0))
    }
  })
  return held
}

function positionsOf(term: TermPostings, isWanted: Uint8Array): Map<number, readonly number[]> {
  const positions = new Map<number, readonly number[]>()
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
  eachChunk(visit) {
    for (const term of terms) term.eachChunk(visit)
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
  own.eachChunk(({ length, passages }) => {
    for (let index = 0; index < length; index += 1) isOwn[passages[index] ?? 0] = 1
  })
  const held = addUp(size, alternatives, isOwn)
  const isUnited = markPassages(size, held.passages)
  const united = toChunk(held)
  return {
    frequency: own.frequency + united.length,
    eachChunk: (visit) => visit(united),
    eachPositions(isWanted, visit) {
      for (const { postings } of alternatives)
        postings.eachPositions(isWanted, (passage, positions) => {
          if (isUnited[passage] === 1) visit(passage, positions)
        })
    },
  }
}

function addUp(size: number, alternatives: readonly WeightedPostings[], isOwn: Uint8Array): Held {
  const united: number[] = []
  // Passages that are added meanwhile are cleared, too.
  return withCounts(size, { passages: united, counts: [] }, (countOf) => {
    for (const { postings, weight } of alternatives) {
      postings.eachChunk(({ length, passages, counts }) => {
        for (let index = 0; index < length; index += 1) {
          const passage = passages[index] ?? 0
          if (isOwn[passage] === 1) continue
          const before = countOf[passage] ?? 0
          if (before === 0) united.push(passage)
          countOf[passage] = before + weight * (counts[index] ?? 0)
        }
      })
    }
    return { passages: united, counts: united.map((passage) => countOf[passage] ?? 0) }
  })
}
