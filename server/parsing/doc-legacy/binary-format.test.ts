import { expect, test } from 'vitest'
import { compoundFiles } from '#server/parsing/containers/compound-file.ts'
import { LISTED, LISTED_TOO, makeDoc, makeDocWith, makeDropdown, makeTextField } from '#test/make-doc.ts'
import { readDocument } from '#test/read-document.ts'
import { readWordBinary } from './binary-format.ts'

const bodyOf = (...pieces: Parameters<typeof makeDoc>[0]) => readWordBinary(makeDoc(pieces)).body

test('joins pieces in the order of the document, whatever their order and width in the file', () => {
  expect(bodyOf({ text: 'Первая часть, ' }, { text: 'caf\x93, ', isNarrow: true }, { text: 'дальше\r' })).toBe(
    'Первая часть, caf“, дальше\n',
  )
})

test('leaves out what was deleted under revision', () => {
  expect(bodyOf({ text: 'The price is ' }, { text: 'ten ', isDeleted: true }, { text: 'twelve euros.' })).toBe(
    'The price is twelve euros.',
  )
})

test('keeps what was deleted under revision where that is asked for', () => {
  const bytes = makeDoc([{ text: 'The price is ' }, { text: 'ten ', isDeleted: true }, { text: 'twelve euros.' }])
  expect(readWordBinary(bytes, { keepsDeleted: true }).body).toBe('The price is ten twelve euros.')
})

test('leaves out what is hidden, but not the borders of fields and paragraphs in it', () => {
  const pieces = [
    { text: 'See \u0013 REF b ' },
    { text: '\u0014seven\u0015. And\r secret', isHidden: true },
    { text: ' go on.' },
  ]
  expect(bodyOf(...pieces)).toBe('See \n go on.')
  expect(readWordBinary(makeDoc(pieces), { keepsDeleted: true }).body).toBe('See seven. And\n secret go on.')
})

test('marks paragraphs in the styles of headings where that is asked for', () => {
  const bytes = makeDoc([{ text: 'Terms\r', style: LISTED }, { text: 'plain\r' }, { text: 'Notice\r', style: 9 }])
  expect(readWordBinary(bytes, { marksHeadings: true }).body).toBe('\ufdd11. Terms\nplain\n\ufdd9Notice\n')
})

