/**
 * Reads through `/rest/v1`: 100 conversations by the official client against the statement by the driver with role and
 * claims; and reads per second of 32 clients against a bare hono route.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { connectionOf } from './connection-of.ts'
import { compared, inTurn, median, rounded } from './measure.ts'
import { startSignedIn } from './signed-in.ts'

const ROWS = 100
const CLIENTS = 32
const QUERY = 'select id, title, model_name, started_at from conversations order by started_at desc limit 100'
const ADDRESS = '/rest/v1/conversations?select=id,title,model_name,started_at&order=started_at.desc&limit=100'

async function readAsPerson(client: pg.ClientBase, claims: string): Promise<void> {
  await client.query('begin read only')
  await client.query(`select set_config('role', 'authenticated', true), set_config('request.jwt.claims', $1, true)`, [
    claims,
  ])
  await client.query(QUERY)
  await client.query('commit')
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await act()
  return performance.now() - startedAt
}

/** Responses per second to 32 clients without pauses. */
async function ratePerS(address: string, headers: Record<string, string>, seconds: number): Promise<number> {
  const until = performance.now() + seconds * 1000
  let answers = 0
  const ask = async () => {
    while (performance.now() < until) {
      const response = await fetch(address, { headers })
      if (((await response.json()) as unknown[]).length !== ROWS) throw new Error('not all rows came')
      answers += 1
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, ask))
  return answers / seconds
}

export async function run([times = '200', seconds = '3']: string[]): Promise<Record<string, unknown>> {
  const session = await startSignedIn()
  const client = await session.open()
  const rows = Array.from({ length: ROWS }, (_, index) => ({
    id: randomUUID(),
    title: `Conversation ${index}`,
    model_name: 'alcove-reader',
  }))
  const { error } = await client.from('conversations').insert(rows)
  if (error) throw error
  const connection = await connectionOf(session.dataDir)
  const claims = JSON.stringify({ sub: session.userId, role: 'authenticated' })
  const driver = new pg.Client(connection)
  await driver.connect()

  const throughRest = () =>
    timed(async () => {
      const answer = await client
        .from('conversations')
        .select('id,title,model_name,started_at')
        .order('started_at', { ascending: false })
        .limit(ROWS)
      if (answer.error) throw answer.error
      if (answer.data.length !== ROWS) throw new Error('not all rows came')
    })
  const throughDriver = () => timed(() => readAsPerson(driver, claims))
  await inTurn(20, throughRest, throughDriver)
  const latency = compared(await inTurn(Number(times), throughRest, throughDriver))

  const script = fileURLToPath(new URL('./bare-reads.ts', import.meta.url))
  const bare = spawn(process.execPath, [script, JSON.stringify(connection), claims, QUERY], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [address] = (await once(createInterface({ input: bare.stdout }), 'line')) as [string]
  const headers = { authorization: `Bearer ${session.token}` }
  const rates = { ours: [] as number[], bare: [] as number[] }
  for (let round = 0; round < 3; round += 1) {
    rates.ours.push(await ratePerS(`${session.alcove.url}${ADDRESS}`, headers, Number(seconds)))
    rates.bare.push(await ratePerS(address, {}, Number(seconds)))
  }
  bare.kill()
  await driver.end()
  await session.close()
  return {
    ...latency,
    goal: 2.5,
    readsPerS: rounded(median(rates.ours), 0),
    barePerS: rounded(median(rates.bare), 0),
    share: rounded(median(rates.ours) / median(rates.bare)),
    goalShare: 0.5,
  }
}
