/**
 * Reads one file in a process of its own, so that a hostile or broken file can neither take the server's memory nor its
 * time: Node's permission model, an empty environment, low priority, a heap limit, and, because a heap limit does not
 * bound array buffers and wasm, the resident memory watched from outside.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import { itemRun, sheetRow, wordBox } from '#contract/document.ts'
import { UPLOAD_TYPES } from '#contract/limits.ts'
import { codeOf, messageOf } from '#server/base/errors.ts'
import { FAILURE_CODES, ParseFailure } from './failure.ts'
import { type ParsedPart } from './page.ts'

export interface ParseLimits {
  readonly residentBytes: number
  readonly heapMegabytes: number
  readonly timeMs: number
  readonly timeMsPerMegabyte: number
  /** For each page that OCR reads, which does not count against the other two. */
  readonly timeMsPerRecognisedPage: number
}

export const PARSE_LIMITS: ParseLimits = {
  residentBytes: 1024 * 1024 * 1024,
  heapMegabytes: 640,
  timeMs: 45_000,
  timeMsPerMegabyte: 5_000,
  timeMsPerRecognisedPage: 120_000,
}

export interface ParserRun {
  readonly bytes: Readable
  readonly size: number
  readonly mimetype: string
  readonly signal: AbortSignal
  readonly limits?: ParseLimits
  /** Told the id of the process once it runs. */
  readonly onProcess?: (pid: number) => void
}

const WATCH_INTERVAL_MS = 50
const MEGABYTE = 1024 * 1024
/** Pages of Linux memory, as /proc counts them. */
const MEMORY_PAGE_BYTES = 4096

const childMessage = z.union([
  z.object({
    part: z.union([
      z.object({
        page: z.int(),
        text: z.string(),
        items: z.array(itemRun).optional(),
        headings: z.array(z.tuple([z.int(), z.string()])).optional(),
        rows: z.array(sheetRow).optional(),
        boxes: z.array(wordBox).optional(),
        confidence: z.int().optional(),
        isCut: z.literal(true).optional(),
      }),
      z.object({ pages: z.int() }),
      z.object({ recognising: z.int() }),
    ]),
  }),
  z.object({ failure: z.enum(FAILURE_CODES), cause: z.string().optional() }),
  z.object({ done: z.literal(true) }),
])

const CHILD_FILE = path.join(import.meta.dirname, 'child.ts')
const REPOSITORY = path.resolve(import.meta.dirname, '../../..')

/** What the child may read: the libraries, our readers, and the package.json that names their imports. */
const READABLE = [
  ...nodeModulesFolders(),
  path.join(REPOSITORY, 'server', 'documents'),
  path.join(REPOSITORY, 'contract'),
  path.join(REPOSITORY, 'package.json'),
]

/** Installed as a dependency, our libraries may lie in a node_modules further up. */
function nodeModulesFolders(): string[] {
  const folders: string[] = []
  for (let folder = REPOSITORY; ; folder = path.dirname(folder)) {
    const candidate = path.join(folder, 'node_modules')
    if (existsSync(candidate)) folders.push(candidate)
    if (folder === path.dirname(folder)) return folders
  }
}

/** Decoding pictures takes a native library; no other reader may load one. */
const NATIVE_TYPES = new Set<string>([UPLOAD_TYPES.png, UPLOAD_TYPES.jpg])

/** How Node is told to let the child read the libraries and do nothing else. */
export const readerFlags = ({ heapMegabytes }: ParseLimits, mimetype: string): string[] => [
  '--permission',
  ...(NATIVE_TYPES.has(mimetype) ? ['--allow-addons'] : []),
  ...READABLE.map((folder) => `--allow-fs-read=${folder}`),
  `--max-old-space-size=${heapMegabytes}`,
  '--disable-warning=ExperimentalWarning',
  '--disable-warning=SecurityWarning',
]

/**
 * Yields the number of pages, then the pages in order.
 * @throws ParseFailure where the file is to blame, the signal's reason where it was aborted, any other error where
 *   another try may help.
 */
