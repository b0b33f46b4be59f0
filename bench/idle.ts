/** Resident memory of an idle server process without its PostgreSQL: with all parts, and with the services alone. */
import { setTimeout as delay } from 'node:timers/promises'
import { createDataDir, type Environment, startAlcove } from '#test/alcove.ts'
import { rounded } from './measure.ts'
import { residentKib } from './process-memory.ts'

/** A server starts with these settings and then idles for a while. */
export async function residentMb(environment: Environment, settleMs: number): Promise<number> {
  const alcove = await startAlcove({ LOG_LEVEL: 'warn', ...environment })
  await delay(settleMs)
  const kib = await residentKib(alcove.pid)
  await alcove.end()
  return rounded((kib * 1024) / 1_000_000, 0)
}

async function residentMbOf(parts: string, settleMs: number): Promise<number> {
  const { dataDir, remove } = await createDataDir()
  const resident = await residentMb({ DATA_DIR: dataDir, ALCOVE_PARTS: parts }, settleMs)
  await remove()
  return resident
}

export async function run([settleS = '20']: string[]): Promise<Record<string, unknown>> {
  // The first start of a checkout compiles code that later starts find cached.
  await residentMbOf('services,api,workers', 1_000)
  return {
    residentMb: await residentMbOf('services,api,workers', Number(settleS) * 1000),
    servicesAloneMb: await residentMbOf('services', Number(settleS) * 1000),
    goalMb: 150,
  }
}
