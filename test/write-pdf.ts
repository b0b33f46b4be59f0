/** Writes pdf files: numbered objects, their table, the trailer (ISO 32000-1, 7.5). */

/** Entries of an object, with its stream if it has one; `/Length` is added. */
export type PdfObject = string | { readonly entries: string; readonly stream: Buffer }

/** Objects are numbered from 1; the first is the catalogue. @param trailer more entries for the trailer. */
export function writePdf(objects: readonly PdfObject[], trailer = ''): Buffer {
  const parts: Buffer[] = []
  let length = 0
  const write = (part: Buffer | string) => {
    const bytes = typeof part === 'string' ? Buffer.from(part, 'latin1') : part
    parts.push(bytes)
    length += bytes.length
  }
  write('%PDF-1.7\n')
  const offsets = objects.map((object, index) => {
    const offset = length
    write(`${index + 1} 0 obj\n`)
    if (typeof object === 'string') write(object)
    else {
      write(`<< ${object.entries} /Length ${object.stream.length} >>\nstream\n`)
      write(object.stream)
      write('\nendstream')
    }
    write('\nendobj\n')
    return offset
  })
  const start = length
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  write(
    `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF\n`,
  )
  return Buffer.concat(parts)
}

/** One page, drawn by these operators; `F` is Helvetica. */
export const pageOf = (operators: readonly string[]): Buffer =>
  writePdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F 4 0 R >> >> /Contents 5 0 R >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    { entries: '', stream: Buffer.from(operators.join('\n')) },
  ])

/** Points; `spacing` is added between letters. */
export const textAt = (x: number, y: number, text: string, spacing = 0): string =>
  `BT /F 10 Tf ${spacing} Tc ${x} ${y} Td (${text}) Tj ET`
