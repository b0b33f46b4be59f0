import { deflateRawSync } from 'node:zlib'
import iconv from 'iconv-lite'
import { expect, test } from 'vitest'
import { decodeText } from './decode-text.ts'
import { looksLikeText } from './looks-like-text.ts'

const RUSSIAN = 'Привет, как дела? Это письмо о лампе. '.repeat(5)
const GREEK = 'Καλημέρα κόσμε, τι κάνεις; '.repeat(5)
const JAPANESE = '東京は日本の首都です。'.repeat(20)

test.each([
  ['windows-1252', 'Grüße aus Köln'],
  ['windows-1251', RUSSIAN],
  ['koi8-r', RUSSIAN],
  ['cp866', RUSSIAN],
  ['windows-1253', GREEK],
  ['shift_jis', JAPANESE],
  ['euc-jp', JAPANESE],
  ['gb18030', '会议在 Berlin, 明天下午三点开始。'],
  ['big5', '你好'],
  ['utf-16le', 'The lamp is trimmed at dusk.'],
  ['utf-16be', 'The lamp is trimmed at dusk.'],
  ['utf-16le', RUSSIAN],
  ['utf-16be', GREEK],
])('text in %s is text, and read as it was written', async (encoding, text) => {
  const bytes = iconv.encode(text, encoding)
  expect(looksLikeText(bytes)).toBe(true)
  expect(await decodeText(bytes)).toBe(text)
})

test.each(['utf-8', 'windows-1252'])(
  'a text in %s keeps its encoding where a few NUL bytes are in it',
  async (encoding) => {
    const text = 'A note from Köln\0 with two\0 zero bytes in it, and more words around them.'
    const bytes = iconv.encode(text, encoding)
    expect(looksLikeText(bytes)).toBe(true)
    expect(await decodeText(bytes)).toBe(text.replaceAll('\0', ''))
  },
)

test('a text that is filled up with NUL bytes loses only those', async () => {
  const bytes = Buffer.concat([Buffer.from('Grüße\n'), Buffer.alloc(4096)])
  expect(looksLikeText(bytes)).toBe(true)
  expect(await decodeText(bytes)).toBe('Grüße\n')
})

const compressed = deflateRawSync(Buffer.from(Array.from({ length: 5000 }, (_, index) => `${index * index}`).join(' ')))
const numbers = Buffer.alloc(4000)
for (let index = 0; index < 1000; index += 1) numbers.writeUInt32LE(index * 7, index * 4)

test.each([
  ['compressed bytes', compressed],
  ['binary numbers', numbers],
  ['a program', Buffer.from('7f454c4602010100000000000000000003003e0001000000c0160000', 'hex')],
])('%s are no text', async (_, bytes) => {
  expect(looksLikeText(bytes)).toBe(false)
  expect(await decodeText(bytes)).toBeUndefined()
})
