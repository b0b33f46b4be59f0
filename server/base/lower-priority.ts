import { readdirSync, readFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { codeOf } from './errors.ts'

/** Below the server's priority, but not the lowest, which would starve it on a busy machine. */
export function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch (error) {
    if (codeOf(error) !== 'ESRCH' && codeOf(error) !== 'ERR_SYSTEM_ERROR') throw error
  }
}

/**
 * Lowers the priority of this process with all its threads. On Linux setpriority(2) changes one thread: those that read files, compress
 * and collect garbage would stay as they are.
 */
export function lowerOwnPriority(): void {
  if (process.platform !== 'linux') return lowerPriority(process.pid)
  for (const id of readdirSync('/proc/self/task')) lowerPriority(Number(id))
}

/** Lowers the priority of the threads of this process with this name, of at most 15 characters; only Linux can. */
export function lowerThreadPriority(name: string): void {
  if (process.platform !== 'linux') return
  for (const id of readdirSync('/proc/self/task')) if (nameOfThread(id) === name) lowerPriority(Number(id))
}

/** Undefined for a thread that has ended. */
function nameOfThread(id: string): string | undefined {
  try {
    return readFileSync(`/proc/self/task/${id}/comm`, 'utf8').trim()
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ESRCH') return undefined
    throw error
  }
}
