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

test('a short year is in the century that people mean', () => {
  expect(claims('The season ended in 1999 [1].', { 1: 'season.txt\nThe season 1998-99 was a good one.' })).toEqual([])
  expect(claims('The season ended in 2099 [1].', { 1: 'season.txt\nThe season 1998-99 was a good one.' })).toEqual([
    '2099',
  ])
})

const REPORT = `report.pdf
The plant made 1,200 pumps in 2021 and 1,500 in 2022. Fees are 25 EUR a month. It was 5 km from Ulm; the temperature was -5 °C.
| Region | Sales (EUR million) |
| North | 12.4 |
Third parties pay 40 EUR. § 7 The board has seven directors: Anna Holm, Peter Brandt and others. Call 030 1234567.`

describe('figures that are derived from the passage', () => {
  test.each([
    ['In total, 2,700 pumps were made [1].'],
    ['Production rose by 300 pumps, from 1,200 to 1,500 [1].'],
    ['Production rose from 1,200 to 1,500, an increase of 25 % [1].'],
    ['The fees are 25 EUR a month, that is 300 EUR a year [1].'],
    ['Ulm is 5,000 m away (about 3.1 miles) [1].'],
    ['Sales in the north were 12.4 million euros [1].'],
    ['There are two figures [1]:\n- 1,200 pumps [1]\n- 1,500 pumps [1]'],
    ['If it had dropped by 300 pumps, from 1,500 to 1,200 [1].'],
    ['Three months cost three times 25 EUR, that is 75 EUR [1].'],
    ['The seven directors pay 25 EUR each (175 EUR) [1].'],
    ['Two years are compared: 2021 and 2022 [1].'],
    ['Call +49 30 1234567 [1].'],
  ])('%s', (answer) => {
    expect(claims(answer, { 1: REPORT })).toEqual([])
  })

  test.each([
    ['In total, 2,800 pumps were made [1].', '2,800'],
    ['Production rose by 400 pumps, from 1,200 to 1,500 [1].', '400'],
    ['Sales in the north were 12.4 billion euros [1].', '12.4 billion euros'],
    ['It was 5 °C [1].', '5 °C'],
    ['It was 5 miles from Ulm [1].', '5 miles'],
    ['The fee is due after 7 days [1].', '7 days'],
    ['The board has five directors [1].', 'five'],
    ['Call +49 30 1234568 [1].', '+49 30 1234568'],
    ['The seven directors pay 25 EUR each (185 EUR) [1].', '185 EUR'],
  ])('%s', (answer, claim) => {
    expect(claims(answer, { 1: REPORT })).toEqual([claim])
  })
})

describe('the passages that a sentence is compared with', () => {
  const passages = { 1: 'The rent is 700 EUR.', 2: 'The deposit is 900 EUR.', 3: { text: 'Nothing.', page: 12 } }

  test.each([
    ['The rent is 700 EUR [1]. The deposit is 900 EUR [2].', []],
    ['The rent is 900 EUR [1]. The deposit is 900 EUR [2].', ['900 EUR']],
    ['The rent is 700 EUR. [1] The deposit is 900 EUR. [2]', []],
    ['The rent is 700 EUR and the deposit 900 EUR. Both are due [1][2].', []],
    ['The rent is 800 EUR. It is due at once [1].', ['800 EUR']],
    ['The sums are [1] [2]:\n\n- rent 700 EUR\n- deposit 950 EUR', ['950 EUR']],
    ['| What | EUR |\n| --- | --- |\n| Rent | 700 |\n| Deposit | 950 |\n\nSources: [1] [2]', ['950']],
    ['The rent is 800 EUR.\n\nThe rent is 700 EUR [1].', []],
    ['Nothing is said on page 12 [3].', []],
    ['Nothing is said on page 13 [3].', ['13']],
    ['See `800` and ```900``` [1].', []],
    ['1. First [1]\n2. Rent of 700 EUR [1]\n3. Nothing [1]', []],
  ])('%j', (answer, expected) => {
    expect(claims(answer, passages)).toEqual(expected)
  })

  test('a source of which only a part is known is not checked, nor what the question says', () => {
    const evidence = { numbers: new Set([1, 2]), passageOf: (n: number) => (n === 1 ? { text: 'Rent.' } : undefined) }
    expect(findUnverified('The rent is 700 EUR [1][2].', { ...evidence, known: [] })).toEqual([])
    expect(findUnverified('The rent is 700 EUR [1].', { ...evidence, known: ['Is the rent 700 EUR?'] })).toEqual([])
    expect(findUnverified('The rent is 700 EUR [1].', { ...evidence, known: [] })).toEqual([
      { start: 12, text: '700 EUR' },
    ])
  })
})

test('half of a name is in a passage of another language', () => {
  expect(claims('Im Vorstand ist Anna Holm [1].', { 1: REPORT })).toEqual([])
  expect(claims('Im Vorstand ist Anna Lund [1].', { 1: REPORT })).toEqual(['Lund'])
})

test('an amount in French may have its currency behind an apostrophe', () => {
  const budget = 'budget.pdf\nLe budget s’élève à 14,6 millions d’euros.'
  expect(claims('Le budget est de 14,6 M€ [1].', { 1: budget })).toEqual([])
  expect(claims('Le budget est de 14,8 M€ [1].', { 1: budget })).toEqual(['14,8 M€'])
})

describe('names', () => {
  const passages = {
    1: 'The European Union signed with Northwind Ltd. Its head is Angela Brown of the United States. Договор подписал Пётр Иванов в Москве.',
    2: 'Harald Lindqvist of Baltic Freight lives in Turku.',
    3: 'Der Vertrag mit der Siemens AG wurde von Herrn Vogler in Kiel gekündigt.',
  }

  test.each([
    ['The head is Ms Brown, an American working for the EU [1].', []],
    ['The USA and the EU are named [1].', []],
    ['The head is Harald Lindqvist [1].', ['Harald Lindqvist']],
    ['It was signed with Baltic Freight [1].', ['Baltic Freight']],
    ['Договор подписал Ивановым Петром Пётр [1].', []],
    ['**Notice Period:** it ends soon, says the Contract [1].', []],
    ['Der Vertrag wurde von Herrn Vogler mit einer Frist gegen die Gesellschaft beendet [3].', []],
    ['Der Vertrag wurde von Herrn Lindqvist gekündigt [3].', ['Lindqvist']],
    ['Die Kündigung betrifft das Unternehmen in der Stadt und dessen Geschäft mit der Siemens AG [3].', []],
  ])('%j', (answer, expected) => {
    expect(claims(answer, passages)).toEqual(expected)
  })
})
