import { expect, test } from 'vitest'
import { compoundFiles } from '#server/parsing/containers/compound-file.ts'
import { LISTED, LISTED_TOO, makeDoc, makeDocWith } from '#test/make-doc.ts'
import { readDocument } from '#test/read-document.ts'
import { readWordBinary } from './binary-format.ts'

const bodyOf = (...pieces: Parameters<typeof makeDoc>[0]) => readWordBinary(makeDoc(pieces)).body

test('joins pieces in document order, for any order and width in the file', () => {
  expect(bodyOf({ text: 'Первая часть, ' }, { text: 'caf\x93, ', isNarrow: true }, { text: 'дальше\r' })).toBe(
    'Первая часть, caf“, дальше\n',
  )
})

test('omits text deleted under revision', () => {
  expect(bodyOf({ text: 'The price is ' }, { text: 'ten ', isDeleted: true }, { text: 'twelve euros.' })).toBe(
    'The price is twelve euros.',
  )
})

test('includes text deleted under revision on request', () => {
  const bytes = makeDoc([{ text: 'The price is ' }, { text: 'ten ', isDeleted: true }, { text: 'twelve euros.' }])
  expect(readWordBinary(bytes, { keepsDeleted: true }).body).toBe('The price is ten twelve euros.')
})

test('omits hidden text, but keeps field and paragraph borders inside it', () => {
  const pieces = [
    { text: 'See \u0013 REF b ' },
    { text: '\u0014seven\u0015. And\r secret', isHidden: true },
    { text: ' go on.' },
  ]
  expect(bodyOf(...pieces)).toBe('See \n go on.')
  expect(readWordBinary(makeDoc(pieces), { keepsDeleted: true }).body).toBe('See seven. And\n secret go on.')
})

test('marks paragraphs with heading styles on request', () => {
  const bytes = makeDoc([{ text: 'Terms\r', style: LISTED }, { text: 'plain\r' }, { text: 'Notice\r', style: 9 }])
  expect(readWordBinary(bytes, { marksHeadings: true }).body).toBe('\ufdd11. Terms\nplain\n\ufdd9Notice\n')
})

test('reads inserted Symbol characters and text typed in Symbol', () => {
  expect(
    bodyOf(
      { text: 'At 90' },
      { text: '(', sign: 0xf0b0, isNarrow: true },
      { text: ' (or less) ' },
      { text: '\uf06c', isInSymbol: true },
      { text: ' is below ' },
      { text: '(', sign: 0xf06d },
      { text: '.' },
    ),
  ).toBe('At 90° (or less) λ is below μ.')
})

test('removes soft hyphens and keeps hard ones', () => {
  expect(bodyOf({ text: 'иссле\u001fдование, E\u001eMail' })).toBe('исследование, E\u2011Mail')
})

test('writes the results of fields, not their instructions', () => {
  const inner = '\u0013 REF b \u0014seven\u0015'
  expect(bodyOf({ text: `See \u0013 HYPERLINK "x" ${inner} \u0014page ${inner}\u0015.` })).toBe('See page seven.')
})

test('computes list and heading numbers, and writes no bullets', () => {
  const body = bodyOf(
    { text: 'Terms\r', style: LISTED },
    { text: 'Rent\r', level: 1 },
    { text: 'Deposit\r', level: 1, isNarrow: true },
    { text: 'in cash\r', level: 2 },
    { text: 'by bank\r', level: 2 },
    { text: 'gone\r', level: 2, isDeleted: true },
    { text: 'no number\r', level: 3 },
    { text: 'plain\r' },
    { text: 'Notice\r', style: LISTED_TOO },
    { text: 'In writing\r', level: 1 },
  )
  expect(body.split('\n')).toEqual([
    '1. Terms',
    '1.1 Rent',
    '1.2 Deposit',
    '(a) in cash',
    '(b) by bank',
    'no number',
    'plain',
    '2. Notice',
    '2.1 In writing',
    '',
  ])
})

test('keeps the text if the list tables are broken', () => {
  const bytes = makeDoc([{ text: 'Terms\r', style: LISTED }])
  const at = Buffer.from(bytes).indexOf(Buffer.from([1, 0, 0, 0, 77, 0, 0, 0]))
  bytes.fill(0xff, at, at + 4)
  expect(readWordBinary(bytes).body).toBe('Terms\n')
})

test('is read as a document', async () => {
  const { pages, failure } = await readDocument(makeDoc([{ text: 'Notice is given in writing.\r' }]), 'a.doc')
  expect([failure, pages.map(({ text }) => text)]).toEqual([undefined, ['Notice is given in writing.']])
})

test('writes comments and headers once, after the text, without page numbers', async () => {
  const bytes = makeDocWith({
    body: [{ text: 'Notice is given in writing.\r' }],
    headers: '\u0003\r\u0004\rActs of the Ministry\rPage 1 of 3\rNotice is given in writing.\rActs of the Ministry\r',
    comments: '\u0005By registered post?\r',
  })
  const { pages, failure } = await readDocument(bytes, 'a.doc')
  expect([failure, pages.map(({ text }) => text)]).toEqual([
    undefined,
    ['Notice is given in writing.\n\nBy registered post?\n\nActs of the Ministry'],
  ])
})

test('reports a missing piece table as damaged', async () => {
  const bytes = makeDoc([{ text: 'Words.' }])
  const at = Buffer.from(bytes).indexOf(Buffer.from([2, 16, 0, 0, 0]))
  bytes[at] = 9
  expect(await readDocument(bytes, 'a.doc')).toMatchObject({ failure: 'damaged' })
})

test('detects a password by the header, in documents of any length', async () => {
  const header = Buffer.alloc(1_536)
  header.writeUInt16LE(0xa5ec, 0)
  header.writeUInt16LE(0x0100, 0x0a)
  const { utils, write } = compoundFiles
  const file = utils.cfb_new()
  utils.cfb_add(file, '/WordDocument', header)
  const bytes = Uint8Array.from(write(file, { type: 'array' }))
  expect(await readDocument(bytes, 'a.doc')).toEqual({ pages: [], failure: 'encrypted' })
})
