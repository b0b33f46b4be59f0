/** Bounds the output of a parser process on the server's side too: a file may have taken the process over. */
import type { Readable } from 'node:stream'
import { ParseFailure } from '#server/parsing/failure.ts'

export interface OutputBounds {
  /** One line has one page, with the places of its words. */
  readonly lineBytes: number
  readonly totalBytes: number
}

const MIB = 1024 * 1024
/** The longest text that a document may have takes a tenth of the total, and its places most of the rest. */
const OUTPUT_BOUNDS: OutputBounds = { lineBytes: 64 * MIB, totalBytes: 1024 * MIB }
const NEWLINE = 0x0a

/** Yields each complete line. @throws ParseFailure `too_large` at the byte that is too much */
export async function* readLines(
  output: Readable,
  { lineBytes, totalBytes }: OutputBounds = OUTPUT_BOUNDS,
): AsyncGenerator<string> {
  let held: Buffer[] = []
  let [heldBytes, received] = [0, 0]
  const hold = (part: Buffer): void => {
    heldBytes += part.length
    if (heldBytes > lineBytes) throw new ParseFailure('too_large', { cause: 'a line is too long' })
    held.push(part)
  }
  for await (const chunk of output as AsyncIterable<Buffer>) {
    received += chunk.length
    if (received > totalBytes) throw new ParseFailure('too_large', { cause: 'the output is too long' })
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      hold(chunk.subarray(start, end))
      yield Buffer.concat(held).toString('utf8')
      held = []
      heldBytes = 0
      start = end + 1
    }
    hold(chunk.subarray(start))
  }
}

/** The last characters of a stream, however much it carries. */
export async function readTail(output: Readable, characters: number): Promise<string> {
  let tail = ''
  for await (const chunk of output) tail = (tail + String(chunk)).slice(-characters)
  return tail
}
