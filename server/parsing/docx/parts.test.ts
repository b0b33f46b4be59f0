import { expect, test } from 'vitest'
import { type DocxBlock, makeDocx } from '#test/make-docx.ts'
import { readDocument } from '#test/read-document.ts'

const textOf = async (...made: Parameters<typeof makeDocx>) => {
  const { pages, failure } = await readDocument(makeDocx(...made), 'a.docx')
  expect(failure).toBeUndefined()
  return pages.map(({ text }) => text).join('\n\n')
}

const body: DocxBlock[] = [{ heading: 'Lease' }, { paragraph: 'The rent is due monthly.' }]

test('headers and footers are read once, behind the text, without page numbers', async () => {
  const margins = {
    header1: 'Harbour Trust, confidential',
    header2: 'Harbour Trust, confidential',
    footer1: 'Page 1 of 7',
    footer2: 'Drafted in Kiel',
  }
  expect(await textOf(body, margins)).toBe(
    'Lease\n\nThe rent is due monthly.\n\nHarbour Trust, confidential\n\nDrafted in Kiel',
  )
})

test('a header that repeats the title is not read again', async () => {
  expect(await textOf(body, { header1: 'Lease' })).toBe('Lease\n\nThe rent is due monthly.')
})

test('equations stand in their sentence as text', async () => {
  const equation =
    '<m:oMath><m:sSup><m:e><m:r><m:t>r</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath>'
  const xml = `<w:r><w:t xml:space="preserve">The area is </w:t></w:r>${equation}<w:r><w:t xml:space="preserve"> times pi.</w:t></w:r>`
  expect(await textOf([{ xml }])).toBe('The area is r^2 times pi.')
})

test('text boxes are read where they are anchored', async () => {
  const box =
    '<w:r><w:pict><v:shape><v:textbox><w:txbxContent><w:p><w:r><w:t>Keep dry</w:t></w:r></w:p></w:txbxContent></v:textbox></v:shape></w:pict></w:r>'
  expect(await textOf([{ paragraph: 'Before.' }, { xml: box }, { paragraph: 'After.' }])).toBe(
    'Before.\n\nKeep dry\n\nAfter.',
  )
})

const insideEachOther = (depth: number) =>
  `${'<w:sdt><w:sdtContent>'.repeat(depth)}<w:p><w:r><w:t>Innermost</w:t></w:r></w:p>${'</w:sdtContent></w:sdt>'.repeat(depth)}`

test('parts inside each other are read as deep as real documents go, and refused where nobody would write them', async () => {
  // Neither an attribute with a bracket nor a comment adds a level.
  const flat = '<!-- <w:p> --><w:p w:rsidR="a > b"><w:r><w:t>x</w:t></w:r></w:p><w:p w:rsidR=">"/>'.repeat(2_000)
  expect(await textOf([{ body: insideEachOther(100) }, { body: flat }])).toMatch(/^Innermost\n\nx/)
  const outcome = await readDocument(makeDocx([{ body: insideEachOther(2_000) }]), 'a.docx')
  expect(outcome).toEqual({ pages: [], failure: 'too_deep' })
})
