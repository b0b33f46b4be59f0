/** Memory of a process in KiB (proc(5), `status`). */
import { readFile, writeFile } from 'node:fs/promises'

async function readField(pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1])
}

export const residentKib = (pid: number): Promise<number> => readField(pid, 'VmRSS')

/** Peak since the last `resetPeak`. */
export const peakKib = (pid: number): Promise<number> => readField(pid, 'VmHWM')

export const resetPeak = (pid: number): Promise<void> => writeFile(`/proc/${pid}/clear_refs`, '5')
