import { expect, test } from 'vitest'
import { type DocxBlock, makeDocx, makeZip } from '#test/make-docx.ts'
import { readDocument } from '#test/read-document.ts'
import { readZip } from '#test/read-zip.ts'

const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const CHUNK = `<w:altChunk xmlns:r="${RELATIONS}" r:id="chunk"/>`

function withChunk(blocks: readonly DocxBlock[], name: string, bytes: Buffer): Buffer {
  const files = readZip(makeDocx(blocks))
  const relations = 'word/_rels/document.xml.rels'
  const chunk = `<Relationship Id="chunk" Type="${RELATIONS}/aFChunk" Target="/word/${name}"/></Relationships>`
  files.set(relations, Buffer.from((files.get(relations) ?? '').toString().replace('</Relationships>', chunk)))
  files.set(`word/${name}`, bytes)
  return makeZip([...files].map(([file, content]) => ({ name: file, bytes: content })))
}

async function read(name: string, content: Buffer | string, blocks?: readonly DocxBlock[]): Promise<string> {
  const around = blocks ?? [{ paragraph: 'Before.' }, { body: CHUNK }, { paragraph: 'After.' }]
  const { pages, failure } = await readDocument(withChunk(around, name, Buffer.from(content)), 'a.docx')
  expect(failure).toBeUndefined()
  return pages.map(({ text }) => text).join('\n\n')
}

const HTML = `<html><head><style>p { color: red }</style></head><body><h1>Terms</h1><div>Rent &amp; dep\u00f6sit: 800&nbsp;&euro;</div>
<table><tr><td>Flat</td><td>Rent</td></tr><tr><td>North</td><td>800</td></tr></table></body></html>`
const SHOWN = 'Before.\n\nTerms\n\nRent & dep\u00f6sit: 800 €\n\nFlat | Rent\nNorth | 800\n\nAfter.'

test('HTML inside of a Word document is read where it stands', async () => {
  expect(await read('chunk.html', HTML)).toBe(SHOWN)
})

test.each([
  ['quoted-printable', HTML.replaceAll('=', '=3D').replaceAll('\u00f6', '=C3=B6').replace('Terms', 'Te=\r\nrms')],
  ['base64', Buffer.from(HTML).toString('base64')],
])('so is a saved web page in %s', async (encoding, body) => {
  const page = `MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="next"\r\n\r\n--next\r\nContent-Type: text/html; charset="utf-8"\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}\r\n--next\r\nContent-Type: image/png\r\n\r\nxx\r\n--next--`
  expect(await read('chunk.mht', page)).toBe(SHOWN)
})

test('so are plain text and another Word document', async () => {
  expect(await read('chunk.txt', 'First line\r\n\r\nSecond')).toBe('Before.\n\nFirst line\n\nSecond\n\nAfter.')
  const inner = makeDocx([{ paragraph: 'Inner.' }, { rows: [['a', 'b'], ['c', 'd']] }]) // prettier-ignore
  expect(await read('chunk.docx', inner)).toBe('Before.\n\nInner.\n\na | b\nc | d\n\nAfter.')
})

test('in the cell of a table its words are words of the cell', async () => {
  const table = `<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Terms</w:t></w:r></w:p></w:tc><w:tc>${CHUNK}</w:tc></w:tr></w:tbl>`
  expect(await read('chunk.html', '<p>Three</p><p>months</p>', [{ body: table }])).toBe('Terms | Three months')
})

test('what cannot be read, or is named again, takes nothing from the rest', async () => {
  expect(await read('chunk.rtf', String.raw`{\rtf1 Terms}`)).toBe('Before.\n\nAfter.')
  expect(await read('chunk.docx', 'PK\u0003\u0004 broken')).toBe('Before.\n\nAfter.')
  const twice = [{ body: CHUNK.repeat(3) }, { paragraph: 'After.' }]
  expect(await read('chunk.txt', 'Once.', twice)).toBe('Once.\n\nAfter.')
})
