/** Entry point: image bytes on standard input; a line of JSON and then a JPEG on standard output. */
import { ParseFailure } from '#server/parsing/failure.ts'
import { endProcess } from '#server/parsing/sandbox/end-process.ts'
import { readStandardInput, writeStandardOutput } from '#server/parsing/sandbox/standard-streams.ts'
import { drawImage } from './decode-image.ts'

const QUALITY = 85

function fitInto(side: number, pixels: number) {
  return ({ width, height }: { width: number; height: number }) => {
    const scale = Math.min(1, side / Math.max(width, height), Math.sqrt(pixels / (width * height)))
    return { width: Math.max(1, Math.floor(width * scale)), height: Math.max(1, Math.floor(height * scale)) }
  }
}

const send = (header: object): void => writeStandardOutput(Buffer.from(`${JSON.stringify(header)}\n`))

async function main(side: number, pixels: number): Promise<void> {
  try {
    const given = new Uint8Array(readStandardInput())
    const { data, info } = await drawImage(given, {
      boundsFor: fitInto(side, pixels),
      // Drops Exif metadata, for example the location.
      draw: (picture) => picture.jpeg({ quality: QUALITY }).toBuffer({ resolveWithObject: true }),
    })
    send({ width: info.width, height: info.height, bytes: data.length })
    writeStandardOutput(data)
  } catch (error) {
    send({ failure: error instanceof ParseFailure ? error.code : 'damaged' })
  }
}

const [, , side = '', pixels = ''] = process.argv
await main(Number(side), Number(pixels))
endProcess()
