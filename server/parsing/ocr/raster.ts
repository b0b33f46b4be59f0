/** Grey images in memory: one byte per pixel, row by row, 255 is white. */

export interface Raster {
  readonly width: number
  readonly height: number
  readonly pixels: Uint8Array
}

export interface Point {
  readonly x: number
  readonly y: number
}

const DARK = 128
const TILE = 32
const LIGHTER_THAN_PAPER = 0.15
const MIN_PAPER_LIGHTNESS = 128
const MIN_INK_SHARE = 0.0001

export function isBlank({ pixels }: Raster): boolean {
  const enough = Math.max(20, pixels.length * MIN_INK_SHARE)
  const [first = 255] = pixels
  let different = 0
  for (const pixel of pixels) {
    if (Math.abs(pixel - first) < 48) continue
    different += 1
    if (different > enough) return false
  }
  return true
}

/** Most pixels of a dark background are darker; a shaded page is lighter. */
const DARK_GROUND = 100
const SAMPLE_STEP = 7

export function isDarkGround({ pixels }: Raster): boolean {
  let [dark, all] = [0, 0]
  for (let at = 0; at < pixels.length; at += SAMPLE_STEP) {
    all += 1
    if ((pixels[at] ?? 255) < DARK_GROUND) dark += 1
  }
  return 2 * dark > all
}

export const invert = ({ width, height, pixels }: Raster): Raster => ({
  width,
  height,
  pixels: pixels.map((pixel) => 255 - pixel),
})

/** Whitens shaded paper and coloured cells tile by tile; the engine takes shaded cells for images. */
export function whitenPaper({ width, height, pixels }: Raster): Raster {
  const white = new Uint8Array(pixels.length)
  const counts = new Uint32Array(256)
  for (let top = 0; top < height; top += TILE) {
    for (let left = 0; left < width; left += TILE) {
      const [bottom, right] = [Math.min(height, top + TILE), Math.min(width, left + TILE)]
      counts.fill(0)
      for (let y = top; y < bottom; y += 1)
        for (let x = left; x < right; x += 1) addOne(counts, pixels[y * width + x] ?? 0)
      let lighter = 0
      let paper = 255
      const limit = (bottom - top) * (right - left) * LIGHTER_THAN_PAPER
      for (; paper > MIN_PAPER_LIGHTNESS; paper -= 1) {
        lighter += counts[paper] ?? 0
        if (lighter > limit) break
      }
      for (let y = top; y < bottom; y += 1)
        for (let x = left; x < right; x += 1)
          white[y * width + x] = Math.min(255, ((pixels[y * width + x] ?? 0) * 255) / paper)
    }
  }
  return { width, height, pixels: white }
}

function addOne(counts: Uint32Array, at: number): void {
  counts[at] = (counts[at] ?? 0) + 1
}

export type QuarterTurn = 0 | 90 | 180 | 270

export function turnQuarter(raster: Raster, degrees: QuarterTurn): Raster {
  if (degrees === 0) return raster
  const { width, height, pixels } = raster
  const isUpright = degrees === 180
  const turned = { width: isUpright ? width : height, height: isUpright ? height : width }
  const result = new Uint8Array(pixels.length)
  for (let y = 0; y < turned.height; y += 1) {
    for (let x = 0; x < turned.width; x += 1) {
      const from = beforeQuarterTurn({ x, y }, degrees, { width: width - 1, height: height - 1 })
      result[y * turned.width + x] = pixels[from.y * width + from.x] ?? 255
    }
  }
  return { ...turned, pixels: result }
}

/** Inverse of `turnQuarter` for a point; width and height are measured between outermost points. */
export function beforeQuarterTurn(
  { x, y }: Point,
  degrees: QuarterTurn,
  { width, height }: { readonly width: number; readonly height: number },
): Point {
  switch (degrees) {
    case 0:
      return { x, y }
    case 90:
      return { x: y, y: height - x }
    case 180:
      return { x: width - x, y: height - y }
    case 270:
      return { x: width - y, y: x }
  }
}