test('reads signs of the font Symbol, whether put in one by one or typed in it', () => {
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

test('takes soft hyphens out of words and keeps hard ones', () => {
  expect(bodyOf({ text: 'иссле\u001fдование, E\u001eMail' })).toBe('исследование, E\u2011Mail')
})

test('shows what fields show, not how they are made', () => {
  const inner = '\u0013 REF b \u0014seven\u0015'
  expect(bodyOf({ text: `See \u0013 HYPERLINK "x" ${inner} \u0014page ${inner}\u0015.` })).toBe('See page seven.')
})

test('writes the chosen entry of a form field, which is not in the text, and its default where none was chosen', () => {
  const entries = ['Freehold', 'Leasehold']
  const field = (name: string, form: Buffer, rest = '') => [
    { text: `\u0013 ${name} ` },
    { text: '\u0001', form },
    { text: `${rest}\u0015` },
  ]
  const body = bodyOf(
    { text: 'Tenure: ' },
    ...field('FORMDROPDOWN', makeDropdown({ entries, chosen: 1 })),
    { text: '. Before: ' },
    ...field('FORMDROPDOWN', makeDropdown({ entries, chosen: 25 }), '\u0014'),
    { text: '. Name: ' },
    ...field('FORMTEXT', makeTextField('Ann'), '\u0014'),
    { text: '. Filled: ' },
    ...field('FORMTEXT', makeTextField('Ann'), '\u0014Bob'),
    { text: '.' },
  )
  expect(body).toBe('Tenure: Leasehold. Before: Freehold. Name: Ann. Filled: Bob.')
})

test.each([
  ['cut off', makeDropdown({ entries: ['Freehold'], chosen: 0 }).subarray(0, 20)],
  ['without the chosen entry', makeDropdown({ entries: ['Freehold'], chosen: 9 })],
  ['no data of a form', Buffer.alloc(200)],
])('form data that are %s cost the value only', (_, form) => {
  expect(bodyOf({ text: 'Tenure: \u0013 FORMDROPDOWN ' }, { text: '\u0001', form }, { text: '\u0015.' })).toBe(
    'Tenure: .',
  )
})

test('writes the numbers of lists and headings, which the file leaves to be counted, and no bullets', () => {
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

const LONG =
  'On the first day the tenant pays the deposit to the landlord, who keeps it apart from all other money of the house.'
const cellOf = (text: string) => ({ text: `${text}\u0007`, inTable: 'cell' as const })
const lineOf = (text: string, style = 0) => ({ text: `${text}\r`, inTable: 'cell' as const, style })
const ROW_END = { text: '\u0007', inTable: 'row' as const }

test('the short lines of a cell are one, so that a row stays a row', async () => {
  const bytes = makeDoc([
    ...[cellOf('Month'), lineOf('Firm'), lineOf(''), cellOf('(MMBtu/d)')],
    ...[lineOf('Rent'), lineOf('due', 9), cellOf('per\vmonth'), ROW_END],
    ...[cellOf('October'), cellOf('20,948'), cellOf('31,100'), ROW_END],
    ...[lineOf(LONG), cellOf('It bears interest.'), ROW_END],
  ])
  const { pages } = await readDocument(bytes, 'a.doc')
  expect(pages.map(({ text }) => text)).toEqual([
    `Month | Firm (MMBtu/d) | Rent due per month\nOctober | 20,948 | 31,100\n\n${LONG}\n\nIt bears interest.`,
  ])
})

test('the lines of a cell with a long paragraph stay apart, so that headings are no part of paragraphs', async () => {
  const bytes = makeDoc([
    ...[lineOf('For tenants'), lineOf('Deposit', 9), lineOf('Paid at once.'), lineOf(LONG)],
    ...[lineOf('It bears interest.'), cellOf('It is paid back.'), ROW_END],
  ])
  const { pages } = await readDocument(bytes, 'a.doc')
  const blocks = pages.flatMap(({ text, blocks = [] }) =>
    blocks.map(({ kind, start, end }) => [kind, text.slice(start, end)]),
  )
  expect(blocks).toEqual([
    ['paragraph', 'For tenants'],
    ['heading', 'Deposit'],
    ['paragraph', 'Paid at once.'],
    ['paragraph', LONG],
    ['paragraph', 'It bears interest.'],
    ['table', 'It is paid back.'],
  ])
})

test('a paragraph in several pieces is as long as they are together', () => {
  const inCell = { inTable: 'cell' as const }
  const pieces = [{ text: LONG, ...inCell }, lineOf(' It bears interest.'), cellOf('It is paid back.'), ROW_END]
  expect(bodyOf(...pieces)).toBe(`${LONG} It bears interest.\nIt is paid back.\t\n`)
})

test('with broken tables of lists keeps its text', () => {
  const bytes = makeDoc([{ text: 'Terms\r', style: LISTED }])
  const at = Buffer.from(bytes).indexOf(Buffer.from([1, 0, 0, 0, 77, 0, 0, 0]))
  bytes.fill(0xff, at, at + 4)
  expect(readWordBinary(bytes).body).toBe('Terms\n')
})

test('is read as a document', async () => {
  const { pages, failure } = await readDocument(makeDoc([{ text: 'Notice is given in writing.\r' }]), 'a.doc')
  expect([failure, pages.map(({ text }) => text)]).toEqual([undefined, ['Notice is given in writing.']])
})

test('says what its comments and headers say once, behind the text, and no page numbers', async () => {
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

test('without its table of pieces it is damaged', async () => {
  const bytes = makeDoc([{ text: 'Words.' }])
  const at = Buffer.from(bytes).indexOf(Buffer.from([2, 16, 0, 0, 0]))
  bytes[at] = 9
  expect(await readDocument(bytes, 'a.doc')).toMatchObject({ failure: 'damaged' })
})

test('a document with a password is told by its header, however short it is', async () => {
  const header = Buffer.alloc(1_536)
  header.writeUInt16LE(0xa5ec, 0)
  header.writeUInt16LE(0x0100, 0x0a)
  const { utils, write } = compoundFiles
  const file = utils.cfb_new()
  utils.cfb_add(file, '/WordDocument', header)
  const bytes = Uint8Array.from(write(file, { type: 'array' }))
  expect(await readDocument(bytes, 'a.doc')).toEqual({ pages: [], failure: 'encrypted' })
})