export async function* runParser({
  bytes,
  size,
  mimetype,
  signal,
  limits = PARSE_LIMITS,
  onProcess,
}: ParserRun): AsyncGenerator<ParsedPart> {
  signal.throwIfAborted()
  const child = spawn(process.execPath, [...readerFlags(limits, mimetype), CHILD_FILE, mimetype], {
    env: {},
    cwd: REPOSITORY,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const watch = watchChild(child, signal, limits, size)
  if (child.pid !== undefined) {
    lowerPriority(child.pid)
    onProcess?.(child.pid)
  }
  const feeding = pipeline(bytes, child.stdin).catch((error: unknown) => {
    // A child that ended early has said why, or is judged by how it ended.
    if (codeOf(error) !== 'EPIPE' && codeOf(error) !== 'ERR_STREAM_PREMATURE_CLOSE' && codeOf(error) !== 'ECONNRESET')
      watch.end(errorOf(error))
  })
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-2000)))
  try {
    let isDone = false
    for await (const line of createInterface({ input: child.stdout, crlfDelay: Infinity })) {
      if (watch.reason !== undefined) break
      const message = childMessage.parse(JSON.parse(line))
      if ('part' in message) {
        watch.follow(message.part)
        yield withoutUndefined(message.part)
      }
      if ('failure' in message) throw new ParseFailure(message.failure, { cause: message.cause })
      if ('done' in message) isDone = true
    }
    await watch.closed
    if (watch.reason !== undefined) throw watch.reason
    if (isDone) return
    // An exhausted heap ends a Node process by SIGABRT, before it can say anything.
    if (child.signalCode === 'SIGABRT' || /heap out of memory|allocation failed/i.test(complaint))
      throw new ParseFailure('out_of_memory')
    throw new Error(
      `the reader of a ${mimetype} ended early (${child.signalCode ?? child.exitCode ?? 'not started'}): ${complaint.slice(-500)}`,
    )
  } finally {
    watch.end(undefined)
    await watch.closed
    await feeding
  }
}

type ParsedMessage = Extract<z.infer<typeof childMessage>, { part: unknown }>['part']

/** Optional properties are absent, never undefined, in our own types. */
function withoutUndefined(part: ParsedMessage): ParsedPart {
  if (!('text' in part)) return part
  const { page, text, items, headings, rows, boxes, confidence, isCut } = part
  return {
    page,
    text,
    ...(items ? { items } : {}),
    ...(headings ? { headings } : {}),
    ...(rows ? { rows } : {}),
    ...(boxes ? { boxes } : {}),
    ...(confidence === undefined ? {} : { confidence }),
    ...(isCut ? { isCut } : {}),
  }
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch (error) {
    // It may be over already.
    if (codeOf(error) !== 'ESRCH' && codeOf(error) !== 'ERR_SYSTEM_ERROR') throw error
  }
}

const errorOf = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(messageOf(thrown)))

interface Watch {
  /** Why the child was ended by us, where it was. */
  readonly reason: Error | undefined
  readonly closed: Promise<void>
  /** Stops the clock of the whole file while one page is recognised, and gives that page its own. */
  follow(part: ParsedMessage): void
  /** Ends the child; the first reason counts. */
  end(reason: Error | undefined): void
}

function watchChild(child: ChildProcess, signal: AbortSignal, limits: ParseLimits, size: number): Watch {
  let reason: Error | undefined
  const end = (because: Error | undefined) => {
    reason ??= because
    child.kill('SIGKILL')
  }
  const onAbort = () => end(errorOf(signal.reason))
  let remainingMs = limits.timeMs + (size / MEGABYTE) * limits.timeMsPerMegabyte
  let startedAt = performance.now()
  let isRecognising = false
  const onTimeout = () => end(new ParseFailure('timed_out'))
  let timer = setTimeout(onTimeout, remainingMs)
  const follow = (part: ParsedMessage) => {
    const recognises = 'recognising' in part
    if (recognises === isRecognising && !recognises) return
    if (!isRecognising) remainingMs -= performance.now() - startedAt
    clearTimeout(timer)
    isRecognising = recognises
    startedAt = performance.now()
    timer = setTimeout(onTimeout, recognises ? limits.timeMsPerRecognisedPage : remainingMs)
  }
  const sampler = setInterval(() => {
    void residentBytesOf(child.pid).then((resident) => {
      if (resident > limits.residentBytes) end(new ParseFailure('out_of_memory'))
    })
  }, WATCH_INTERVAL_MS)
  signal.addEventListener('abort', onAbort, { once: true })
  const closed = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      reason ??= error
      resolve()
    })
    child.once('close', () => resolve())
  }).finally(() => {
    clearTimeout(timer)
    clearInterval(sampler)
    signal.removeEventListener('abort', onAbort)
  })
  return {
    get reason() {
      return reason
    },
    closed,
    follow,
    end,
  }
}

/** Resident memory from /proc, 0 where there is none (not Linux: the heap limit alone remains). */
async function residentBytesOf(pid: number | undefined): Promise<number> {
  const counts = await readFile(`/proc/${pid ?? 0}/statm`, 'utf8').catch(() => '')
  return Number(counts.split(' ')[1] ?? 0) * MEMORY_PAGE_BYTES
}
