import { readFile } from 'node:fs/promises'
import { codeOf } from '#server/base/errors.ts'

/** Positions in /proc/<pid>/stat after the command (proc(5) counts from 1 and has `state` third). */
const STATE = 0
const THREADS = 17
const START_TIME = 19

/** Start time in clock ticks since boot, which identifies a process; undefined if there is none, or no /proc. */
export async function startOfProcess(pid: number): Promise<string | undefined> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  const fields = status?.slice(status.lastIndexOf(')') + 2).split(' ') ?? []
  // A zombie holds no file, lock or port; but a first thread may end before others, which hold them.
  const hasEnded = ['Z', 'X'].includes(fields[STATE] ?? '') && Number(fields[THREADS]) <= 1
  return hasEnded ? undefined : fields[START_TIME]
}

export async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
  return process.platform !== 'linux' || (await startOfProcess(pid)) !== undefined
}
