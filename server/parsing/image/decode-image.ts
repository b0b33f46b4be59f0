import sharp, { type Sharp } from 'sharp'
import { ParseFailure } from '#server/parsing/failure.ts'

const MAX_PIXELS = 1e8

/** Blocks every other format that libvips can open. */
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({ operation: ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer'] })
sharp.cache(false)
sharp.concurrency(1)

interface Size {
  readonly width: number
  readonly height: number
}

/** A mostly transparent, otherwise light image is meant for a dark background. */
const MIN_TRANSPARENT_SHARE = 0.5
const MAX_DARK_SHARE = 0.02
const LIGHT = 160
const SAMPLE_SIDE = 1_000

async function chooseBackground(picture: Sharp): Promise<string> {
  const bounds = { width: SAMPLE_SIDE, height: SAMPLE_SIDE, fit: 'inside', kernel: 'nearest' } as const
  const { data, info } = await picture
    .resize(bounds)
    .toColourspace('srgb')
    .ensureAlpha()
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true })
  let [visible, dark] = [0, 0]
  for (let at = 0; at < data.length; at += info.channels) {
    if ((data[at + info.channels - 1] ?? 0) < 128) continue
    visible += 1
    const lightness = 0.3 * (data[at] ?? 0) + 0.6 * (data[at + 1] ?? 0) + 0.1 * (data[at + 2] ?? 0)
    if (lightness < LIGHT) dark += 1
  }
  const isTransparent = visible < (1 - MIN_TRANSPARENT_SHARE) * info.width * info.height
  return isTransparent && dark <= MAX_DARK_SHARE * visible ? '#000000' : '#ffffff'
}

/** Turns upright by Exif, adds a readable background and scales. @throws ParseFailure `too_many_pixels`, `damaged` */
export async function drawImage<T>(
  bytes: Uint8Array,
  { boundsFor, draw }: { boundsFor: (size: Size) => Size; draw: (picture: Sharp) => Promise<T> },
): Promise<T> {
  try {
    const open = () => sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'error' })
    const { width, height, orientation = 1, hasAlpha } = await open().metadata()
    if (width * height > MAX_PIXELS) throw new ParseFailure('too_many_pixels')
    // Exif orientations 5 to 8 swap width and height.
    const upright = orientation >= 5 ? { width: height, height: width } : { width, height }
    const bounds = { ...boundsFor(upright), fit: 'inside' } as const
    const background = hasAlpha ? await chooseBackground(open()) : '#ffffff'
    return await draw(open().rotate().flatten({ background }).resize(bounds))
  } catch (error) {
    if (error instanceof ParseFailure) throw error
    const isTooLarge = error instanceof Error && /pixel limit/i.test(error.message)
    throw new ParseFailure(isTooLarge ? 'too_many_pixels' : 'damaged', { cause: error })
  }
}
