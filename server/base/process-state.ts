import { readFile } from 'node:fs/promises'
import { codeOf } from '#server/base/errors.ts'

/** Positions in /proc/<pid>/stat after the name of the command (proc(5) counts from 1 and has `state` third). */
const STATE = 0
const THREADS = 17
const START_TIME = 19

/**
 * When a running process started, in clock ticks since boot: tells it from a later process with the same number.
 * @returns undefined where no process of that number runs, and on systems without /proc.
 */
export async function startOfProcess(pid: number): Promise<string | undefined> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  const fields = status?.slice(status.lastIndexOf(')') + 2).split(' ') ?? []
  // A killed process stays listed as a zombie until its parent asks for it, but holds no file, lock or port.
  // The first thread of a process can end before the others, which still hold them.
  const hasEnded = ['Z', 'X'].includes(fields[STATE] ?? '') && Number(fields[THREADS]) <= 1
  return hasEnded ? undefined : fields[START_TIME]
}

/** Whether the process still computes or holds anything: false for a zombie. */
export async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // Where signals are not permitted there is a process.
    return codeOf(error) === 'EPERM'
  }
  return process.platform !== 'linux' || (await startOfProcess(pid)) !== undefined
}
