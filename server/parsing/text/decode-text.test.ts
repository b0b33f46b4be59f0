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

const ENGLISH = 'The keeper trims the lamp at dusk and writes the hour into the book. '

test.each([
  ['windows-1252', 'Müller, 25 € and a café'],
  ['windows-1252', 'only ½ of it'],
  ['windows-1251', 'от Привет до Москва'],
  ['koi8-r', 'сегодня вечером'],
  ['gb18030', '北京大学'],
  ['shift_jis', '東京タワー'],
])('letters in %s are read where English goes before and after: %s', async (encoding, words) => {
  for (const before of [10, 2_000]) {
    const text = `${ENGLISH.repeat(before)}${words} ${ENGLISH.repeat(10)}`
    expect(await decodeText(iconv.encode(text, encoding))).toBe(text)
  }
})

test.each([
  ['at the beginning', 0],
  ['after a long stretch of ASCII', 2_000],
])('a broken byte costs a text in UTF-8 that byte alone: %s', async (_, before) => {
  const [start, rest] = [ENGLISH.repeat(before), 'Grüße aus Köln, Düsseldorf und München. Привет!']
  const bytes = Buffer.concat([Buffer.from(`${start}Se`), Buffer.from([0xf1]), Buffer.from(`or: ${rest}`)])
  expect(await decodeText(bytes)).toBe(`${start}Se\ufffdor: ${rest}`)
})

test('the first letter may follow megabytes without a blank', async () => {
  const text = `${'x'.repeat(4_000_000)} Grüße aus dem Süden`
  expect(await decodeText(iconv.encode(text, 'windows-1252'))).toBe(text)
})
