import iconv from 'iconv-lite'
import { expect, test } from 'vitest'
import { decodeText } from './decode-text.ts'

test.each([
  'Café',
  'naïve',
  'Señor Núñez',
  'Grüße aus Köln',
  'déjà vu',
  'Où êtes-vous né ?',
  'Preis: 25 €, Büro',
  '½ Liter Milch',
  'Ærø, færge 14:30',
  'It’s “fine” – really',
])('a few words in windows-1252 are read as they were written: %s', async (text) => {
  expect(await decodeText(iconv.encode(text, 'windows-1252'))).toBe(text)
})

test.each([
  ['windows-1251', 'Привет'],
  ['windows-1253', 'Καλημέρα'],
  ['cp866', 'Привет'],
  ['koi8-r', 'Привет'],
  ['gb18030', '会议在 Berlin'],
  ['shift_jis', '東京'],
  ['big5', '你好'],
  ['cp949', '안녕하세요'],
  ['windows-1254', 'İstanbul güneş'],
  ['windows-1250', 'Jan Novák, Plzeň'],
])('and a few words in %s still are: %s', async (encoding, text) => {
  expect(await decodeText(iconv.encode(text, encoding))).toBe(text)
})

test('a file in UTF-8 that was cut off inside a character keeps its encoding', async () => {
  const text = 'Grüße aus dem Süden, und noch ein Maß. '.repeat(3)
  expect(await decodeText(Buffer.from(`${text}ß`).subarray(0, -1))).toBe(`${text}\ufffd`)
})
