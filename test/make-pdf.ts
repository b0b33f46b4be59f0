import { writePdf } from './write-pdf.ts'

export interface PdfOptions {
  /** Points; `headingSize` applies to a first line that begins with "# ". */
  readonly bodySize?: number
  readonly headingSize?: number
}

const PAGE_HEIGHT = 842
const MARGIN = 56
const CHARACTERS_PER_LINE = 88

const WIN_ANSI: Readonly<Record<string, number>> = {
  '€': 0x80,
  '…': 0x85,
  '‘': 0x91,
  '’': 0x92,
  '“': 0x93,
  '”': 0x94,
  '•': 0x95,
  '–': 0x96,
  '—': 0x97,
}

function literal(text: string): string {
  const bytes = Array.from(text, (character) => WIN_ANSI[character] ?? character.charCodeAt(0))
  return bytes
    .map((byte) => {
      if (byte > 255) throw new Error('a test pdf holds characters of WinAnsi only')
      return byte < 32 || byte > 126 || '()\\'.includes(String.fromCharCode(byte))
        ? `\\${byte.toString(8).padStart(3, '0')}`
        : String.fromCharCode(byte)
    })
    .join('')
}

function wrap(text: string): string[] {
  return text.split('\n').flatMap((paragraph) => {
    const lines = ['']
    for (const word of paragraph.split(' ')) {
      const line = lines.at(-1) ?? ''
      if (line !== '' && line.length + word.length + 1 > CHARACTERS_PER_LINE) lines.push(word)
      else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
    }
    return lines
  })
}

function contentOf(text: string, bodySize: number, headingSize: number): string {
  let y = PAGE_HEIGHT - MARGIN
  const operators = wrap(text).map((line) => {
    const isHeading = line.startsWith('# ')
    const size = isHeading ? headingSize : bodySize
    y -= size * 1.3
    return line === ''
      ? ''
      : `BT /F1 ${size} Tf ${MARGIN} ${y.toFixed(2)} Td (${literal(isHeading ? line.slice(2) : line)}) Tj ET`
  })
  return operators.join('\n')
}

/** One page per text. Lines wrap; a blank line separates paragraphs; "# " makes a line a heading. */
export function makePdf(pages: readonly string[], { bodySize = 11, headingSize = 20 }: PdfOptions = {}): Buffer {
  const pageNumber = (index: number) => 4 + index * 2
  const kids = pages.map((_, index) => `${pageNumber(index)} 0 R`).join(' ')
  return writePdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${kids}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    ...pages.flatMap((text, index) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 ${PAGE_HEIGHT}] /Resources << /Font << /F1 3 0 R >> >> /Contents ${pageNumber(index) + 1} 0 R >>`,
      { entries: '', stream: Buffer.from(contentOf(text, bodySize, headingSize), 'latin1') },
    ]),
  ])
}
