import { PDFiumLibrary, type PDFiumDocument } from '@hyzyla/pdfium'
import type { Raster } from './raster.ts'

export interface PdfRasteriser {
  draw(page: number): Promise<Raster | undefined>
  close(): void
}

const POINTS_PER_INCH = 72
const RESOLUTION = 200
const MIN_SIDE = 1_600
const MAX_SIDE = 4_000
/** The library frees memory only with the whole document. */
const PAGES_PER_DOCUMENT = 16

export function createRasteriser(bytes: Uint8Array): PdfRasteriser {
  let library: ReturnType<typeof PDFiumLibrary.init> | undefined
  let document: PDFiumDocument | undefined
  let drawn = 0

  const open = async (): Promise<PDFiumDocument> => {
    if (drawn >= PAGES_PER_DOCUMENT) {
      document?.destroy()
      document = undefined
      drawn = 0
    }
    library ??= PDFiumLibrary.init()
    document ??= await (await library).loadDocument(bytes)
    drawn += 1
    return document
  }

  return {
    async draw(page) {
      const source = (await open()).getPage(page - 1)
      if (source.getObjectCount() === 0) return undefined
      const { originalWidth, originalHeight } = source.getOriginalSize()
      const long = Math.max(originalWidth, originalHeight)
      if (!(long > 0)) return undefined
      const scale = Math.max(Math.min(RESOLUTION / POINTS_PER_INCH, MAX_SIDE / long), MIN_SIDE / long)
      const { data, width, height } = await source.render({
        scale,
        colorSpace: 'Gray',
        render: 'bitmap',
        renderFormFields: false,
      })
      return { width, height, pixels: withoutPadding(data, width, height) }
    },
    close() {
      document?.destroy()
    },
  }
}

/** Rows may be padded to multiples of four bytes. */
function withoutPadding(data: Uint8Array, width: number, height: number): Uint8Array {
  const stride = Math.floor(data.length / height)
  if (stride === width) return new Uint8Array(data)
  const pixels = new Uint8Array(width * height)
  for (let row = 0; row < height; row += 1) pixels.set(data.subarray(row * stride, row * stride + width), row * width)
  return pixels
}
