import { describe, expect, test } from 'vitest'
import { findMisquotes } from './check-quotations.ts'

const SOURCES: Record<number, string> = {
  1: 'lease.pdf\nThe reading lamp burns until mid-\nnight. It was −5.5 °C; the ﬁrst warden — old Mr Finch —\nleft in 1987. She said “never again”.',
  2: '規則：灯は真夜中まで燃える。管理人が消す。',
}
const misquotes = (answer: string) => findMisquotes(answer, (n) => SOURCES[n])

describe('words that occur in the source', () => {
  test.each([
    ['"The reading lamp burns until midnight" [1].'],
    ['“the reading LAMP burns until midnight.” [1]'],
    ['„The reading lamp“ burns [1].'],
    ['« The first warden, old Mr Finch » left [1].'],
    ['»the first warden - old Mr Finch« [1]'],
    ['「灯は真夜中まで燃える」[2]。'],
    ['It says “The reading lamp … left in 1987” [1].'],
    ['It says “The [old] lamp burns” [1].'],
    ['As [1] has it, "it was −5.5 °C".'],
    ['In "lease.pdf" [1] nothing else is said.'],
    ['> The reading lamp burns until midnight. [1]'],
    ['> The reading lamp\n> burns until midnight.\n>\n> — the lease [1]'],
    ['> The **reading** lamp\n\n— lease [1]'],
    ['- "The reading lamp" [1]\n- "管理人が消す" [2]'],
    ['Both say so: "never again" [2][1].'],
  ])('%s', (answer) => {
    expect(misquotes(answer)).toEqual([])
  })
})

describe('words that do not occur in the source', () => {
  test.each([
    ['"The reading lamp burns all night" [1].', ['The reading lamp burns all night']],
    ['“The lamp burns\nall night” [1].', ['The lamp burns all night']],
    ['"It was 5.5 °C" [2].', ['It was 5.5 °C']],
    ['"55 °C" [1]', ['55 °C']],
    ['"never a" [1]', ['never a']],
    ['"The read" [1]', ['The read']],
    ['「灯は朝まで燃える」[2]', ['灯は朝まで燃える']],
    ['“left in 1987 … The reading lamp” [1]', ['left in 1987 … The reading lamp']],
    ['> The lamp never burns. [1]', ['The lamp never burns. [1]']],
    ['> The lamp never burns.\n\n(lease, p. 3) [1]', ['The lamp never burns.']],
    ['- "The reading lamp" [1]\n- "The writing lamp" [1]', ['The writing lamp']],
    ['According to [1], "the lamp is out".', ['the lamp is out']],
    ['"never again" [2]', ['never again']],
  ])('%s', (answer, expected) => {
    expect(misquotes(answer)).toEqual(expected)
  })
})

describe('words that are not attributed to a source', () => {
  test.each([
    ['They call this "scare quotes". The lamp burns until midnight [1].'],
    ['The lamp burns until midnight [1]. People call this "late".'],
    ['A screen of 5" and one of 7" [1].'],
    ['`{"name": "lamp"}` is how it is written [1].'],
    ['```\n"lamp out" [1]\n```'],
    ['"The web page that is known in part" [7].'],
  ])('%s', (answer) => {
    expect(misquotes(answer)).toEqual([])
  })
})

test('pages of a long document are sources of quotations, and a year in brackets is none', () => {
  const textOf = (n: number) => (n === 1120 ? 'The lamp is lit.' : n === 1 ? 'It rains.' : undefined)
  const numbers = new Set([1, 1120])
  expect(findMisquotes('“The lamp is lit” [1120]. “The lamp is out” [1120].', textOf, numbers)).toEqual([
    'The lamp is out',
  ])
  expect(findMisquotes('They wrote “it snows” [2023] [1], “it pours” in [2023], says [1].', textOf, numbers)).toEqual([
    'it snows',
    'it pours',
  ])
})
