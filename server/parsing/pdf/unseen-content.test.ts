import { describe, expect, test } from 'vitest'
import { readFaultFile } from '#test/fault-file.ts'
import { makeDocx } from '#test/make-docx.ts'
import { readDocument } from '#test/read-document.ts'
import { writePdf } from '#test/write-pdf.ts'
import { writeXfa } from './xfa.ts'

const textOf = async (bytes: Buffer) => (await readDocument(bytes, 'a.pdf')).pages.map(({ text }) => text).join('\n\n')

test('labels and values of a form are read in place of the notice on its page', async () => {
  expect(await textOf(readFaultFile('pdf-xfa-dynamic-form.pdf'))).toBe(
    'Application for a garden permit\nName of applicant: Rosalind Petersen\nFee paid: 37 crowns',
  )
})

test('choices, ticks and rows of a form are read, hidden parts and passwords are not', () => {
  const caption = (text: string) => ({
    name: 'div',
    attributes: { class: ['xfaCaption'] },
    children: [{ name: 'span', value: text }],
  })
  const field = (label: string, input: object) => ({
    name: 'div',
    attributes: { class: ['xfaField'] },
    children: [caption(label), input],
  })
  const option = (value: string, selected = false) => ({
    name: 'option',
    value,
    attributes: selected ? { selected } : {},
  })
  const page = {
    name: 'div',
    children: [
      field('Season:', { name: 'select', children: [option('Spring'), option('Autumn', true)] }),
      field('Paid', { name: 'input', attributes: { type: 'checkbox', checked: true } }),
      field('Key', { name: 'input', attributes: { type: 'password', value: 'secret' } }),
      {
        ...field('Secret', { name: 'input', attributes: { value: '1' } }),
        attributes: { class: ['xfaField'], style: { display: 'none' } },
      },
      {
        name: 'div',
        attributes: { class: ['xfaRow'] },
        children: [
          field('', { name: 'textarea', value: 'Oil' }),
          field('', { name: 'input', attributes: { type: 'text', value: '3' } }),
        ],
      },
    ],
  }
  expect(writeXfa(page)).toBe('Season: Autumn\n☒ Paid\nKey\nOil | 3')
})

function withFiles(files: readonly { readonly name: string; readonly bytes: Buffer }[], onPage = false): Buffer {
  const specification = (index: number) => `${6 + 2 * index} 0 R`
  const names = files.map(({ name }, index) => `(${name}) ${specification(index)}`).join(' ')
  const annotations = files.map(
    (_, index) => `<< /Type /Annot /Subtype /FileAttachment /Rect [10 10 30 30] /FS ${specification(index)} >>`,
  )
  return writePdf([
    `<< /Type /Catalog /Pages 2 0 R ${onPage ? '' : `/Names << /EmbeddedFiles << /Names [${names}] >> >>`} >>`,
    '<< /Type /Pages /Count 1 /Kids [4 0 R] >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << /Font << /F1 3 0 R >> >> /Contents 5 0 R ${onPage ? `/Annots [${annotations.join(' ')}]` : ''} >>`,
    { entries: '', stream: Buffer.from('BT /F1 12 Tf 72 700 Td (The cover.) Tj ET') },
    ...files.flatMap(({ name, bytes }, index) => [
      `<< /Type /Filespec /F (${name}) /UF (${name}) /EF << /F ${7 + 2 * index} 0 R >> >>`,
      { entries: '/Type /EmbeddedFile', stream: bytes },
    ]),
  ])
}

