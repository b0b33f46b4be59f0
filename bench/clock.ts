/** The clock of the stub model server, equal in every process of this machine. */
import { readFile } from 'node:fs/promises'

export const clockMs = (): number => Number(process.hrtime.bigint() / 1000n) / 1000

/** Times at which the stub read a request and sent its first and its last token, in milliseconds of `clockMs`. */
export interface ModelTimes {
  readonly arrive: number
  readonly first: number
  readonly last: number
  readonly aborted: number | undefined
}

export async function readModelTimes(model: string, prefix: string): Promise<ReadonlyMap<string, ModelTimes>> {
  const response = await fetch(`${model.replace(/\/v1$/, '')}/__stub/records?prefix=${prefix}`)
  const records = (await response.json()) as Record<string, Record<string, number>>
  return new Map(
    Object.entries(records).map(([tag, { arrive = 0, first = 0, last = 0, aborted }]) => [
      tag,
      {
        arrive: arrive / 1000,
        first: first / 1000,
        last: last / 1000,
        aborted: aborted === undefined ? undefined : aborted / 1000,
      },
    ]),
  )
}

const TICKS_PER_SECOND = 100

/** Processor time of a process in milliseconds (proc(5), fields utime and stime). */
export async function cpuMs(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ')
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND
}
