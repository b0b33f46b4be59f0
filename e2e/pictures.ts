/** Takes screenshots of the page, compares them with reviewed references, and updates those. */
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import pixelmatch from 'pixelmatch'
import type { Page } from 'playwright-core'
import { PNG } from 'pngjs'
import sharp from 'sharp'
import { expect } from 'vitest'

const REFERENCES = fileURLToPath(new URL('references', import.meta.url))

/** When set, the current screenshots become the references. */
const RENEWING = process.env['UPDATE_REFERENCES'] === '1'

/** Screenshots are compared at a quarter of their size, which hides differences below a pixel. */
const SHRINK = 4

/** Colours this close (0 to 1, in the YIQ space of pixelmatch) count as equal. */
const COLOUR_TOLERANCE = 0.1

/** Side of the squares in which differences are counted, in pixels of the reduced screenshot. */
const SQUARE = 6

/** Share of a square that may differ. More means a moved, missing or new element, not font rendering. */
const SHARE_TOLERATED = 0.1

/** An unchanged page may still be waiting for a response this long. */
const WAITS_MS = 5_000

interface Comparison {
  readonly same: boolean
  readonly worst: number
  readonly difference: Buffer
}

interface Pixels {
  readonly width: number
  readonly height: number
  readonly data: Uint8Array
}

function shrink({ width: fullWidth, height: fullHeight, data }: Pixels): Pixels {
  const [width, height] = [Math.floor(fullWidth / SHRINK), Math.floor(fullHeight / SHRINK)]
  const means = new Float64Array(width * height * 4)
  for (let y = 0; y < height * SHRINK; y += 1) {
    for (let x = 0; x < width * SHRINK; x += 1) {
      const to = (Math.floor(y / SHRINK) * width + Math.floor(x / SHRINK)) * 4
      for (let channel = 0; channel < 4; channel += 1) {
        means[to + channel] = (means[to + channel] ?? 0) + (data[(y * fullWidth + x) * 4 + channel] ?? 0) / SHRINK ** 2
      }
    }
  }
  return { width, height, data: Uint8Array.from(means, Math.round) }
}

function worstSquare({ width, height, data }: Pixels): number {
  const counts = new Map<number, number>()
  const columns = Math.ceil(width / SQUARE)
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const at = (y * width + x) * 4
      if (data[at] !== 255 || data[at + 1] !== 0 || data[at + 2] !== 0) continue
      const square = Math.floor(y / SQUARE) * columns + Math.floor(x / SQUARE)
      counts.set(square, (counts.get(square) ?? 0) + 1)
    }
  }
  return Math.max(0, ...counts.values()) / SQUARE ** 2
}

/** Compares two PNG screenshots; different sizes never match. */
export function comparePictures(actual: Buffer, reference: Buffer): Comparison {
  const [seen, wanted] = [shrink(PNG.sync.read(actual)), shrink(PNG.sync.read(reference))]
  if (seen.width !== wanted.width || seen.height !== wanted.height) {
    return { same: false, worst: 1, difference: actual }
  }
  const { width, height } = wanted
  const difference = new PNG({ width, height })
  pixelmatch(seen.data, wanted.data, difference.data, width, height, {
    threshold: COLOUR_TOLERANCE,
    includeAA: true,
    diffColor: [255, 0, 0],
  })
  const worst = worstSquare({ width, height, data: difference.data })
  return { same: worst <= SHARE_TOLERATED, worst, difference: PNG.sync.write(difference) }
}

/** A screenshot after fonts have loaded, without motion or blinking. */
export async function takePicture(page: Page): Promise<Buffer> {
  await page.evaluate(async () => {
    await document.fonts.ready
  })
  return await page.screenshot({ animations: 'disabled', caret: 'hide' })
}

/** A screenshot that equals the previous one. */
async function takeSettled(page: Page): Promise<Buffer> {
  let before = await takePicture(page)
  await expect
    .poll(async () => {
      const now = await takePicture(page)
      const settled = now.equals(before)
      before = now
      return settled
    })
    .toBe(true)
  return before
}

async function renew(file: string, picture: Buffer): Promise<void> {
  const old = await readFile(file).catch(() => null)
  if (old !== null && comparePictures(picture, old).worst === 0) return
  await writeFile(file, await sharp(picture).png({ palette: true, colours: 96, dither: 0, effort: 10 }).toBuffer())
}

let failures: Promise<string> | null = null

/** The first settled screenshot that matches the reference, or the last one before the time limit. */
async function takeAlike(page: Page, reference: Buffer): Promise<Comparison & { picture: Buffer }> {
  const givesUpAt = Date.now() + WAITS_MS
  for (;;) {
    const picture = await takeSettled(page)
    const comparison = comparePictures(picture, reference)
    if (comparison.same || Date.now() > givesUpAt) return { ...comparison, picture }
  }
}

/** Expects the page to match the reference of that name, or writes it with `UPDATE_REFERENCES=1`. */
export async function expectPicture(page: Page, name: string): Promise<void> {
  const file = path.join(REFERENCES, `${name}.png`)
  if (RENEWING) return await renew(file, await takeSettled(page))
  const reference = await readFile(file).catch(() => null)
  if (reference === null) throw new Error(`There is no reference ${name}: make it with UPDATE_REFERENCES=1.`)
  const { same, worst, difference, picture } = await takeAlike(page, reference)
  if (same) return
  failures ??= mkdtemp(path.join(tmpdir(), 'alcove-pictures-'))
  const folder = await failures
  await writeFile(path.join(folder, `${name}.actual.png`), picture)
  await writeFile(path.join(folder, `${name}.difference.png`), difference)
  throw new Error(
    `${name} does not look as its reference: ${Math.round(worst * 100)} % of one square differs. See ${folder}; if it is meant, renew it with UPDATE_REFERENCES=1.`,
  )
}
