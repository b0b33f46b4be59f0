/** Captured before anything of a file is read: parsers have no signals. */
const abort = process.abort.bind(process)
/** The parent ends a process whose last message it has read; until then this long. */
const WAIT_FOR_PARENT_MS = 1_000

/** `process.exit` can deadlock with the compiler's threads (nodejs/node#54918). */
export function endProcess(): never {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_FOR_PARENT_MS)
  return abort()
}
