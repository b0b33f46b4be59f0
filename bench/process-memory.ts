/** Memory of a process in KiB (proc(5), `status`). The fields are absent, here 0, as soon as a process is exiting. */
import { readdir, readFile, writeFile } from 'node:fs/promises'

async function readField(pid: number, field: 'VmRSS' | 'VmHWM' | 'RssAnon'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
}

export const residentKib = (pid: number): Promise<number> => readField(pid, 'VmRSS')

/** Peak since the last `resetPeak`. */
export const peakKib = (pid: number): Promise<number> => readField(pid, 'VmHWM')

export const resetPeak = (pid: number): Promise<void> => writeFile(`/proc/${pid}/clear_refs`, '5')

/** Without files and shared memory. 0 for a process that has ended. */
export const anonymousKib = (pid: number): Promise<number> => readField(pid, 'RssAnon').catch(() => 0)

async function parentOf(pid: number): Promise<number> {
  // The name before it may contain anything.
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')).split(') ').at(-1)
  return Number(fields?.split(' ')[1])
}

/** The processes that a process has started, and those that these have. */
export async function childrenOf(pid: number): Promise<number[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const parents = new Map(await Promise.all(ids.map(async (id) => [id, await parentOf(id)] as const)))
  const found = new Set([pid])
  for (let before = 0; before !== found.size;) {
    before = found.size
    for (const [id, parent] of parents) if (found.has(parent)) found.add(id)
  }
  found.delete(pid)
  return [...found]
}
