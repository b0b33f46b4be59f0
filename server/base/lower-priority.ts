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
