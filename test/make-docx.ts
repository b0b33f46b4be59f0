/** Small docx files for tests, written as a zip without compression. */
import { crc32 } from 'node:zlib'

export type DocxBlock =
  { readonly heading: string } | { readonly paragraph: string } | { readonly rows: readonly (readonly string[])[] }

export interface ZipFile {
  readonly name: string
  readonly bytes: Buffer
  /** What the table of contents claims, where it is to lie. */
  readonly declaredSize?: number
}

/** A zip file with stored entries (APPNOTE.TXT 4.3). */
export function makeZip(files: readonly ZipFile[]): Buffer {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, bytes, declaredSize = bytes.length } of files) {
    const encodedName = Buffer.from(name)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt32LE(crc32(bytes), 10)
    common.writeUInt32LE(bytes.length, 14)
    common.writeUInt32LE(declaredSize, 18)
    common.writeUInt16LE(encodedName.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, encodedName, bytes])
    const place = Buffer.alloc(14)
    place.writeUInt32LE(offset, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), common, place, encodedName]))
    locals.push(local)
    offset += local.length
  }
  const contents = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(files.length, 8)
  end.writeUInt16LE(files.length, 10)
  end.writeUInt32LE(contents.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, contents, end])
}

const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const paragraph = (text: string, style = '') =>
  `<w:p>${style}<w:r><w:t xml:space="preserve">${escape(text)}</w:t></w:r></w:p>`

function xmlOf(block: DocxBlock): string {
  if ('heading' in block) return paragraph(block.heading, '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>')
  if ('paragraph' in block) return paragraph(block.paragraph)
  const rows = block.rows.map(
    (cells) => `<w:tr>${cells.map((cell) => `<w:tc>${paragraph(cell)}</w:tc>`).join('')}</w:tr>`,
  )
  return `<w:tbl>${rows.join('')}</w:tbl>`
}

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
const WORD = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'

/** A Word document of these blocks, with the parts that Word itself insists on. */
export function makeDocx(blocks: readonly DocxBlock[]): Buffer {
  const parts: Readonly<Record<string, string>> = {
    '[Content_Types].xml': `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/><Override PartName="/word/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"/></Types>`,
    '_rels/.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
    'word/_rels/document.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>`,
    'word/styles.xml': `<w:styles xmlns:w="${WORD}"><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>`,
    'word/document.xml': `<w:document xmlns:w="${WORD}"><w:body>${blocks.map(xmlOf).join('')}</w:body></w:document>`,
  }
  return makeZip(Object.entries(parts).map(([name, xml]) => ({ name, bytes: Buffer.from(`${HEAD}${xml}`) })))
}
