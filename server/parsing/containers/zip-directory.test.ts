import { expect, test } from 'vitest'
import { makeDocx, makeZip } from '#test/make-docx.ts'
import { makeWorkbook } from '#test/make-workbook.ts'
import { readDocument } from '#test/read-document.ts'
import { createByteSource } from './byte-source.ts'
import { unpack } from './unpack.ts'
import { listZipEntries } from './zip-directory.ts'

const ZIP64_MARKER = 0xffffffff

/** Rewrites every size and offset as an 8-byte field (APPNOTE.TXT 4.5.3), as Java programs write large workbooks. */
function toZip64(zip: Buffer): Buffer {
  const end = zip.lastIndexOf('PK\x05\x06', undefined, 'latin1')
  const [count, start] = [zip.readUInt16LE(end + 10), zip.readUInt32LE(end + 16)]
  const entries: Buffer[] = []
  for (let at = start; at < end;) {
    const length = 46 + zip.readUInt16LE(at + 28)
    const entry = Buffer.from(zip.subarray(at, at + length))
    const extra = Buffer.alloc(8 + 28)
    extra.writeUInt16LE(0x5455, 0)
    extra.writeUInt16LE(4, 2)
    extra.writeUInt16LE(1, 8)
    extra.writeUInt16LE(24, 10)
    for (const [index, field] of [24, 20, 42].entries()) {
      extra.writeBigUInt64LE(BigInt(entry.readUInt32LE(field)), 12 + 8 * index)
      entry.writeUInt32LE(ZIP64_MARKER, field)
    }
    entry.writeUInt16LE(extra.length, 30)
    entries.push(entry, extra)
    at += length
  }
  const directory = Buffer.concat(entries)
  const wideEnd = Buffer.alloc(56)
  wideEnd.write('PK\x06\x06', 'latin1')
  for (const [field, value] of [
    [4, 44],
    [24, count],
    [32, count],
    [40, directory.length],
    [48, start],
  ] as const)
    wideEnd.writeBigUInt64LE(BigInt(value), field)
  const locator = Buffer.alloc(20)
  locator.write('PK\x06\x07', 'latin1')
  locator.writeBigUInt64LE(BigInt(start + directory.length), 8)
  const usualEnd = Buffer.from(zip.subarray(end))
  for (const field of [8, 10]) usualEnd.writeUInt16LE(0xffff, field)
  for (const field of [12, 16]) usualEnd.writeUInt32LE(ZIP64_MARKER, field)
  return Buffer.concat([zip.subarray(0, start), directory, wideEnd, locator, usualEnd])
}

test('a workbook whose sizes and places are in wide fields is read', async () => {
  const workbook = toZip64(makeWorkbook([{ name: 'Stock', rows: [['Lamps', 'Chairs']] }]))
  const { pages, failure } = await readDocument(workbook, 'a.xlsx')
  expect([failure, pages.map(({ text }) => text)]).toEqual([undefined, ['Stock\n\nLamps | Chairs']])
})

test('a file that says too little of its wide fields fails alone', async () => {
  const workbook = toZip64(makeWorkbook([{ name: 'Stock', rows: [['Lamps']] }]))
  for (
    let at = workbook.indexOf('\x01\x00\x18\x00', 0, 'latin1');
    at >= 0;
    at = workbook.indexOf('\x01\x00\x18\x00', at, 'latin1')
  )
    workbook.writeUInt16LE(2, at)
  expect(await readDocument(workbook, 'a.xlsx')).toEqual({ pages: [], failure: 'too_large' })
})

async function withBackslashes(zip: Buffer): Promise<Buffer> {
  const entries = (await listZipEntries(createByteSource(zip))) ?? []
  return makeZip(
    entries.map((entry) => ({
      name:
        entry.name.toLowerCase() === '[content_types].xml' ? '[content_types].xml' : entry.name.replaceAll('/', '\\'),
      bytes: Buffer.from(unpack(zip, entry)),
    })),
  )
}

test('names whose folders end in backslashes are read as others are', async () => {
  const workbook = await withBackslashes(makeWorkbook([{ name: 'Stock', rows: [['Lamps']] }]))
  expect((await readDocument(workbook, 'a.xlsx')).pages.map(({ text }) => text)).toEqual(['Stock\n\nLamps'])
  const docx = await withBackslashes(makeDocx([{ paragraph: 'Lamps and chairs' }]))
  expect((await readDocument(docx, 'a.docx')).pages.map(({ text }) => text)).toEqual(['Lamps and chairs'])
})
