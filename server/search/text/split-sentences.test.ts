import { expect, test } from 'vitest'
import { splitSentences } from './split-sentences.ts'

const PAGE = `The gap is especially large when k is
small (e.g., 78.4% vs. 59.1% for top-20 accuracy). Dr. A. Lee dis-
agrees. Results follow.

A new paragraph about lamps`

const sentencesIn = (text: string) => splitSentences(text).map(({ start, end }) => text.slice(start, end))

test('keeps sentences whole over line breaks, abbreviations and initials', () => {
  expect(sentencesIn(PAGE)).toEqual([
    'The gap is especially large when k is\nsmall (e.g., 78.4% vs. 59.1% for top-20 accuracy).',
    'Dr. A. Lee dis-\nagrees.',
    'Results follow.',
    'A new paragraph about lamps',
  ])
})

test('keeps the number of a day, a section or a point with what it counts', () => {
  expect(
    sentencesIn(
      'Das Spiel ist am Samstag, 1. Februar, in der Halle. Im 3. Quartal steigt der Umsatz um 12. Danach nicht.',
    ),
  ).toEqual([
    'Das Spiel ist am Samstag, 1. Februar, in der Halle.',
    'Im 3. Quartal steigt der Umsatz um 12. Danach nicht.',
  ])
  expect(sentencesIn('2. The tenant pays. 3. The rent is 1,250. It rose in 1995. It fell by 3.5. Later not.')).toEqual([
    '2. The tenant pays.',
    '3. The rent is 1,250.',
    'It rose in 1995.',
    'It fell by 3.5.',
    'Later not.',
  ])
})

test('leaves a footnote number with its sentence', () => {
  expect(
    sentencesIn('The term ends on 31 March 2027.[1] It goes on, see [2].[3][4]\nNew line. As said [5]. End.[6]'),
  ).toEqual([
    'The term ends on 31 March 2027.[1]',
    'It goes on, see [2].[3][4]',
    'New line.',
    'As said [5].',
    'End.[6]',
  ])
})

test('treats each line of separated values as a sentence', () => {
  expect(
    sentencesIn('name;city;start\nAnna Berg;Oslo;2015\nBruno Costa;Berlin;2016\n\nApples; pears; plums.\nNo row.'),
  ).toEqual(['name;city;start', 'Anna Berg;Oslo;2015', 'Bruno Costa;Berlin;2016', 'Apples; pears; plums.', 'No row.'])
})

test('cuts overlong text', () => {
  expect(sentencesIn('word '.repeat(400)).every((sentence) => sentence.length <= 600)).toBe(true)
})

test('cuts overlong text, but never inside a character', () => {
  const text = `a${'𠮷'.repeat(1_000)}`
  const pieces = sentencesIn(text)
  expect(pieces.join('')).toBe(text)
  expect(pieces.length).toBeGreaterThan(2)
  expect(pieces.every((piece) => piece.isWellFormed())).toBe(true)
})
