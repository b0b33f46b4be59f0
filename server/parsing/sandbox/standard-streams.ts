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

const LINE_BYTES = 64 * 1024
const NEWLINE = 0x0a
const line = Buffer.alloc(LINE_BYTES)

/** Reads up to a newline and nothing after it; undefined at the end of the input, or where no line fits. */
export function readLine(): string | undefined {
  for (let length = 0; length < LINE_BYTES; length += 1) {
    const size = retryWhileBusy(() => readSync(0, line, length, 1, null))
    if (size === 0) return undefined
    if (line[length] === NEWLINE) return line.toString('utf8', 0, length)
  }
  return undefined
}

/** Undefined if the input ends before. */
export function readExactly(size: number): Uint8Array | undefined {
  const bytes = new Uint8Array(size)
  for (let start = 0; start < size;) {
    const read = retryWhileBusy(() => readSync(0, bytes, start, size - start, null))
    if (read === 0) return undefined
    start += read
  }
  return bytes
}
