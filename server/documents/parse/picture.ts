import sharp from 'sharp'
import { ParseFailure } from './failure.ts'
import { createRecogniser } from './ocr/recognise.ts'
import { type Raster } from './ocr/raster.ts'
import { type ParsedPart } from './page.ts'

const MAX_PIXELS = 1e8
/** Long side of what is recognised, about that of a page at 200 dpi. */
const LEAST_SIDE = 1_800
const WISHED_SIDE = 2_200
const MOST_SIDE = 4_000
/** Enlarging small pictures further adds nothing that could be read. */
const MAX_ENLARGEMENT = 3

/** Nothing else that libvips could open is a picture that we take. */
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({ operation: ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer'] })
sharp.cache(false)
sharp.concurrency(1)

/** Reads a photograph or a screenshot, as one page. */
export async function* parse(bytes: Uint8Array): AsyncGenerator<ParsedPart> {
  const raster = await decode(bytes)
  yield { pages: 1 }
  yield { recognising: 1 }
  yield { page: 1, ...(await createRecogniser().recognise(raster)) }
}

/** Upright as its camera says, grey, on white. */
async function decode(bytes: Uint8Array): Promise<Raster> {
  try {
    const open = () => sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'error' })
    const { width, height } = await open().metadata()
    const long = Math.max(width, height)
    if (width * height > MAX_PIXELS) throw new ParseFailure('too_large')
    const { data, info } = await open()
      .rotate()
      .flatten({ background: '#ffffff' })
      .resize(boundsFor(long))
      .greyscale()
      .raw()
      .toBuffer({ resolveWithObject: true })
    const { width: rasterWidth, height: rasterHeight, channels } = info
    const pixels = channels === 1 ? data : data.filter((_, index) => index % channels === 0)
    return { width: rasterWidth, height: rasterHeight, pixels: new Uint8Array(pixels) }
  } catch (error) {
    if (error instanceof ParseFailure) throw error
    const isTooLarge = error instanceof Error && /pixel limit/i.test(error.message)
    throw new ParseFailure(isTooLarge ? 'too_large' : 'damaged', { cause: error })
  }
}

function boundsFor(long: number): { width: number; height: number; fit: 'inside' } {
  const side = long < LEAST_SIDE ? Math.min(WISHED_SIDE, long * MAX_ENLARGEMENT) : Math.min(long, MOST_SIDE)
  return { width: side, height: side, fit: 'inside' }
}
