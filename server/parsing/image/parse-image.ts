import type { Raster } from '#server/parsing/ocr/raster.ts'
import { createRecogniser } from '#server/parsing/ocr/recognise.ts'
import type { ParsedPart, ParseOptions } from '#server/parsing/page.ts'
import { drawImage } from './decode-image.ts'

const MIN_SIDE = 1_800
const TARGET_SIDE = 2_200
const MAX_SIDE = 4_000
const MAX_ENLARGEMENT = 3

export async function* parse(bytes: Uint8Array, { languages }: ParseOptions): AsyncGenerator<ParsedPart> {
  const raster = await drawImage(bytes, {
    boundsFor,
    async draw(picture): Promise<Raster> {
      const { data, info } = await picture.greyscale().raw().toBuffer({ resolveWithObject: true })
      const { width, height, channels } = info
      const pixels = channels === 1 ? data : data.filter((_, index) => index % channels === 0)
      return { width, height, pixels: new Uint8Array(pixels) }
    },
  })
  yield { pages: 1 }
  yield { recognising: 1 }
  yield { page: 1, ...(await createRecogniser(languages).recognise(raster)) }
}

function boundsFor({ width, height }: { width: number; height: number }): { width: number; height: number } {
  const long = Math.max(width, height)
  const side = long < MIN_SIDE ? Math.min(TARGET_SIDE, long * MAX_ENLARGEMENT) : Math.min(long, MAX_SIDE)
  return { width: side, height: side }
}
