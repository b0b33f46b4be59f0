/** Broken and hostile files of every accepted type, and the expected failure of each. */
import { randomBytes } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'
import { makeDocx, makeZip } from './make-docx.ts'
import { makePdf } from './make-pdf.ts'
import { makeWorkbook } from './make-workbook.ts'
import { type PdfObject, writePdf } from './write-pdf.ts'

export type Ending = 'accepted' | 'rejected at upload' | 'fails with a reason'

export interface HostileFile {
  readonly file: string
  readonly expect: Ending
  readonly make: () => Buffer
}

const MEGABYTE = 1024 * 1024
const WORD = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'

function pagesOf(count: number, page: string, more: readonly PdfObject[] = []): Buffer {
  const first = 3 + more.length
  const kids = Array.from({ length: count }, (_, index) => `${first + index} 0 R`).join(' ')
  return writePdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${count} /Kids [${kids}] >>`,
    ...more,
    ...Array.from({ length: count }, () => page),
  ])
}

const EMPTY_PAGE = '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>'

/** Deflated twice, a gigabyte of blanks takes a few kilobytes. */
function inflatingPdf(): Buffer {
  const stream = deflateSync(deflateSync(Buffer.alloc(1024 * MEGABYTE, 0x20)))
  return pagesOf(1, '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 3 0 R >>', [
    { entries: '/Filter [/FlateDecode /FlateDecode]', stream },
  ])
}

function hugePicturePdf(): Buffer {
  const side = 30_000
  return pagesOf(
    1,
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /XObject << /P 3 0 R >> >> /Contents 4 0 R >>',
    [
      {
        entries: `/Type /XObject /Subtype /Image /Width ${side} /Height ${side} /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter [/FlateDecode /FlateDecode]`,
        stream: deflateSync(deflateSync(Buffer.alloc(side * side))),
      },
      { entries: '', stream: Buffer.from('q 595 0 0 842 0 0 cm /P Do Q') },
    ],
  )
}

/** Encrypted with an unknown password (ISO 32000-1, 7.6.3). */
const encryptedPdf = (): Buffer =>
  writePdf(
    ['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Count 1 /Kids [3 0 R] >>', EMPTY_PAGE],
    `/ID [<${'1'.repeat(32)}> <${'1'.repeat(32)}>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <${'2'.repeat(64)}> /U <${'3'.repeat(64)}> >>`,
  )

/** An empty png that unpacks to 900 MB. */
function hugePng(): Buffer {
  const side = 30_000
  const chunk = (type: string, data: Buffer) => {
    const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(data.length)
    sum.writeUInt32BE(crc32(named))
    return Buffer.concat([length, named, sum])
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(side, 0)
  header.writeUInt32BE(side, 4)
  header[8] = 8
  const rows = deflateSync(Buffer.alloc((side + 1) * side), { level: 1 })
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', rows),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

const docxOf = (xml: string, { declaredSize }: { declaredSize?: number } = {}): Buffer =>
  makeZip([
    {
      name: '[Content_Types].xml',
      bytes: Buffer.from(
        `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
      ),
    },
    {
      name: 'word/document.xml',
      bytes: Buffer.from(xml),
      isDeflated: true,
      ...(declaredSize === undefined ? {} : { declaredSize }),
    },
  ])

const bodyOf = (text: string) =>
  `<w:document xmlns:w="${WORD}"><w:body><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:body></w:document>`

/** Ten entities, each of which repeats the previous one ten times. */
function laughs(): string {
  const entities = Array.from(
    { length: 10 },
    (_, level) => `<!ENTITY l${level} "${level === 0 ? 'ha ' : `&l${level - 1};`.repeat(10)}">`,
  )
  return `<!DOCTYPE d [${entities.join('')}]>${bodyOf('&l9;')}`
}

