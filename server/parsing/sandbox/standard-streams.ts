import { readSync, writeSync } from 'node:fs'

const CHUNK_BYTES = 1024 * 1024
const RETRY_MS = 2

/** Blocks while the other process is slow. */
function retryWhileBusy(step: () => number): number {
  for (;;) {
    try {
      return step()
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS)
    }
  }
}

/** Reads the descriptor itself: a sandboxed process has no `process.stdin`, whose class could open sockets. */
export function readStandardInput(): Buffer {
  const chunks: Buffer[] = []
  for (;;) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    const size = retryWhileBusy(() => readSync(0, chunk))
    if (size === 0) return Buffer.concat(chunks)
    chunks.push(chunk.subarray(0, size))
  }
}

/** Unsent pages would fill the memory, so this waits until the parent has read. */
export function writeStandardOutput(bytes: Uint8Array): void {
  for (let rest = bytes; rest.length > 0;) rest = rest.subarray(retryWhileBusy(() => writeSync(1, rest)))
}
