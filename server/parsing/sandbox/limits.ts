/** Watches a process that reads a file from outside: its time, its resident memory, and whether it is still wanted. */
import { type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { messageOf } from '#server/base/errors.ts'
import { ParseFailure } from '#server/parsing/failure.ts'

export interface ParseLimits {
  readonly residentBytes: number
  readonly heapMegabytes: number
  readonly timeMs: number
  readonly timeMsPerMegabyte: number
  /** For each page that OCR reads, which does not count against the other two. */
  readonly timeMsPerRecognisedPage: number
}

const WATCH_INTERVAL_MS = 50
/** How often a reader may have the time that it could not use; then it counts as stuck. */
const MOST_GRANTS = 4
const MEGABYTE = 1024 * 1024
/** Pages of Linux memory, as /proc counts them. */
const MEMORY_PAGE_BYTES = 4096

export const errorOf = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(messageOf(thrown)))

export interface Watch {
  /** Why the child was ended by us, where it was. */
  readonly reason: Error | undefined
  readonly closed: Promise<void>
  /** Stops the clock of the whole file while one page is recognised, and gives that page its own. */
  follow(isRecognising: boolean): void
  /** Ends the child; the first reason counts. */
  end(reason: Error | undefined): void
}

export function watchChild(child: ChildProcess, signal: AbortSignal, limits: ParseLimits, size: number): Watch {
  let reason: Error | undefined
  const end = (because: Error | undefined) => {
    reason ??= because
    child.kill('SIGKILL')
  }
  const onAbort = () => end(errorOf(signal.reason))
  let remainingMs = limits.timeMs + (size / MEGABYTE) * limits.timeMsPerMegabyte
  let startedAt = performance.now()
  let isRecognising = false
  let [limitMs, cpuBeforeMs, grants] = [remainingMs, cpuMsOf(child.pid) ?? 0, 0]
  // On a busy machine a low priority gets little: what counts is the processor time that it had.
  const usedMs = () => {
    const passedMs = performance.now() - startedAt
    const cpuMs = cpuMsOf(child.pid)
    return cpuMs === null ? passedMs : Math.min(passedMs, cpuMs - cpuBeforeMs)
  }
  const onTimeout = () => {
    const missingMs = limitMs - usedMs()
    if (missingMs > limitMs / 10 && grants < MOST_GRANTS) {
      grants += 1
      timer = setTimeout(onTimeout, missingMs)
    } else end(new ParseFailure('timed_out'))
  }
  let timer = setTimeout(onTimeout, limitMs)
  const follow = (recognises: boolean) => {
    if (recognises === isRecognising && !recognises) return
    if (!isRecognising) remainingMs -= usedMs()
    clearTimeout(timer)
    isRecognising = recognises
    startedAt = performance.now()
    limitMs = recognises ? limits.timeMsPerRecognisedPage : remainingMs
    cpuBeforeMs = cpuMsOf(child.pid) ?? 0
    grants = 0
    timer = setTimeout(onTimeout, limitMs)
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

const MS_PER_TICK = 10

/** Processor time from /proc (proc(5), utime and stime); null where there is none (not Linux: the clock alone counts). */
function cpuMsOf(pid: number | undefined): number | null {
  try {
    const fields = readFileSync(`/proc/${pid ?? 0}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK
  } catch {
    return null
  }
}

/** Resident memory from /proc, 0 where there is none (not Linux: the heap limit alone remains). */
async function residentBytesOf(pid: number | undefined): Promise<number> {
  const counts = await readFile(`/proc/${pid ?? 0}/statm`, 'utf8').catch(() => '')
  return Number(counts.split(' ')[1] ?? 0) * MEMORY_PAGE_BYTES
}
