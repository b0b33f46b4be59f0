import type { FileHandle } from 'node:fs/promises'
import type { ByteRange } from './store.ts'

/** Larger than the default: each chunk costs a turn of the thread pool. */
const CHUNK_BYTES = 256 * 1024

/** Needs a range of at least one byte; closes the file at the end, on cancel and on failure. */
export function streamFile(file: FileHandle, { start, end }: ByteRange): ReadableStream<Uint8Array> {
  let position = start

  async function fill(view: Uint8Array): Promise<number> {
    const { bytesRead } = await file.read(view, 0, Math.min(view.byteLength, end + 1 - position), position)
    if (bytesRead === 0) throw new RangeError('the file ends before the range does')
    position += bytesRead
    return bytesRead
  }

  return new ReadableStream({
    type: 'bytes',
    autoAllocateChunkSize: CHUNK_BYTES,
    async pull(controller) {
      const { byobRequest } = controller
      if (!byobRequest?.view) throw new TypeError('the reader brought no buffer')
      try {
        const { buffer, byteOffset, byteLength } = byobRequest.view
        byobRequest.respond(await fill(new Uint8Array(buffer, byteOffset, byteLength)))
      } catch (error) {
        await file.close()
        throw error
      }
      if (position <= end) return
      controller.close()
      await file.close()
    },
    cancel: () => file.close(),
  })
}
