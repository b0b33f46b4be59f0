import { ParseFailure } from '#server/parsing/failure.ts'
import { createByteSource } from './byte-source.ts'
import { listZipEntries, type ZipEntry } from './zip-directory.ts'

const MAX_UNPACKED_BYTES = 150 * 1024 * 1024
const MAX_RATIO = 100
const MIN_RATIO_BYTES = 8 * 1024 * 1024

/** Lists the entries without inflating them. @throws ParseFailure `damaged`, `too_large` */
export async function rejectZipBomb(bytes: Uint8Array): Promise<ZipEntry[]> {
  const entries = await listZipEntries(createByteSource(bytes))
  if (!entries) throw new ParseFailure('damaged')
  const total = entries.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0)
  const isBomb = entries.some(
    ({ compressedSize, uncompressedSize }) =>
      uncompressedSize > MIN_RATIO_BYTES && uncompressedSize > MAX_RATIO * compressedSize,
  )
  if (total > MAX_UNPACKED_BYTES || isBomb) throw new ParseFailure('too_large')
  return entries
}
