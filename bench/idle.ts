/** Resident memory of an idle server process without its PostgreSQL: with all parts, and with the services alone. */
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { createDataDir, startAlcove } from '#test/alcove.ts'
import { rounded } from './measure.ts'

async function residentMb(parts: string, settleMs: number): Promise<number> {
  const { dataDir, remove } = await createDataDir()
  const alcove = await startAlcove({ DATA_DIR: dataDir, LOG_LEVEL: 'warn', ALCOVE_PARTS: parts })
  await delay(settleMs)
  const kib = Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${alcove.pid}/status`, 'utf8'))?.[1])
  await alcove.end()
  await remove()
  return rounded((kib * 1024) / 1_000_000, 0)
}

export async function run([settleS = '20']: string[]): Promise<Record<string, unknown>> {
  // The first start of a checkout compiles code that later starts find cached.
  await residentMb('services,api,workers', 1_000)
  return {
    residentMb: await residentMb('services,api,workers', Number(settleS) * 1000),
    servicesAloneMb: await residentMb('services', Number(settleS) * 1000),
    goalMb: 150,
  }
}
