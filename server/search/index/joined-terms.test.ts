import { expect, test } from 'vitest'
import { joinPhrase, uniteAlternatives } from './joined-terms.ts'
import type { TermPostings } from './posting-lookup.ts'

const SIZE = 10

/** @param positionsIn positions of the term by passage; a count of its own where it has none */
function termWith(positionsIn: Readonly<Record<number, readonly number[]>>, counts: Record<number, number> = {}) {
  const read: number[] = []
  const term: TermPostings = {
    frequency: Object.keys(positionsIn).length,
    eachChunk(visit) {
      const passages = Int32Array.from(Object.keys(positionsIn), Number)
      const found = Float64Array.from(passages, (passage) => counts[passage] ?? positionsIn[passage]?.length ?? 0)
      visit({ length: passages.length, passages, counts: found })
    },
    eachPositions(isWanted, visit) {
      for (const [passage, positions] of Object.entries(positionsIn))
        if (isWanted[Number(passage)] === 1) {
          read.push(Number(passage))
          visit(Number(passage), positions)
        }
    },
  }
  return { term, read }
}

function passagesOf(term: TermPostings): [passage: number, count: number][] {
  const found: [number, number][] = []
  term.eachChunk(({ length, passages, counts }) => {
    for (let index = 0; index < length; index += 1) found.push([passages[index] ?? 0, counts[index] ?? 0])
  })
  return found
}

function positionsOf(term: TermPostings, wanted: readonly number[]): [passage: number, positions: readonly number[]][] {
  const found: [number, readonly number[]][] = []
  const isWanted = new Uint8Array(SIZE)
  for (const passage of wanted) isWanted[passage] = 1
  term.eachPositions(isWanted, (passage, positions) => found.push([passage, positions]))
  return found
}

test('a phrase is where its words are near each other, or where the index has no positions of one', () => {
  const granny = termWith({ 1: [4], 2: [1], 3: [7, 30], 4: [] }, { 4: 2 }).term
  const flat = termWith({ 1: [5], 2: [40], 3: [9, 31], 4: [3], 5: [1] }, { 4: 1 }).term
  const phrase = joinPhrase(SIZE, [granny, flat])
  expect(passagesOf(phrase)).toEqual([
    [1, 1],
    [3, 2],
    [4, 1],
  ])
  expect(phrase.frequency).toBe(3)
  expect(positionsOf(phrase, [3, 5])).toEqual([[3, [7, 30]]])
})

test('a phrase of one word is that word, of which nothing is read', () => {
  const { term, read } = termWith({ 1: [4] })
  expect(joinPhrase(SIZE, [term])).toBe(term)
  expect(read).toEqual([])
  expect(joinPhrase(SIZE, []).frequency).toBe(0)
})

test('alternatives add up by their weights, without the passages of the word itself', () => {
  const own = termWith({ 2: [1] }).term
  const dwelling = termWith({ 1: [3], 2: [5], 6: [2, 8] })
  const unit = termWith({ 6: [9], 7: [1] })
  const united = uniteAlternatives(
    SIZE,
    [
      { postings: dwelling.term, weight: 1 },
      { postings: unit.term, weight: 0.5 },
    ],
    own,
  )
  expect(passagesOf(united)).toEqual([
    [1, 1],
    [6, 2.5],
    [7, 0.5],
  ])
  expect(united.frequency).toBe(4)
  expect([dwelling.read, unit.read]).toEqual([[], []])
  expect(positionsOf(united, [2, 6])).toEqual([
    [6, [2, 8]],
    [6, [9]],
  ])
  expect([dwelling.read, unit.read]).toEqual([[2, 6], [6]])
})
