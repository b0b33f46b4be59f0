import { type FileHandle } from 'node:fs/promises'
import { type ByteRange } from './store.ts'

/** Larger than the default of streams: each piece that is read costs a turn of the thread pool. */
const PIECE_BYTES = 256 * 1024

/**
 * Part of a file, at least one byte, as a byte stream: a reader that brings memory has it filled. The file is closed once
 * the part was read, nobody wants more of it, or it cannot be read on.
 */
export function streamFile(file: FileHandle, { start, end }: ByteRange): ReadableStream<Uint8Array> {
  let position = start

  async function fill(view: Uint8Array): Promise<number> {
    const { bytesRead } = await file.read(view, 0, Math.min(view.byteLength, end + 1 - position), position)
    // Its length has been promised by now.
    if (bytesRead === 0) throw new RangeError('the file ends before its part does')
    position += bytesRead
    return bytesRead
  }

  return new ReadableStream({
    type: 'bytes',
    autoAllocateChunkSize: PIECE_BYTES,
    async pull(controller) {
      const { byobRequest } = controller
      if (!byobRequest?.view) throw new TypeError('bytes were asked for without memory for them')
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
