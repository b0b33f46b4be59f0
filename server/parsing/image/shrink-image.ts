import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import { FAILURE_CODES, ParseFailure } from '#server/parsing/failure.ts'
import { PARSE_LIMITS } from '#server/parsing/sandbox/limits.ts'
import { SHRINK_IMAGE_FILE, startSandboxed } from '#server/parsing/sandbox/parser-process.ts'
import { readTail } from '#server/parsing/sandbox/read-output.ts'
import { watchProcess } from '#server/parsing/sandbox/watch-process.ts'

export interface ShrunkImage {
  readonly bytes: Uint8Array
  readonly width: number
  readonly height: number
}

/** Providers shrink larger images themselves. */
const MAX_SIDE = 1_568
const MAX_PIXELS = 1_150_000
const TIME_MS = 20_000
const MAX_HEADER_BYTES = 1_024
/** Far more than a picture of so few pixels takes. */
const MAX_SHRUNK_BYTES = 16 * 1024 * 1024

const answer = z.union([
  z.object({ width: z.int().positive(), height: z.int().positive(), bytes: z.int().nonnegative() }),
  z.object({ failure: z.enum(FAILURE_CODES) }),
])

interface ImageSource {
  readonly open: () => Promise<Readable>
  readonly size: number
  readonly mimetype: string
  readonly signal: AbortSignal
}

/** @throws ParseFailure if the file is at fault, the signal's reason if aborted. */
export async function shrinkImage({ open, size, mimetype, signal }: ImageSource): Promise<ShrunkImage> {
  signal.throwIfAborted()
  const given = await open()
  const limits = { ...PARSE_LIMITS, timeMs: TIME_MS }
  const child = startSandboxed(limits, mimetype, [SHRINK_IMAGE_FILE, String(MAX_SIDE), String(MAX_PIXELS)])
  const watch = watchProcess(child, signal, limits, size)
  // The output decides whether a process that ended early failed.
  const inputSent = pipeline(given, child.stdin).catch(() => undefined)
  const stderrText = readTail(child.stderr, 500)
  try {
    const shrunk = await readAnswer(child.stdout)
    if (shrunk) return shrunk
    await watch.closed
    throw watch.reason ?? new ParseFailure('crashed', { cause: await stderrText })
  } finally {
    watch.end(undefined)
    await watch.closed
    await inputSent
  }
}

/** Returns undefined if the process ends before its answer is complete. @throws ParseFailure that the process reports */
async function readAnswer(output: Readable): Promise<ShrunkImage | undefined> {
  const chunks: Buffer[] = []
  let header: Extract<z.infer<typeof answer>, { bytes: number }> | undefined
  let [start, received] = [0, 0]
  for await (const chunk of output) {
    chunks.push(chunk as Buffer)
    received += (chunk as Buffer).length
    if (!header) {
      const whole = Buffer.concat(chunks.splice(0))
      chunks.push(whole)
      const end = whole.indexOf('\n')
      if (end === -1 && whole.length <= MAX_HEADER_BYTES) continue
      if (end === -1 || end > MAX_HEADER_BYTES) throw new ParseFailure('crashed', { cause: 'the answer is too long' })
      const said = answer.parse(JSON.parse(whole.toString('utf8', 0, end)))
      if ('failure' in said) throw new ParseFailure(said.failure)
      if (said.bytes > MAX_SHRUNK_BYTES) throw new ParseFailure('crashed', { cause: 'the answer is too long' })
      header = said
      start = end + 1
    }
    if (received < start + header.bytes) continue
    const { width, height, bytes } = header
    return { bytes: new Uint8Array(Buffer.concat(chunks).subarray(start, start + bytes)), width, height }
  }
  return undefined
}
