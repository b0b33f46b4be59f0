/** Draws text as images from a pdf, so that no installed font is needed. */
import { deflateSync } from 'node:zlib'
import sharp from 'sharp'
import type { Raster } from '#server/parsing/ocr/raster.ts'
import { createRasteriser } from '#server/parsing/ocr/rasterise-pdf.ts'
import { makePdf } from './make-pdf.ts'
import { writePdf } from './write-pdf.ts'

/** A scanned page, in grey at 200 dpi. */
export async function drawText(text: string): Promise<Raster> {
  const rasteriser = createRasteriser(makePdf([text], { bodySize: 12 }))
  try {
    const raster = await rasteriser.draw(1)
    if (!raster) throw new Error('the page was not drawn')
    return raster
  } finally {
    rasteriser.close()
  }
}

const openRaster = ({ width, height, pixels }: Raster) => sharp(pixels, { raw: { width, height, channels: 1 } })

/** @param angle clockwise, in degrees. */
export const makePng = (raster: Raster, angle = 0): Promise<Buffer> =>
  openRaster(raster).rotate(angle, { background: '#ffffff' }).png().toBuffer()

/** Dark pixels become ink of this colour, light pixels transparent. */
export function makeTransparentPng({ width, height, pixels }: Raster, ink: number): Promise<Buffer> {
  const data = new Uint8Array(pixels.length * 4).fill(ink)
  for (const [index, pixel] of pixels.entries()) data[index * 4 + 3] = 255 - pixel
  return sharp(data, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer()
}

/** @param orientation Exif orientation: 6 means a turn by 90 degrees. */
export const makeJpeg = (raster: Raster, orientation = 1): Promise<Buffer> =>
  openRaster(raster).jpeg({ quality: 90 }).withMetadata({ orientation }).toBuffer()

/** A stamp is small text above the image. */
export type PdfPage =
  { readonly picture: Raster; readonly turn?: number; readonly stamp?: string } | { readonly text: string }

/** @param attached text of a file `note.txt` that is attached to the document */
export function makeScannedPdf(pages: readonly PdfPage[], attached?: string): Buffer {
  const afterPages = 4 + pages.length * 3
  const names = attached === undefined ? '' : `/Names << /EmbeddedFiles << /Names [(1) ${afterPages} 0 R] >> >>`
  const pageNumber = (index: number) => 4 + index * 3
  const kids = pages.map((_, index) => `${pageNumber(index)} 0 R`).join(' ')
  return writePdf([
    `<< /Type /Catalog /Pages 2 0 R ${names} >>`,
    `<< /Type /Pages /Count ${pages.length} /Kids [${kids}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...pages.flatMap((page, index) => {
      const number = pageNumber(index)
      const isPicture = 'picture' in page
      const stamp = isPicture && page.stamp !== undefined ? `BT /F1 6 Tf 20 12 Td (${page.stamp}) Tj ET` : ''
      const content = isPicture
        ? `q 595 0 0 842 0 0 cm /P Do Q ${stamp}`
        : `BT /F1 12 Tf 56 760 Td (${page.text}) Tj ET`
      const picture = isPicture ? page.picture : { width: 1, height: 1, pixels: new Uint8Array([255]) }
      const turn = isPicture ? (page.turn ?? 0) : 0
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Rotate ${turn} /Resources << /Font << /F1 3 0 R >> /XObject << /P ${number + 2} 0 R >> >> /Contents ${number + 1} 0 R >>`,
        { entries: '', stream: Buffer.from(content) },
        {
          entries: `/Type /XObject /Subtype /Image /Width ${picture.width} /Height ${picture.height} /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /FlateDecode`,
          stream: deflateSync(picture.pixels),
        },
      ]
    }),
    ...(attached === undefined
      ? []
      : [
          `<< /Type /Filespec /F (note.txt) /UF (note.txt) /EF << /F ${afterPages + 1} 0 R >> >>`,
          { entries: '/Type /EmbeddedFile', stream: Buffer.from(attached) },
        ]),
  ])
}