const nested = (depth: number) =>
  `<w:document xmlns:w="${WORD}"><w:body>${'<w:tbl><w:tr><w:tc>'.repeat(depth)}<w:p/>${'</w:tc></w:tr></w:tbl>'.repeat(depth)}</w:body></w:document>`

/** A compound file header whose tables point outside the file. */
const brokenOle = (): Buffer =>
  Buffer.concat([Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]), Buffer.alloc(4_096, 0xff)])

const half = (bytes: Buffer): Buffer => bytes.subarray(0, bytes.length >> 1)
const longPdf = () => makePdf(Array.from({ length: 20 }, () => 'A page of text that was there before. '.repeat(40)))

export const HOSTILE_FILES: readonly HostileFile[] = [
  { file: 'empty.pdf', expect: 'rejected at upload', make: () => Buffer.alloc(0) },
  { file: 'random.pdf', expect: 'fails with a reason', make: () => randomBytes(64 * 1024) },
  {
    file: 'program.pdf',
    expect: 'rejected at upload',
    make: () => Buffer.concat([Buffer.from('\x7fELF', 'latin1'), Buffer.alloc(4_096)]),
  },
  {
    file: 'drawing.png',
    expect: 'rejected at upload',
    make: () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'),
  },
  { file: 'bytes.txt', expect: 'rejected at upload', make: () => Buffer.alloc(10_000, 0x01) },
  { file: 'head-only.pdf', expect: 'fails with a reason', make: () => Buffer.from('%PDF-1.7\n%broken') },
  { file: 'half.pdf', expect: 'fails with a reason', make: () => half(longPdf()) },
  { file: 'password.pdf', expect: 'fails with a reason', make: encryptedPdf },
  { file: '10000-empty-pages.pdf', expect: 'fails with a reason', make: () => pagesOf(10_000, EMPTY_PAGE) },
  { file: '10001-pages.pdf', expect: 'fails with a reason', make: () => pagesOf(10_001, EMPTY_PAGE) },
  {
    file: 'circle.pdf',
    expect: 'fails with a reason',
    make: () => writePdf(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Count 9 /Kids [2 0 R] >>']),
  },
  { file: 'inflating.pdf', expect: 'fails with a reason', make: inflatingPdf },
  { file: 'huge-picture.pdf', expect: 'fails with a reason', make: hugePicturePdf },
  { file: 'huge.png', expect: 'fails with a reason', make: hugePng },
  {
    file: 'half.docx',
    expect: 'fails with a reason',
    make: () => half(makeDocx([{ paragraph: 'Words. '.repeat(500) }])),
  },
  { file: 'laughs.docx', expect: 'fails with a reason', make: () => docxOf(laughs()) },
  {
    file: 'outside.docx',
    expect: 'fails with a reason',
    make: () => docxOf(`<!DOCTYPE d [<!ENTITY o SYSTEM "file:///etc/passwd">]>${bodyOf('&o;')}`),
  },
  { file: 'nested.docx', expect: 'fails with a reason', make: () => docxOf(nested(100_000)) },
  {
    file: 'declared-bomb.docx',
    expect: 'fails with a reason',
    make: () => docxOf(bodyOf(' '.repeat(300 * MEGABYTE))),
  },
  {
    file: 'lying-bomb.docx',
    expect: 'fails with a reason',
    make: () => docxOf(bodyOf(' '.repeat(400 * MEGABYTE)), { declaredSize: 4_000 }),
  },
  { file: 'broken.doc', expect: 'fails with a reason', make: brokenOle },
  { file: 'broken.xls', expect: 'fails with a reason', make: brokenOle },
  {
    file: 'far.xlsx',
    expect: 'accepted',
    make: () =>
      makeWorkbook([{ name: 'Far', rows: [['here'], ...Array.from({ length: 60_000 }, () => []), ['there']] }]),
  },
  { file: '../../../etc/passwd.txt', expect: 'accepted', make: () => Buffer.from('A file whose name is a path.') },
]
