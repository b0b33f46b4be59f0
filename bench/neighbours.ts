/**
 * One person at full speed on each kind of route, from a process of low priority, and another person's
 * `GET /api/documents` meanwhile: p95 as a ratio to the same requests alone. `npm run bench -- neighbours [seconds] [kind …]`.
 */
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import path from 'node:path'
import { createClient } from '@supabase/supabase-js'
import { type AlcoveProcess, createDataDir, startAlcove } from '#test/alcove.ts'
import { quantile, rounded } from './measure.ts'
import { type Attack, ATTACK_KINDS, type AttackCounts, OBJECTS, type Person } from './neighbours-attacker.ts'

const CLIENTS = 32
const PASSWORD = 'a long enough password'
const GOAL = 3
const READING_INTERVAL_MS = 200

async function signUp(alcove: AlcoveProcess): Promise<Person> {
  const { supabaseAnonKey: apikey } = await alcove.config()
  const client = createClient(alcove.url, apikey, { auth: { persistSession: false } })
  const email = `${randomUUID()}@example.test`
  const { data, error } = await client.auth.signUp({ email, password: PASSWORD })
  if (error ?? !data.session) throw error ?? new Error('there is no session')
  const [{ id }, conversation] = [data.session.user, randomUUID()]
  const made = await client.from('conversations').insert({ id: conversation, uid: id, model_name: 'alcove-reader' })
  if (made.error) throw made.error
  for (const [name, bytes] of Object.entries(OBJECTS)) {
    const options = { contentType: 'text/plain' }
    const stored = await client.storage.from('documents').upload(`${id}/${name}`, bytes, options)
    if (stored.error) throw stored.error
  }
  return { id, token: data.session.access_token, apikey, email, password: PASSWORD, conversation }
}

/** Resolves when every document of the person is read, so that reading does not disturb the measurement. */
async function waitForReading({ url }: AlcoveProcess, { apikey, token }: Person): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}/api/documents`, { headers: { apikey, authorization: `Bearer ${token}` } })
    const documents = (await response.json()) as { state: string }[]
    if (documents.every(({ state }) => state === 'ready' || state === 'failed')) return
    await new Promise((resolve) => setTimeout(resolve, READING_INTERVAL_MS))
  }
}

/** Milliseconds of each of the neighbour's requests, one after another. */
async function measure(ask: () => Promise<unknown>, seconds: number): Promise<number[]> {
  const times: number[] = []
  for (const until = performance.now() + seconds * 1000; performance.now() < until;) {
    const startedAt = performance.now()
    await ask()
    times.push(performance.now() - startedAt)
  }
  return times
}

async function duringAttack<T>(attack: Attack, run: () => Promise<T>): Promise<{ result: T; counts: AttackCounts }> {
  const child = fork(path.join(import.meta.dirname, 'neighbours-attacker.ts'), [JSON.stringify(attack)])
  await once(child, 'message')
  const result = await run()
  const answered = once(child, 'message')
  child.send('stop')
  const [counts] = (await answered) as [AttackCounts]
  return { result, counts }
}

function documentsOf({ url }: AlcoveProcess, { apikey, token }: Person): () => Promise<void> {
  return async function ask() {
    const headers = { apikey, authorization: `Bearer ${token}` }
    const response = await fetch(`${url}/api/documents`, { headers })
    await response.arrayBuffer()
    if (!response.ok) throw new Error(`the neighbour was answered ${response.status}`)
  }
}

export async function run([seconds = '5', ...kinds]: string[]): Promise<Record<string, unknown>> {
  const { dataDir, remove } = await createDataDir()
  const alcove = await startAlcove({ DATA_DIR: dataDir, LOG_LEVEL: 'error', AUTH_AUTOCONFIRM: 'true' })
  const [greedy, neighbour] = [await signUp(alcove), await signUp(alcove)]
  await Promise.all([greedy, neighbour].map((person) => waitForReading(alcove, person)))
  const ask = documentsOf(alcove, neighbour)
  await measure(ask, 2)
  const results: Record<string, { aloneP95Ms: number; p95Ms: number; ratio: number } & AttackCounts> = {}
  for (const kind of ATTACK_KINDS) {
    if (kinds.length > 0 && !kinds.includes(kind)) continue
    const alone = quantile(await measure(ask, Number(seconds)), 0.95)
    const attack = { url: alcove.url, person: greedy, kind, clients: CLIENTS }
    const { result, counts } = await duringAttack(attack, () => measure(ask, Number(seconds)))
    const meanwhile = quantile(result, 0.95)
    const figures = { aloneP95Ms: rounded(alone), p95Ms: rounded(meanwhile), ratio: rounded(meanwhile / alone) }
    results[kind] = { ...figures, ...counts }
    console.error(kind, results[kind])
  }
  await alcove.end()
  await remove()
  return { ...results, worstRatio: Math.max(...Object.values(results).map(({ ratio }) => ratio)), goal: GOAL }
}
