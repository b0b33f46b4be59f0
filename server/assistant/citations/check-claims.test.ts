import { describe, expect, test } from 'vitest'
import { findUnverified } from './check-claims.ts'
import type { Passage } from './claims/evidence.ts'

const check = (answer: string, passages: Readonly<Record<number, string | Passage>>, question = '') =>
  findUnverified(answer, {
    numbers: new Set(Object.keys(passages).map(Number)),
    passageOf: (n) => {
      const passage = passages[n]
      return typeof passage === 'string' ? { text: passage } : passage
    },
    known: [question],
  })
const claims = (...given: Parameters<typeof check>) => check(...given).map(({ text }) => text)

const LEASE = `lease.pdf
The notice period is three months. The deposit is 1,500 EUR and was paid on 3 May 2024 by Angela Brown of Northwind Ltd.
Rent rose by 11.9 % to EUR 1.25 million. The keys are handed over at 10:30 a.m. in Hamburg. The flat measures 84.5 m².`

describe('figures that the passage holds in another form', () => {
  test.each([
    ['The notice period is 3 months [1].'],
    ['Die Frist beträgt drei Monate [1].'],
    ['Le préavis est de trois mois [1].'],
    ['予告期間は3か月です[1]。'],
    ['The deposit is €1500 [1].'],
    ['Die Kaution beträgt 1.500 Euro [1].'],
    ['La caution est de 1 500 € [1].'],
    ['It was paid on 2024-05-03 [1].'],
    ['Sie wurde am 3. Mai 2024 gezahlt [1].'],
    ['2024年5月3日に支払われた [1]。'],
    ['Paid on 03/05/2024 [1].'],
    ['Paid in May 2024 [1].'],
    ['Rent rose by about 12 % [1].'],
    ['Rent rose by 11,9 Prozent [1].'],
    ['Rent rose to 1,250,000 EUR [1].'],
    ['Die Miete stieg auf 1,25 Mio. Euro [1].'],
    ['The keys are handed over at 10.30 am [1].'],
    ['The keys are handed over at half past ten [1].'],
    ['The flat measures 84.5 square metres [1].'],
    ['The flat measures about 85 m² [1].'],
    ['It was paid by **Angela Brown** of Northwind [1].'],
    ['1. The notice period is three months [1].\n2. The deposit is 1,500 EUR [1].'],
  ])('%s', (answer) => {
    expect(claims(answer, { 1: LEASE })).toEqual([])
  })
})

describe('figures that the passage does not hold', () => {
  test.each([
    ['The notice period is four months [1].', 'four months'],
    ['The notice period is 3 weeks [1].', '3 weeks'],
    ['Die Frist beträgt vier Monate [1].', 'vier Monate'],
    ['The deposit is 1,600 EUR [1].', '1,600 EUR'],
    ['The deposit is 1,500 USD [1].', '1,500 USD'],
    ['It was paid on 4 May 2024 [1].', '4 May 2024'],
    ['It was paid on 3 May 2023 [1].', '3 May 2023'],
    ['Sie wurde am 3. Juni 2024 gezahlt [1].', '3. Juni 2024'],
    ['Rent rose by 12.9 % [1].', '12.9 %'],
    ['Rent rose to EUR 1.25 billion [1].', 'EUR 1.25 billion'],
    ['The keys are handed over at 11:30 [1].', '11:30'],
    ['It was paid by Angela Smith [1].', 'Smith'],
    ['The keys are handed over in Bremen [1].', 'Bremen'],
    ['The flat measures **85.4** m² [1].', '85.4** m²'],
  ])('%s', (answer, claim) => {
    expect(claims(answer, { 1: LEASE })).toEqual([claim])
  })
})
