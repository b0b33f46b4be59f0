import { expect, test } from 'vitest'
import { readDocument } from '#test/read-document.ts'
import { writePdf } from '#test/write-pdf.ts'

function makeForm(annotations: readonly string[], rotate = 0, shown = ''): Buffer {
  const content = [
    'BT /F1 12 Tf 72 740 Td (Family name:) Tj ET',
    'BT /F1 12 Tf 72 700 Td (Country:) Tj ET',
    'BT /F1 12 Tf 72 660 Td (Married) Tj ET',
    'BT /F1 12 Tf 72 620 Td (Signed in the presence of the clerk.) Tj ET',
  ].join('\n')
  const first = 6
  const references = annotations.map((_, index) => `${first + index} 0 R`).join(' ')
  return writePdf([
    `<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [${references}] /DA (/Helv 10 Tf) >> >>`,
    '<< /Type /Pages /Count 1 /Kids [4 0 R] >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Rotate ${rotate} /Resources << /Font << /F1 3 0 R >> >> /Contents 5 0 R /Annots [${references}] >>`,
    { entries: '', stream: Buffer.from(content) },
    ...annotations.map((entries) => `<< /Type /Annot ${entries} >>`),
    {
      entries: '/Type /XObject /Subtype /Form /BBox [0 0 200 40] /Resources << /Font << /F1 3 0 R >> >>',
      stream: Buffer.from(shown),
    },
  ])
}

const field = (rectangle: string, more: string) => `/Subtype /Widget /Rect [${rectangle}] /F 4 ${more}`
const filled = [
  field('200 690 400 712', '/FT /Ch /Ff 131072 /T (country) /Opt [[(pt) (Portugal)] [(mt) (Malta)]] /V (pt)'),
  field('200 730 400 752', '/FT /Tx /T (name) /V (Oyelaran)'),
  field(
    '150 655 166 671',
    '/FT /Btn /T (married) /V /Yes /AS /Yes /AP << /N << /Yes << /Length 0 >> /Off << /Length 0 >> >> >>',
  ),
  field('200 500 400 520', '/FT /Tx /T (secret) /Ff 8192 /V (swordfish)'),
  '/Subtype /Widget /Rect [200 400 400 420] /F 2 /FT /Tx /T (hidden) /V (unseen)',
]

test('writes form values after their labels', async () => {
  const { pages } = await readDocument(makeForm(filled), 'form.pdf')
  const { text = '' } = pages[0] ?? {}
  expect(text.replaceAll(/\s+/g, ' ')).toBe(
    'Family name: Oyelaran Country: Portugal Married ☒ Signed in the presence of the clerk.',
  )
})

test('reads a field whose value exists only in its appearance', async () => {
  const appearance = 'BT /F1 10 Tf 2 26 Td (Oyelaran) Tj 0 -14 Td (Adebayo) Tj ET'
  const rich = field('200 730 400 752', '/FT /Tx /T (name) /Ff 33558528 /RV (<body/>) /AP << /N 7 0 R >>')
  const { pages } = await readDocument(makeForm([rich], 0, appearance), 'form.pdf')
  expect(pages[0]?.text.replaceAll(/\s+/g, ' ')).toMatch(/^Family name: Oyelaran Adebayo Country:/)
})

test('returns the location of a value, also on a rotated page', async () => {
  const boxOf = async (rotate: number) => {
    const { pages } = await readDocument(makeForm(filled, rotate), 'form.pdf')
    const { text = '', boxes = [], items = [] } = pages[0] ?? {}
    const start = text.indexOf('Oyelaran')
    expect(items.some(([offset, , , length]) => offset <= start && start < offset + length)).toBe(false)
    return boxes.find(([offset]) => offset === start)?.slice(1)
  }
  expect(await boxOf(0)).toEqual([8, 3333, 600, 3334, 275])
  expect(await boxOf(90)).toEqual([8, 9125, 3333, 275, 3334])
})

test('reads typed text in place, and comments after the page with their author', async () => {
  const { pages } = await readDocument(
    makeForm([
      '/Subtype /Text /Rect [500 700 520 720] /T (Ana) /Contents (Is this right?)',
      '/Subtype /FreeText /Rect [200 735 400 750] /DA (/Helv 10 Tf) /Contents (Typed by hand)',
      '/Subtype /Link /Rect [72 700 200 712] /Contents (only a link)',
    ]),
    'notes.pdf',
  )
  const { text = '', boxes = [] } = pages[0] ?? {}
  expect(text).toMatch(/^Family name:\sTyped by hand\n\s*Country:/)
  expect(text).toMatch(/\n\nAna: Is this right\?$/)
  expect(boxes.map(([offset, length]) => text.slice(offset, offset + length))).toEqual(
    'Typed by hand Ana: Is this right?'.split(' '),
  )
})