describe('files that are attached to a PDF', () => {
  test('are read after its last page, or named', async () => {
    expect(await textOf(readFaultFile('pdf-portfolio.pdf'))).toContain(
      'Attached file: lease.pdf\n\nThe lease of the mill runs until 30 September 2031.',
    )
    const files = [
      { name: 'terms.docx', bytes: makeDocx([{ paragraph: 'Payment within 30 days.' }]) },
      { name: 'notes.txt', bytes: Buffer.from('Ask Ann.') },
      { name: 'photo.jpg', bytes: Buffer.from('no picture') },
      { name: 'broken.pdf', bytes: Buffer.from('%PDF-1.7 broken') },
    ]
    const expected = [
      ...['The cover.', 'Attached file: terms.docx', 'Payment within 30 days.', 'Attached file: notes.txt', 'Ask Ann.'],
      ...['Attached file, not read: photo.jpg', 'Attached file, not read: broken.pdf'],
    ].join('\n\n')
    expect(await textOf(withFiles(files))).toBe(expected)
    expect(await textOf(withFiles(files, true))).toBe(expected)
  })

  test('of types that are not read leave room for the others', async () => {
    const photos = Array.from({ length: 60 }, (_, index) => ({ name: `${index}.jpg`, bytes: Buffer.from('x') }))
    const files = [
      { name: 'film.mp4', bytes: Buffer.alloc(25 * 1024 * 1024) },
      ...photos,
      { name: 'contract.docx', bytes: makeDocx([{ paragraph: 'Payment within 30 days.' }]) },
    ]
    expect(await textOf(withFiles(files))).toContain('Payment within 30 days.')
  })

  test.each([
    ['a line', '72 700 m 300 700 l S', false],
    ['nothing', '', true],
  ])('are read from earlier pages if the last one shows %s', async (_, content, isBlank) => {
    const page = (contents: number, more = '') =>
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << /Font << /F1 3 0 R >> >> /Contents ${contents} 0 R ${more} >>`
    const annotation = '<< /Type /Annot /Subtype /FileAttachment /Rect [10 10 30 30] /FS 8 0 R >>'
    const file = writePdf([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Count 2 /Kids [4 0 R 6 0 R] >>',
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
      page(5, `/Annots [${annotation}]`),
      { entries: '', stream: Buffer.from('BT /F1 12 Tf 72 700 Td (The cover of the contract.) Tj ET') },
      page(7),
      { entries: '', stream: Buffer.from(content) },
      '<< /Type /Filespec /F (notes.txt) /UF (notes.txt) /EF << /F 9 0 R >> >>',
      { entries: '/Type /EmbeddedFile', stream: Buffer.from('Ask Ann.') },
    ])
    const { pages } = await readDocument(file, 'a.pdf')
    const last = pages.find((each) => each.page === 2)
    expect(last?.text).toContain('Attached file: notes.txt\n\nAsk Ann.')
    expect(last?.gap === 'blank').toBe(isBlank)
  })

  test('do not nest', async () => {
    const inner = withFiles([{ name: 'deep.txt', bytes: Buffer.from('Deep words.') }])
    expect(await textOf(withFiles([{ name: 'inner.pdf', bytes: inner }]))).not.toContain('Deep words')
  })
})

function withLayers(configuration: string, hasStamp = false): Buffer {
  const words = [
    'BT /F1 12 Tf 72 740 Td (The deposit is 300 crowns.) Tj ET',
    '/OC /Old BDC BT /F1 12 Tf 72 700 Td (The deposit is 100 crowns.) Tj ET EMC',
    '/Fm Do',
    'BT /F1 12 Tf 72 620 Td (Signed in March.) Tj ET',
  ].join('\n')
  return writePdf([
    `<< /Type /Catalog /Pages 2 0 R /OCProperties << /OCGs [6 0 R] /D << ${configuration} >> >> >>`,
    '<< /Type /Pages /Count 1 /Kids [4 0 R] >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << /Font << /F1 3 0 R >> /Properties << /Old 6 0 R >> /XObject << /Fm 7 0 R >> >> /Contents 5 0 R ${hasStamp ? '/Annots [8 0 R]' : ''} >>`,
    { entries: '', stream: Buffer.from(words) },
    '<< /Type /OCG /Name (Draft) >>',
    {
      entries: '/Type /XObject /Subtype /Form /BBox [0 0 600 800] /OC 6 0 R /Resources << /Font << /F1 3 0 R >> >>',
      stream: Buffer.from('BT /F1 12 Tf 72 660 Td (Draft of 2019.) Tj ET'),
    },
    '<< /Type /Annot /Subtype /Stamp /Rect [300 100 400 130] /F 4 /AP << /N 9 0 R >> >>',
    {
      entries: '/Type /XObject /Subtype /Form /BBox [0 0 100 30] /Resources << /Font << /F1 3 0 R >> >>',
      stream: Buffer.from('BT /F1 12 Tf 5 5 Td (Seen) Tj ET'),
    },
  ])
}

describe('a layer', () => {
  test('that is switched off is not read on a page with the appearance of a note', async () => {
    expect(await textOf(withLayers('/OFF [6 0 R]', true))).not.toContain('100 crowns')
  })

  test.each(['/OFF [6 0 R]', '/BaseState /OFF'])('that is switched off is not read: %s', async (configuration) => {
    expect(await textOf(withLayers(configuration))).toBe('The deposit is 300 crowns.\nSigned in March.')
    const { pages } = await readDocument(withLayers(configuration), 'a.pdf')
    expect(pages[0]?.items?.map(([, item]) => item)).toHaveLength(2)
  })

  test('that is switched on is read', async () => {
    expect(await textOf(withLayers(''))).toContain('The deposit is 100 crowns.')
    expect(await textOf(withLayers('/BaseState /OFF /ON [6 0 R]'))).toContain('Draft of 2019.')
  })
})
