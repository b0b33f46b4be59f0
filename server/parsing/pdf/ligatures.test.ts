import { expect, test } from 'vitest'
import { readDocument } from '#test/read-document.ts'
import { writePdf } from '#test/write-pdf.ts'
import { reorderLigatures } from './ligatures.ts'
import type { TextItem } from './lines.ts'

const item = (str: string): TextItem => ({
  str,
  transform: [10, 0, 0, 10, 50, 700],
  width: 50,
  height: 10,
  hasEOL: false,
  fontName: 'plain',
})

/** Glyphs in visual order, from left to right; letters in one string are one glyph. */
const read = (strings: readonly string[], glyphs: string) =>
  reorderLigatures(strings.map(item), glyphs.split(' ')).map(({ str }) => str)

test('orders lam and alef of one glyph', () => {
  expect(read(['إلدارة'], 'ة ر ا د لإ')).toEqual(['لإدارة'])
})

test('keeps alef and lam of two glyphs, also in a word with equal letters', () => {
  expect(read(['مثال', 'مثال'], 'ل ا ث م لا ث م')).toEqual(['مثال', 'مثلا'])
})

test('counts letters among numbers, blanks and left-to-right words', () => {
  expect(read(['سنة 2024 إلدارة Python للمشكالت'], 'ت لا ك ش م ل ل P y t h o n ة ر ا د لإ 2 0 2 4 ة ن س')).toEqual([
    'سنة 2024 لإدارة Python للمشكلات',
  ])
})

test('leaves undrawn text unchanged and continues after it', () => {
  expect(read(['غريب', 'المشكالت'], 'ت لا ك ش م ل ا')).toEqual(['غريب', 'المشكلات'])
  expect(read(['المشكالت'], 'ر خ ا ت لا ك ش م ل ا')).toEqual(['المشكلات'])
})

test('leaves a file with reversed ligature letters unchanged', () => {
  expect(read(['لإدارة'], 'ة ر ا د إل')).toEqual(['لإدارة'])
})

test('reads a pdf with a lam-alef glyph in reading order', async () => {
  const letters = ['ة', 'ر', 'ا', 'د', 'لإ']
  const hex = (text: string) => Buffer.from(text, 'utf16le').swap16().toString('hex')
  const mapped = letters.map((letter, index) => `<${(65 + index).toString(16)}> <${hex(letter)}>`)
  const map = `/CIDInit /ProcSet findresource begin begincmap
1 begincodespacerange <00> <ff> endcodespacerange
${mapped.length} beginbfchar
${mapped.join('\n')}
endbfchar endcmap end`
  const pdf = writePdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F 5 0 R >> >> /Contents 4 0 R >>',
    { entries: '', stream: Buffer.from('BT /F 12 Tf 300 700 Td (ABCDE) Tj ET') },
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /ToUnicode 6 0 R >>',
    { entries: '', stream: Buffer.from(map) },
  ])
  const { pages } = await readDocument(pdf, 'ligature.pdf')
  expect(pages.map(({ text }) => text)).toEqual(['لإدارة'])
})
