/**
 * Reads small files of one person and one type in one process, one after the other: starting a process takes a hundred
 * times as long as reading a small file.
 *
 * A result counts only if the process read the file to its end within small limits. Otherwise the caller reads the file in
 * a process of its own, with the full limits, which alone decides that a file cannot be read: no file is judged by a
 * process that read another one before. `reused-parser-main.ts` says what is checked between two files, and
 * docs/decisions/018-many-files-in-one-parser-process.md what that does not prevent.
 */
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import type { Readable } from 'node:stream'
import type { BackgroundThrottle } from '#server/base/background-throttling.ts'
import type { ParsedPart, ParseOptions } from '#server/parsing/page.ts'
import { signalConfined } from './confinement.ts'
import type { ParseLimits } from './limits.ts'
import { isImage, startReusedParser } from './parser-process.ts'
import type { FileHeader } from './read-files.ts'
import { readMessage } from './read-message.ts'
import { readLines } from './read-output.ts'
import { createPidFinder, readResidentBytes, watchProcess } from './watch-process.ts'

export interface ReusableRun {
  readonly owner: string
  readonly mimetype: string
  readonly size: number
  readonly open: () => Promise<Readable>
  readonly options: ParseOptions
  readonly limits: ParseLimits
  readonly signal: AbortSignal
  readonly onProcess?: (pid: number) => void
}

export interface ReusedParsers {
  /** Undefined if the file must be read in a process of its own. @throws the signal's reason if aborted */
  read(run: ReusableRun): Promise<readonly ParsedPart[] | undefined>
  stop(): void
}

export interface ReuseLimits {
  readonly filesPerProcess: number
  /** A process with half of it after a file is replaced, since libraries may keep something of each. */
  readonly residentBytes: number
  readonly timeMs: number
  readonly outputBytes: number
  /** From the end of a file until the process is ready for another. */
  readonly settleMs: number
  readonly idleMs: number
  readonly idleProcesses: number
}

const MIB = 1024 * 1024
const MAX_FILE_BYTES = MIB

const REUSE_LIMITS: ReuseLimits = {
  filesPerProcess: 100,
  residentBytes: 400 * MIB,
  timeMs: 5_000,
  outputBytes: 8 * MIB,
  settleMs: 2_000,
  idleMs: 10_000,
  idleProcesses: 2,
}

/** Whether the file may share a process. Pictures need native code and OCR. */
export const isSmall = ({ mimetype, size }: { readonly mimetype: string; readonly size: number }): boolean =>
  size <= MAX_FILE_BYTES && !isImage(mimetype)

const kindOf = ({ owner, mimetype, limits }: ReusableRun): string => `${owner} ${mimetype} ${limits.heapMegabytes}`

interface ReusedParsersOptions {
  readonly backgroundThrottle?: BackgroundThrottle
  readonly reuse?: Partial<ReuseLimits>
  readonly startProcess?: typeof startReusedParser
}

interface ReusedParser {
  readonly kind: string
  readonly read: (run: ReusableRun, bytes: Uint8Array) => Promise<readonly ParsedPart[] | undefined>
  /** Whether the process said so after its last file, and neither wrote nor grew beyond its bounds. */
  readonly isReady: () => Promise<boolean>
  readonly end: () => void
}

