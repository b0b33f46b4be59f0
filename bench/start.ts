/**
 * Warm start: from the server process's start to its first HTTP 200, less PostgreSQL's start, against a bare process
 * that loads hono and pg.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { createDataDir, type Environment, startAlcove } from '#test/alcove.ts'
import { median, rounded } from './measure.ts'

const BARE = `
  import { Hono } from 'hono'
  import { serve } from '@hono/node-server'
  import 'pg'
  serve({ fetch: new Hono().get('/', (context) => context.text('ok')).fetch, port: 0 }, ({ port }) => console.log('http://127.0.0.1:' + port))`

async function startBare(): Promise<number> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, ['--input-type=module', '-e', BARE], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [address] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  await fetch(address)
  const elapsed = performance.now() - startedAt
  child.kill()
  await once(child, 'exit')
  return elapsed
}

/** Milliseconds to the first HTTP 200, whole and less PostgreSQL's start. */
export async function timeStart(environment: Environment): Promise<{ wholeMs: number; lessPostgresMs: number }> {
  const startedAt = performance.now()
  const alcove = await startAlcove(environment)
  await fetch(`${alcove.url}/healthz`)
  const wholeMs = performance.now() - startedAt
  const metrics = await (await fetch(`${alcove.url}/metrics`)).text()
  const accepted = Number(/^alcove_database_accepted_ms ([\d.]+)$/m.exec(metrics)?.[1])
  await alcove.end()
  return { wholeMs, lessPostgresMs: wholeMs - accepted }
}

export async function run([times = '7']: string[]): Promise<Record<string, unknown>> {
  const { dataDir, remove } = await createDataDir()
  const environment = { DATA_DIR: dataDir, LOG_LEVEL: 'warn' }
  await (await startAlcove(environment)).end()
  const ours: number[] = []
  const whole: number[] = []
  const bare: number[] = []
  for (let index = 0; index < Number(times); index += 1) {
    const { wholeMs, lessPostgresMs } = await timeStart(environment)
    whole.push(wholeMs)
    ours.push(lessPostgresMs)
    bare.push(await startBare())
  }
  await remove()
  return {
    lessPostgresMs: rounded(median(ours), 0),
    wholeMs: rounded(median(whole), 0),
    bareMs: rounded(median(bare), 0),
    ratio: rounded(median(ours) / median(bare)),
    goalMs: 700,
  }
}
