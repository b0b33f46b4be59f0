import { expect, test } from 'vitest'
import { parseMediaType } from './media-type.ts'

test.each([
  ['image/png', 'image/png', undefined],
  ['IMAGE/PNG', 'image/png', undefined],
  ['text/plain;charset=UTF-8', 'text/plain', 'UTF-8'],
  ['text/plain ; format=flowed; Charset="utf-8"', 'text/plain', 'utf-8'],
  ['video/mp4; codecs="avc1.42E01E, mp4a.40.2"', 'video/mp4', undefined],
  ['image/svg+xml', 'image/svg+xml', undefined],
])('%s is one media type', (text, type, charset) => expect(parseMediaType(text)).toEqual({ type, charset }))

test.each([
  undefined,
  '',
  'image',
  'image/',
  '/png',
  'image/png/x',
  'application/pdf;, text/html',
  'application/pdf, text/html',
  'application/pdf,text/html',
  'application/pdf; text/html',
  'application/pdf;',
  'application/pdf text/html',
  'application/pdf\ttext/html',
  'application/pdf\r\ntext/html',
  'application/pdf\0',
  ' application/pdf',
  'application/pdf; a="b", text/html; c="d"',
  'application/pdf; a="b\\", text/html; c="d"',
  'application/pdf; a="b',
  'text/plain; charset=utf-8, text/html',
  'text/hтml',
  `text/plain; a=${'b'.repeat(300)}`,
])('%j is none', (text) => expect(parseMediaType(text)).toBeUndefined())

test('a long text without a media type is read in linear time', () => {
  const attempts = [';a=b'.repeat(60), '; '.repeat(120), ';a="'.repeat(60)].map((rest) => `text/plain${rest}\0`)
  for (const text of attempts) expect(parseMediaType(text)).toBeUndefined()
})
