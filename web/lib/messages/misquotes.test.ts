import { expect, test } from 'vitest'
import { isMisquotedBlock, splitMisquotes } from './misquotes.ts'

const marked = (text: string, misquotes: string[]) =>
  splitMisquotes(text, misquotes)
    .map((piece) => (piece.isMisquote ? `{${piece.text}}` : piece.text))
    .join('')

test.each([
  ['It says “the lamp\nis out” [1].', ['the lamp is out'], 'It says “{the lamp\nis out}” [1].'],
  ['The lamp is out, "the lamp" [1].', ['the lamp'], 'The lamp is out, "{the lamp}" [1].'],
  ['« the lamp » and „so on“', ['the lamp', 'so on'], '« {the lamp} » and „{so on}“'],
  ['"a (b) [c]? $5"', ['a (b) [c]? $5'], '"{a (b) [c]? $5}"'],
  ['"the lamp is out"', ['the lamp', 'the lamp is out'], '"{the lamp is out}"'],
  ['the lamp', ['the lamp'], 'the lamp'],
])('marks the words of %s', (text, misquotes, expected) => {
  expect(marked(text, misquotes)).toBe(expected)
})

test('recognizes a misquoted block', () => {
  expect(isMisquotedBlock('The lamp\nis out. [1]', ['The lamp is out. [1]'])).toBe(true)
  expect(isMisquotedBlock('The lamp', ['The lamp is out. [1]'])).toBe(false)
})
