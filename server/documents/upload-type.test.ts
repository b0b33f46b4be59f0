import { describe, expect, test } from 'vitest'
import { createByteSource } from '#server/parsing/containers/byte-source.ts'
import { readFaultFile } from '#test/fault-file.ts'
import { makeDoc } from '#test/make-doc.ts'
import { makeDocx, makeZip } from '#test/make-docx.ts'
import { makePdf } from '#test/make-pdf.ts'
import { makeWorkbook } from '#test/make-workbook.ts'
import { readDocument } from '#test/read-document.ts'
import { UPLOAD_TYPES } from '#contract/file-types.ts'
import { detectUploadType } from './upload-type.ts'

const detect = (bytes: Uint8Array, name: string) => detectUploadType(createByteSource(bytes), name)

describe('a text file is text by its bytes', () => {
  test.each([
    ...['PKW is the licence plate of the car.', 'BM 12 is the room.', 'GIF89a was the first format with motion.'],
    ...['Rar! said the tiger.', 'II* is a mark of TIFF.', 'MM is two thousand.', 'MZ 4711', '%!PS is how they begin.'],
    ...['%PDF-1.4 is a header.', 'A file that begins with %PDF- is a PDF.', 'ID3 tags', '{\\rtf1 is how RTF begins.}'],
    ...['7z and 7zip', 'RIFF, WAVE', 'OggS', '<?xml version="1.0"?><note/>', '<html><p>A page</p></html>', 'PK'],
  ])('%s', async (text) => expect(await detect(Buffer.from(text), 'a.txt')).toBe('text/plain'))

  test('also in other encodings', async () => {
    expect(await detect(Buffer.from('BM Gebühr für März', 'latin1'), 'a.txt')).toBe('text/plain')
    expect(await detect(Buffer.from('\ufeffPKW Zulassung', 'utf16le'), 'a.txt')).toBe('text/plain')
    const { pages } = await readDocument(readFaultFile('txt-begins-with-PKW.txt'), 'a.txt')
    expect(pages[0]?.text).toMatch(/^PKW/)
  })

  test('but files of other types keep their type, whatever their name', async () => {
    expect(await detect(makePdf(['A page']), 'a.txt')).toBe(UPLOAD_TYPES.pdf)
    expect(await detect(makeDocx([{ paragraph: 'Words' }]), 'a.txt')).toBe(UPLOAD_TYPES.docx)
    expect(await detect(Buffer.from('BM\x00\x01\x02\x03\x04\x05\x06', 'latin1'), 'a.bmp')).toBeUndefined()
  })
})

const picture = readFaultFile('scan-listing-upright.png')
const pieces = [{ text: 'A letter. '.repeat(500), isNarrow: true }]

describe('a damaged file has the type that its name claims', () => {
  test.each([
    ['a.docx', makeDocx([{ paragraph: 'Words. '.repeat(300) }])],
    ['a.xlsx', makeWorkbook([{ name: 'S', rows: [['a', 1]] }])],
    ['a.xls', makeWorkbook([{ name: 'S', rows: [['a', 1]] }], 'biff8')],
    ['a.doc', Buffer.from(makeDoc(pieces))],
    ['a.pdf', makePdf(['A page'])],
    ['a.png', picture],
  ])('%s', async (name, whole) => {
    const type = UPLOAD_TYPES[name.slice(2) as keyof typeof UPLOAD_TYPES]
    expect(await detect(whole, name)).toBe(type)
    const half = whole.subarray(0, Math.floor(whole.length / 2))
    const zeros = Buffer.alloc(4_000)
    const noise = Buffer.from(Array.from({ length: 4_000 }, (_, index) => (index * 197 + 13 * (index >> 3)) & 0xff))
    for (const broken of [half, zeros, noise]) {
      expect(await detect(broken, name)).toBe(type)
      expect((await readDocument(broken, name)).failure).toBe('damaged')
    }
  })

  test('but not what is whole and of another type', async () => {
    expect(await detect(makeZip([{ name: 'a.odt', bytes: Buffer.from('x') }]), 'a.docx')).toBeUndefined()
    expect(await detect(Buffer.from('Words alone'), 'a.pdf')).toBeUndefined()
    expect(await detect(Buffer.from('\x7fELF\x02\x01\x01\0\0\0', 'latin1'), 'a.pdf')).toBeUndefined()
  })
})
