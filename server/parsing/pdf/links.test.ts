import { describe, expect, test } from 'vitest'
import { readFaultFile } from '#test/fault-file.ts'
import { readDocument } from '#test/read-document.ts'
import { writePdf } from '#test/write-pdf.ts'

interface MadeLink {
  readonly rectangle: string
  readonly target: string
  readonly more?: string
}

function makeLinked(lines: readonly string[], links: readonly MadeLink[], rotate = 0): Buffer {
  const content = lines.map((line, index) => `BT /F1 12 Tf 72 ${740 - 20 * index} Td (${line}) Tj ET`).join('\n')
  return writePdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [4 0 R] >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Rotate ${rotate} /Resources << /Font << /F1 3 0 R >> >> /Contents 5 0 R /Annots [${links.map((_, index) => `${6 + index} 0 R`).join(' ')}] >>`,
    { entries: '', stream: Buffer.from(content) },
    ...links.map(
      ({ rectangle, target, more = '' }) =>
        `<< /Type /Annot /Subtype /Link /Rect [${rectangle}] /A << /S /URI /URI (${target}) >> ${more} >>`,
    ),
  ])
}

const pageOf = async (bytes: Buffer) => (await readDocument(bytes, 'a.pdf')).pages[0]

describe('the address of a link', () => {
  test('follows the words that it covers, inside a line of text', async () => {
    const page = await pageOf(readFaultFile('pdf-link-behind-words.pdf'))
    expect(page?.text).toBe(
      'Apply for the allotment here (https://forms.example.org/allotment?id=77) before the first of March.',
    )
  })

  test('belongs to no item, and its words are marked where the link is', async () => {
    const { text = '', items = [], boxes = [] } = (await pageOf(readFaultFile('pdf-link-behind-words.pdf'))) ?? {}
    const shown = items.map(([start, , , length]) => text.slice(start, start + length)).join('')
    expect(shown).toBe('Apply for the allotment here before the first of March.')
    expect(items.map(([, item, inItem]) => [item, inItem])).toEqual([
      [0, 0],
      [0, 28],
    ])
    expect(boxes.map(([start, length]) => text.slice(start, start + length))).toEqual([
      '(https://forms.example.org/allotment?id=77)',
    ])
  })

  test('is written once for a link of two lines', async () => {
    const lines = ['Read the rules of the', 'garden club before you come.']
    const target = 'https://example.org/rules'
    const links = [
      { rectangle: '72 736 200 752', target },
      { rectangle: '72 716 140 732', target },
    ]
    const text = 'Read the rules of the\ngarden club (https://example.org/rules) before you come.'
    expect((await pageOf(makeLinked(lines, links)))?.text).toBe(text)
    const quads = `/QuadPoints [72 752 200 752 72 736 200 736 72 732 140 732 72 716 140 716]`
    const one = [{ rectangle: '72 716 200 752', target, more: quads }]
    expect((await pageOf(makeLinked(lines, one)))?.text).toBe(text)
  })

  test.each([
    ['an address in the words', 'See www.example.org/a for more', 'https://www.example.org/a', '96 736 190 752'],
    [
      'an address in two lines',
      'https://example.org/a-long-\nway/to.html',
      'https://example.org/a-long-way/to.html',
      '72 716 300 752',
    ],
    ['a mail address', 'ann@example.org', 'mailto:ann@example.org', '72 736 180 752'],
    ['a script', 'Run it', 'javascript:alert\\(1\\)', '72 736 180 752'],
    ['a rectangle beside the words', 'Words here', 'https://example.org/a', '400 36 480 52'],
  ])('is not repeated or not shown: %s', async (_, words, target, rectangle) => {
    const page = await pageOf(makeLinked(words.split('\n'), [{ rectangle, target }]))
    expect(page?.text.replaceAll(/-?\n/g, '')).toBe(words.replaceAll(/-?\n/g, ''))
  })

  test('of a person is a mail address', async () => {
    const page = await pageOf(
      makeLinked(['Ask Ann'], [{ rectangle: '72 736 180 752', target: 'mailto:ann@example.org' }]),
    )
    expect(page?.text).toBe('Ask Ann (ann@example.org)')
  })
})
