import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { toError } from '#server/base/errors.ts'
import { repeat } from '#server/base/repeat.ts'
import { ParseFailure } from '#server/parsing/failure.ts'
import { findConfinedPid, signalConfined } from './confinement.ts'
import type { ParseLimits } from './limits.ts'

const WATCH_INTERVAL_MS = 50
/** Extensions for a process that got too little processor time. */
const MAX_EXTENSIONS = 15
const MEGABYTE = 1024 * 1024
const PAGE_BYTES = 4096

export interface ProcessWatch {
  readonly reason: Error | undefined
  readonly closed: Promise<void>
  /** Ends the watch of a process that reads further files. */
  release(): void
  /** Pauses the clock of the file during OCR and gives the page its own clock. */
  setRecognising(isRecognising: boolean): void
  end(reason: Error | undefined): void
}

/** Finds the process behind the wrappers of a child, and looks no more once it is found. */
export function createPidFinder(child: ChildProcess): () => number | undefined {
  let confinedPid: number | undefined
  return () => (confinedPid ??= findConfinedPid(child.pid))
}

/** @param findPid of a child that reads several files: each look reads files of /proc and keeps the server waiting */
export function watchProcess(
  child: ChildProcess,
  signal: AbortSignal,
  limits: ParseLimits,
  size: number,
  findPid = createPidFinder(child),
): ProcessWatch {
  let reason: Error | undefined
  const end = (because: Error | undefined) => {
    reason ??= because
    signalConfined(child, 'SIGKILL')
  }
  const onAbort = () => end(toError(signal.reason))
  let remainingMs = limits.timeMs + (size / MEGABYTE) * limits.timeMsPerMegabyte
  let startedAt = performance.now()
  let isRecognising = false
  let [limitMs, cpuBeforeMs, extensions] = [remainingMs, readCpuMs(findPid()) ?? 0, 0]
  // A busy machine gives a low-priority process little time: only processor time counts.
  const usedMs = () => {
    const passedMs = performance.now() - startedAt
    const cpuMs = readCpuMs(findPid())
    return cpuMs === null ? passedMs : Math.min(passedMs, cpuMs - cpuBeforeMs)
  }
  const onTimeout = () => {
    const missingMs = limitMs - usedMs()
    if (missingMs > limitMs / 10 && extensions < MAX_EXTENSIONS) {
      extensions += 1
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
    cpuBeforeMs = readCpuMs(findPid()) ?? 0
    extensions = 0
    timer = setTimeout(onTimeout, limitMs)
  }
  const sampler = repeat(async () => {
    if ((await readResidentBytes(findPid())) > limits.residentBytes) end(new ParseFailure('out_of_memory'))
  }, WATCH_INTERVAL_MS)
  signal.addEventListener('abort', onAbort, { once: true })
  const ended = Promise.withResolvers<undefined>()
  const onError = (error: Error) => {
    reason ??= error
    onClose()
  }
  const onClose = () => {
    release()
    ended.resolve(undefined)
  }
  const release = () => {
    clearTimeout(timer)
    clearInterval(sampler)
    signal.removeEventListener('abort', onAbort)
    child.off('error', onError)
    child.off('close', onClose)
  }
  child.on('error', onError)
  child.on('close', onClose)
  return {
    get reason() {
      return reason
    },
    closed: ended.promise,
    release,
    setRecognising: follow,
    end,
  }
}

const MS_PER_TICK = 10

/** Reads utime and stime of /proc (proc(5)); null except on Linux. */
function readCpuMs(pid: number | undefined): number | null {
  try {
    const fields = readFileSync(`/proc/${pid ?? 0}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK
  } catch {
    return null
  }
}

/** From /proc: the heap limit does not bound array buffers and WebAssembly. Returns 0 except on Linux. */
export async function readResidentBytes(pid: number | undefined): Promise<number> {
  const counts = await readFile(`/proc/${pid ?? 0}/statm`, 'utf8').catch(() => '')
  return Number(counts.split(' ')[1] ?? 0) * PAGE_BYTES
}
