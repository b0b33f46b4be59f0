import { expect, test } from 'vitest'
import { makeDoc } from '#test/make-doc.ts'
import { readDocument } from '#test/read-document.ts'
import { readWordBinary } from './word-binary.ts'

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

test('takes soft hyphens out of words and keeps hard ones', () => {
  expect(bodyOf({ text: 'иссле\u001fдование, E\u001eMail' })).toBe('исследование, E\u2011Mail')
})

test('shows what fields show, not how they are made', () => {
  const inner = '\u0013 REF b \u0014seven\u0015'
  expect(bodyOf({ text: `See \u0013 HYPERLINK "x" ${inner} \u0014page ${inner}\u0015.` })).toBe('See page seven.')
})

test('is read as a document', async () => {
  const { pages, failure } = await readDocument(makeDoc([{ text: 'Notice is given in writing.\r' }]), 'a.doc')
  expect([failure, pages.map(({ text }) => text)]).toEqual([undefined, ['Notice is given in writing.']])
})

test('without its table of pieces it is damaged', async () => {
  const bytes = makeDoc([{ text: 'Words.' }])
  const at = Buffer.from(bytes).indexOf(Buffer.from([2, 16, 0, 0, 0]))
  bytes[at] = 9
  expect(await readDocument(bytes, 'a.doc')).toMatchObject({ failure: 'damaged' })
})
