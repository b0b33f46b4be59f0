import { inflateRawSync } from 'node:zlib'
import { ParseFailure } from '#server/parsing/failure.ts'
import type { ZipEntry } from './zip-directory.ts'

const MAX_ENTRY_BYTES = 150 * 1024 * 1024
const LOCAL_HEADER_BYTES = 30

/** @throws ParseFailure `too_large` beyond the limit; Error if the entry is damaged. */
export function unpack(bytes: Uint8Array, { offset, compressedSize, method }: ZipEntry): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const start = offset + LOCAL_HEADER_BYTES + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true)
  const packed = bytes.subarray(start, start + compressedSize)
  // Some programs declare empty entries as deflated.
  if (method === 0 || packed.length === 0) return packed
  try {
    return inflateRawSync(packed, { maxOutputLength: MAX_ENTRY_BYTES })
  } catch (error) {
    const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
    throw isTooLarge ? new ParseFailure('too_large', { cause: error }) : error
  }
}
