import iconv from 'iconv-lite'
import { expect, test } from 'vitest'
import { makeOldDoc, type OldDoc } from '#test/make-old-doc.ts'
import { readDocument } from '#test/read-document.ts'
import { readWordBinary } from './binary-format.ts'

const [WESTERN, SYMBOL, JAPANESE, RUSSIAN] = [0, 2, 128, 204]
const western = (text: string) => ({ bytes: iconv.encode(text, 'windows-1252') })
const russian = (text: string) => ({ bytes: iconv.encode(text, 'windows-1251') })
const bodyOf = (doc: OldDoc) => readWordBinary(makeOldDoc(doc)).body

test('letters are read in the code page of their font', () => {
  const runs = [
    { ...western('Café, '), font: 0 },
    { ...russian('Москва, '), font: 1 },
    { bytes: iconv.encode('東京へ', 'shift_jis'), font: 2 },
    { ...western(', naïve.\r'), font: 0 },
  ]
  expect(bodyOf({ runs, fonts: [WESTERN, RUSSIAN, JAPANESE] })).toBe('Café, Москва, 東京へ, naïve.\n')
})

test('text whose style says the font is read as most of the others', () => {
  const runs = [{ ...russian('Компания '), font: 1 }, russian('предлагает вина.\r')]
  expect(bodyOf({ runs, fonts: [WESTERN, RUSSIAN] })).toBe('Компания предлагает вина.\n')
})

test('without any other it is read as the first font', () => {
  expect(bodyOf({ runs: [russian('Прайс-лист')], fonts: [RUSSIAN, SYMBOL] })).toBe('Прайс-лист')
  expect(bodyOf({ runs: [western('Préface')], fonts: [SYMBOL] })).toBe('Préface')
})

test('a document of the Macintosh is read in its letters', () => {
  expect(bodyOf({ runs: [{ bytes: iconv.encode('cherché', 'macroman') }], isMacintosh: true })).toBe('cherché')
})

test('pieces are joined in the order of the document, without what was deleted', () => {
  const runs = [western('The price is '), { ...western('ten '), isDeleted: true }, western('twelve euros.')]
  expect(bodyOf({ runs, isInPieces: true })).toBe('The price is twelve euros.')
  expect(readWordBinary(makeOldDoc({ runs }), { keepsDeleted: true }).body).toBe('The price is ten twelve euros.')
})

test('rows of a table are lines, fields what they show', async () => {
  const runs = [
    western('Rooms\r'),
    western('Room\x07'),
    { ...western('Rent\r'), isInCell: true },
    { ...western('per month\x07'), isInCell: true },
    { ...western('\x07'), endsRow: true },
    western('Blue\x07\x13=2*260\x14520\x15\x07'),
    { ...western('\x07'), endsRow: true },
  ]
  const { pages, failure } = await readDocument(makeOldDoc({ runs, headers: 'City of Bergen\r' }), 'a.doc')
  expect([failure, pages.map(({ text }) => text)]).toEqual([
    undefined,
    ['Rooms\n\nRoom | Rent per month\nBlue | 520\n\nCity of Bergen'],
  ])
})

test('without its table of pieces it is damaged', async () => {
  const bytes = makeOldDoc({ runs: [western('Words.')], isInPieces: true })
  const at = Buffer.from(bytes).indexOf(Buffer.from([2, 16, 0, 0, 0]))
  bytes[at] = 9
  expect(await readDocument(bytes, 'a.doc')).toMatchObject({ failure: 'damaged' })
})
