import { spawn } from 'node:child_process'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import { lowerPriority } from '#server/base/lower-priority.ts'
import { FAILURE_CODES, ParseFailure } from '#server/parsing/failure.ts'
import { PARSE_LIMITS } from '#server/parsing/sandbox/limits.ts'
import { sandboxFlags } from '#server/parsing/sandbox/parser-process.ts'
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

const PROCESS_FILE = path.join(import.meta.dirname, 'shrink-image-process.ts')
const REPOSITORY = path.resolve(import.meta.dirname, '../../..')

const answer = z.union([
  z.object({ width: z.int().positive(), height: z.int().positive() }),
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
  const child = spawn(
    process.execPath,
    [...sandboxFlags(limits, mimetype), PROCESS_FILE, String(MAX_SIDE), String(MAX_PIXELS)],
    { env: {}, cwd: REPOSITORY, stdio: ['pipe', 'pipe', 'pipe'] },
  )
  const watch = watchProcess(child, signal, limits, size)
  if (child.pid !== undefined) lowerPriority(child.pid)
  // The output decides whether a process that ended early failed.
  const inputSent = pipeline(given, child.stdin).catch(() => undefined)
  try {
    const [output, stderrText] = await Promise.all([buffer(child.stdout), text(child.stderr)])
    await watch.closed
    if (watch.reason !== undefined) throw watch.reason
    const end = output.indexOf('\n')
    if (end === -1) throw new ParseFailure('crashed', { cause: stderrText.slice(-500) })
    const said = answer.parse(JSON.parse(output.toString('utf8', 0, end)))
    if ('failure' in said) throw new ParseFailure(said.failure)
    return { bytes: new Uint8Array(output.subarray(end + 1)), ...said }
  } finally {
    watch.end(undefined)
    await watch.closed
    await inputSent
  }
}
