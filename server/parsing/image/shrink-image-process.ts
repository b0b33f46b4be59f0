/** Entry point: image bytes on standard input; a line of JSON and then a JPEG on standard output. */
import { buffer } from 'node:stream/consumers'
import { ParseFailure } from '#server/parsing/failure.ts'
import { blockNetwork } from '#server/parsing/sandbox/block-network.ts'
import { endProcess } from '#server/parsing/sandbox/end-process.ts'
import { drawImage } from './decode-image.ts'

const QUALITY = 85

function fitInto(side: number, pixels: number) {
  return ({ width, height }: { width: number; height: number }) => {
    const scale = Math.min(1, side / Math.max(width, height), Math.sqrt(pixels / (width * height)))
    return { width: Math.max(1, Math.floor(width * scale)), height: Math.max(1, Math.floor(height * scale)) }
  }
}

function send(...parts: readonly (string | Uint8Array)[]): Promise<void> {
  const whole = Buffer.concat(parts.map((part) => Buffer.from(part)))
  return new Promise((resolve) => process.stdout.end(whole, resolve))
}

async function main(side: number, pixels: number): Promise<void> {
  blockNetwork()
  try {
    const given = new Uint8Array(await buffer(process.stdin))
    const { data, info } = await drawImage(given, {
      boundsFor: fitInto(side, pixels),
      // Drops Exif metadata, for example the location.
      draw: (picture) => picture.jpeg({ quality: QUALITY }).toBuffer({ resolveWithObject: true }),
    })
    await send(`${JSON.stringify({ width: info.width, height: info.height })}\n`, data)
  } catch (error) {
    await send(`${JSON.stringify({ failure: error instanceof ParseFailure ? error.code : 'damaged' })}\n`)
  }
}

const [, , side = '', pixels = ''] = process.argv
await main(Number(side), Number(pixels))
endProcess()
