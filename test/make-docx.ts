import { crc32, deflateRawSync } from 'node:zlib'

export type DocxBlock =
  | { readonly heading: string }
  | { readonly paragraph: string }
  | { readonly rows: readonly (readonly string[])[] }
  /** Content of a paragraph; `w:` and `m:` are declared. */
  | { readonly xml: string }
  | { readonly body: string }

export interface ZipFile {
  readonly name: string
  readonly bytes: Buffer
  /** Size that the central directory claims, if it lies. */
  readonly declaredSize?: number
  readonly isDeflated?: boolean
}

export function makeZip(files: readonly ZipFile[]): Buffer {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, bytes, declaredSize = bytes.length, isDeflated = false } of files) {
    const packed = isDeflated ? deflateRawSync(bytes) : bytes
    const encodedName = Buffer.from(name)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    if (isDeflated) common.writeUInt16LE(8, 4)
    common.writeUInt32LE(crc32(bytes), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(declaredSize, 18)
    common.writeUInt16LE(encodedName.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, encodedName, packed])
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
  if ('body' in block) return block.body
  if ('xml' in block) return `<w:p>${block.xml}</w:p>`
  const rows = block.rows.map(
    (cells) => `<w:tr>${cells.map((cell) => `<w:tc>${paragraph(cell)}</w:tc>`).join('')}</w:tr>`,
  )
  return `<w:tbl>${rows.join('')}</w:tbl>`
}

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
const WORD = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'

const NAMESPACES = `xmlns:w="${WORD}" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:v="urn:schemas-microsoft-com:vml" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"`

/**
 * @param margins texts of headers (`header1` …) and footers (`footer1` …).
 * @param replaced content of parts, for example `word/numbering.xml`; `w:` is declared.
 * @param main name of the main document part.
 */
export function makeDocx(
  blocks: readonly DocxBlock[],
  margins: Readonly<Record<string, string>> = {},
  replaced: Readonly<Record<string, string>> = {},
  main = 'document',
): Buffer {
  const parts: Readonly<Record<string, string>> = {
    '[Content_Types].xml': `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/${main}.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/><Override PartName="/word/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"/></Types>`,
    '_rels/.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/${main}.xml"/></Relationships>`,
    [`word/_rels/${main}.xml.rels`]: `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>`,
    'word/styles.xml': `<w:styles xmlns:w="${WORD}"><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>`,
    [`word/${main}.xml`]: `<w:document ${NAMESPACES}><w:body>${blocks.map(xmlOf).join('')}</w:body></w:document>`,
    ...Object.fromEntries(
      Object.entries(margins).map(([name, text]) => {
        const tag = name.startsWith('header') ? 'w:hdr' : 'w:ftr'
        return [`word/${name}.xml`, `<${tag} ${NAMESPACES}>${paragraph(text)}</${tag}>`]
      }),
    ),
    ...Object.fromEntries(
      Object.entries(replaced).map(([name, xml]) => [name, xml.replace(/^<[\w:]+/, `$& ${NAMESPACES}`)]),
    ),
  }
  return makeZip(Object.entries(parts).map(([name, xml]) => ({ name, bytes: Buffer.from(`${HEAD}${xml}`) })))
}