export function createReusedParsers({
  backgroundThrottle,
  reuse = {},
  startProcess = startReusedParser,
}: ReusedParsersOptions = {}): ReusedParsers {
  const bounds = { ...REUSE_LIMITS, ...reuse }
  const living = new Set<ReusedParser>()
  const idle = new Map<ReusedParser, NodeJS.Timeout>()

  function start(run: ReusableRun): ReusedParser {
    const parser = followProcess(startProcess(run, backgroundThrottle), run, bounds, () => {
      forgetIdle(parser)
      living.delete(parser)
    })
    living.add(parser)
    return parser
  }

  function forgetIdle(parser: ReusedParser): void {
    clearTimeout(idle.get(parser))
    idle.delete(parser)
  }

  function take(run: ReusableRun): ReusedParser {
    const kind = kindOf(run)
    const found = [...idle.keys()].find((parser) => parser.kind === kind)
    if (!found) return start(run)
    forgetIdle(found)
    return found
  }

  function keep(parser: ReusedParser): void {
    if (!living.has(parser)) return
    idle.set(parser, setTimeout(parser.end, bounds.idleMs).unref())
    const [oldest] = idle.keys()
    if (idle.size > bounds.idleProcesses) oldest?.end()
  }

  return {
    async read(run) {
      run.signal.throwIfAborted()
      const bytes = await readBytes(run)
      if (bytes === undefined) return undefined
      const parser = take(run)
      const parts = await parser.read(run, bytes)
      if (await parser.isReady()) keep(parser)
      else parser.end()
      run.signal.throwIfAborted()
      return parts
    },
    stop() {
      for (const parser of living) parser.end()
      living.clear()
    },
  }
}

/** Undefined if there are more bytes than the row says. */
async function readBytes({ open, size }: ReusableRun): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of (await open()) as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > size) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function followProcess(
  child: ChildProcessWithoutNullStreams,
  run: ReusableRun,
  bounds: ReuseLimits,
  onEnd: () => void,
): ReusedParser {
  const { limits } = run
  const lines = readLines(child.stdout, { lineBytes: bounds.outputBytes, totalBytes: Number.POSITIVE_INFINITY })
  const fileLimits = {
    ...limits,
    residentBytes: Math.min(limits.residentBytes, bounds.residentBytes),
    timeMs: Math.min(limits.timeMs, bounds.timeMs),
    timeMsPerMegabyte: 0,
  }
  let files = 0
  let isReady = false
  const findPid = createPidFinder(child)
  let settling: NodeJS.Timeout | undefined
  const end = () => {
    isReady = false
    signalConfined(child, 'SIGKILL')
    onEnd()
  }
  child.on('error', end)
  child.on('close', end)
  // A process that ended is judged by its messages.
  child.stdin.on('error', () => undefined)
  child.stderr.resume()

  async function readParts(bytes: Uint8Array, options: ParseOptions): Promise<ParsedPart[] | undefined> {
    const header: FileHeader = { options, size: bytes.length }
    child.stdin.write(`${JSON.stringify(header)}\n`)
    child.stdin.write(bytes)
    const parts: ParsedPart[] = []
    let ending: 'done' | 'failure' | undefined
    for (let received = 0; received <= bounds.outputBytes;) {
      const next = await lines.next()
      if (next.done === true) return ending === 'done' ? parts : undefined
      received += next.value.length
      const message = readMessage(next.value)
      if ('ready' in message) {
        isReady = ending !== undefined
        return ending === 'done' ? parts : undefined
      }
      if (ending !== undefined) return undefined
      if ('part' in message) parts.push(message.part)
      else {
        ending = 'done' in message ? 'done' : 'failure'
        settling = setTimeout(end, bounds.settleMs)
      }
    }
    return undefined
  }

  return {
    kind: kindOf(run),
    async read({ options, signal, onProcess }, bytes) {
      files += 1
      isReady = false
      if (child.pid !== undefined) onProcess?.(child.pid)
      const watch = watchProcess(child, signal, fileLimits, 0, findPid)
      try {
        return await readParts(bytes, options)
      } catch {
        // Too much output, or none that the protocol knows: a process of its own decides about the file.
        return undefined
      } finally {
        clearTimeout(settling)
        watch.release()
      }
    },
    async isReady() {
      if (!isReady || files >= bounds.filesPerProcess || child.stdout.readableLength > 0) return false
      return (await readResidentBytes(findPid())) <= bounds.residentBytes / 2
    },
    end,
  }
}
