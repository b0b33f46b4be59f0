/** The native decoder of pictures, for processes that read a file and can do nothing else. */
import sharp, { type Sharp } from 'sharp'
import { ParseFailure } from './failure.ts'

const MAX_PIXELS = 1e8

/** Nothing else that libvips could open is a picture that we take. */
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({ operation: ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer'] })
sharp.cache(false)
sharp.concurrency(1)

interface Size {
  readonly width: number
  readonly height: number
}

/**
 * A picture upright as its camera says and on white, made smaller or larger, as `draw` turns it into bytes.
 * @throws ParseFailure `too_large` or `damaged`
 */
export async function drawPicture<T>(
  bytes: Uint8Array,
  { boundsFor, draw }: { boundsFor: (size: Size) => Size; draw: (picture: Sharp) => Promise<T> },
): Promise<T> {
  try {
    const open = () => sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'error' })
    const { width, height, orientation = 1 } = await open().metadata()
    if (width * height > MAX_PIXELS) throw new ParseFailure('too_large')
    // From 5 on, what the camera calls its height lies across.
    const upright = orientation >= 5 ? { width: height, height: width } : { width, height }
    const bounds = { ...boundsFor(upright), fit: 'inside' } as const
    return await draw(open().rotate().flatten({ background: '#ffffff' }).resize(bounds))
  } catch (error) {
    if (error instanceof ParseFailure) throw error
    const isTooLarge = error instanceof Error && /pixel limit/i.test(error.message)
    throw new ParseFailure(isTooLarge ? 'too_large' : 'damaged', { cause: error })
  }
}
