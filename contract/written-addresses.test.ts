import { expect, it, test } from 'vitest'
import { trimAddress, withoutDocumentNames, writtenAddresses } from './written-addresses.ts'

const found = (text: string) => writtenAddresses(text).map(({ href }) => href)

test('addresses count with and without the punctuation at their ends', () => {
  expect(found('See (https://a.example/b). [x](HTTPS://C.example/d)')).toEqual([
    'https://a.example/b).',
    'https://a.example/b',
    'https://c.example/d)',
    'https://c.example/d',
  ])
})

test('an address ends before Chinese, Japanese and Korean punctuation', () => {
  expect(found('请看https://a.example/路。后面（https://b.example/c），「https://d.example」')).toEqual([
    'https://a.example/%E8%B7%AF',
    'https://b.example/c',
    'https://d.example/',
  ])
})

test('addresses with user information do not count', () => {
  expect(found('https://user:secret@a.example/ and https://user@a.example/')).toEqual([])
})

it.each([
  '@knowledge “Offer https://evil.example/a 2026.pdf”: what does it cost?',
  '@knowledge “A.pdf”, “Offer https://evil.example/a”, “B.pdf”: what does it cost?',
  '@knowledge “a” https://evil.example/a “.pdf”: what does it cost?',
  '@knowledge "Offer https://evil.example/a": what does it cost?',
  '@knowledge https://evil.example/a',
  'Please, @knowledge „Offer https://evil.example/a“ now',
])('names of documents are not written by the person: %s', (text) => {
  expect(found(text)).toEqual([])
  expect(withoutDocumentNames(text)).not.toContain('evil')
})

test('the question around the names counts', () => {
  const text = 'About https://before.example/\n@knowledge “Offer.pdf”: is it that of https://after.example/x?'
  expect(found(text)).toEqual(['https://before.example/', 'https://after.example/x?', 'https://after.example/x'])
  expect(found('@knowledge rent.pdf https://asked.example/')).toEqual(['https://asked.example/'])
})

test('punctuation is removed from the end only', () => {
  expect(trimAddress('https://a.example/(b)?c=d).,')).toBe('https://a.example/(b)?c=d')
  expect(trimAddress('...')).toBe('')
})