/** Turns clockwise by an angle in radians around the middle, onto white, without cropping. */
export function turnFreely(raster: Raster, angle: number): Raster {
  const { width, height, pixels } = raster
  const [sin, cos] = [Math.abs(Math.sin(angle)), Math.abs(Math.cos(angle))]
  const turned = {
    width: Math.ceil(width * cos + height * sin),
    height: Math.ceil(width * sin + height * cos),
  }
  const result = new Uint8Array(turned.width * turned.height).fill(255)
  for (let y = 0; y < turned.height; y += 1) {
    for (let x = 0; x < turned.width; x += 1) {
      const from = beforeFreeTurn({ x, y }, angle, turned, raster)
      const [left, top] = [Math.floor(from.x), Math.floor(from.y)]
      if (left < 0 || top < 0 || left + 1 >= width || top + 1 >= height) continue
      const at = top * width + left
      const [right, down] = [from.x - left, from.y - top]
      const above = (pixels[at] ?? 255) * (1 - right) + (pixels[at + 1] ?? 255) * right
      const below = (pixels[at + width] ?? 255) * (1 - right) + (pixels[at + width + 1] ?? 255) * right
      result[y * turned.width + x] = above * (1 - down) + below * down
    }
  }
  return { ...turned, pixels: result }
}

interface Size {
  readonly width: number
  readonly height: number
}

export function beforeFreeTurn({ x, y }: Point, angle: number, turned: Size, original: Size): Point {
  const [sin, cos] = [Math.sin(-angle), Math.cos(-angle)]
  const [right, down] = [x - turned.width / 2, y - turned.height / 2]
  return { x: right * cos - down * sin + original.width / 2, y: right * sin + down * cos + original.height / 2 }
}

const MAX_SKEW_DEGREES = 20
const SKEW_POINTS = 40_000
const BIN_PIXELS = 4
const MIN_SHARPNESS_GAIN = 1.25
const MIN_SKEW_DEGREES = 0.7

/** Returns the clockwise skew in radians, 0 if small or unclear: the angle with the sharpest row profile. */
export function measureSkew({ width, height, pixels }: Raster): number {
  const points: Point[] = []
  for (let y = 0; y < height; y += 2)
    for (let x = 0; x < width; x += 2) if ((pixels[y * width + x] ?? 255) < DARK) points.push({ x, y })
  const step = Math.max(1, Math.floor(points.length / SKEW_POINTS))
  const ink = points.filter((_, index) => index % step === 0)
  if (ink.length < 200) return 0
  const offset = Math.ceil(width * Math.sin(radians(MAX_SKEW_DEGREES + 1)))
  const bins = new Uint32Array(Math.ceil((height + 2 * offset + width) / BIN_PIXELS))
  const sharpness = (degrees: number): number => {
    const [sin, cos] = [Math.sin(radians(degrees)), Math.cos(radians(degrees))]
    bins.fill(0)
    for (const { x, y } of ink) addOne(bins, Math.floor((y * cos - x * sin + offset) / BIN_PIXELS))
    let sum = 0
    for (let bin = 1; bin < bins.length; bin += 1) sum += ((bins[bin] ?? 0) - (bins[bin - 1] ?? 0)) ** 2
    return sum
  }
  const coarse = best(range(-MAX_SKEW_DEGREES, MAX_SKEW_DEGREES, 1), sharpness)
  const fine = best(range(coarse - 1, coarse + 1, 0.2), sharpness)
  const isClear = Math.abs(fine) >= MIN_SKEW_DEGREES && sharpness(fine) > MIN_SHARPNESS_GAIN * sharpness(0)
  return isClear ? radians(fine) : 0
}

const radians = (degrees: number) => (degrees * Math.PI) / 180

const range = (from: number, to: number, step: number): number[] =>
  Array.from({ length: Math.round((to - from) / step) + 1 }, (_, index) => from + index * step)

function best(candidates: readonly number[], score: (candidate: number) => number): number {
  const scores = candidates.map(score)
  return candidates[scores.indexOf(Math.max(...scores))] ?? 0
}
