import { constants, setPriority } from 'node:os'
import { codeOf } from './errors.ts'

/** Puts a background process or thread below the server. The lowest priority of all would starve it on a busy machine. */
export function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch (error) {
    // It may have ended already.
    if (codeOf(error) !== 'ESRCH' && codeOf(error) !== 'ERR_SYSTEM_ERROR') throw error
  }
}
