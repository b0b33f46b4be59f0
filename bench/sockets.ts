/**
 * 1,000 sockets of 100 people and 100 inserts a second: each change must reach the ten sockets of its person and no
 * other. Against one socket at that rate; and the memory of an idle socket.
 */
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { WebSocket } from 'ws'
import type { AlcoveProcess } from '#test/alcove.ts'
import { median, quantile, rounded } from './measure.ts'
import { openServices, tokenOf } from './services.ts'

const PEOPLE = 100
const INSERTS_PER_S = 100

const SCHEMA = `
  create table notes (id uuid primary key default gen_random_uuid(), owner uuid not null, text text not null);
  alter table notes enable row level security;
  create policy "owner reads own notes" on notes for select to authenticated using (owner = (select auth.uid()));
  alter publication supabase_realtime add table notes`

interface Watcher {
  readonly owner: string
  readonly socket: WebSocket
}

async function openWatcher(url: string, anonKey: string, owner: string, filter: string | undefined): Promise<Watcher> {
  const token = await tokenOf(owner)
  const socket = new WebSocket(`${url.replace('http', 'ws')}/realtime/v1/websocket?apikey=${anonKey}&vsn=2.0.0`)
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  const wanted = { event: '*', schema: 'public', table: 'notes', ...(filter === undefined ? {} : { filter }) }
  const config = { broadcast: {}, presence: {}, postgres_changes: [wanted] }
  const live = new Promise<void>((resolve) => {
    const listen = (data: Buffer) => {
      if (!data.toString().includes('Subscribed to PostgreSQL')) return
      socket.off('message', listen)
      resolve()
    }
    socket.on('message', listen)
  })
  socket.send(JSON.stringify(['1', '1', 'realtime:notes', 'phx_join', { config, access_token: token }]))
  await live
  return { owner, socket }
}

/** Milliseconds from each insert to each socket that received it, and the errors. */
async function measure(admin: pg.Client, watchers: readonly Watcher[], seconds: number) {
  const owners = [...new Set(watchers.map(({ owner }) => owner))]
  const inserted = new Map<string, { readonly at: number; readonly owner: string; heard: number }>()
  const latencies: number[] = []
  let wrong = 0
  const listeners = watchers.map(({ owner, socket }) => {
    const listen = (data: Buffer) => {
      const id = /"record":\{"id":"([0-9a-f-]{36})"/.exec(data.toString())?.[1]
      const change = id === undefined ? undefined : inserted.get(id)
      if (!change) return
      latencies.push(performance.now() - change.at)
      change.heard += 1
      if (change.owner !== owner) wrong += 1
    }
    socket.on('message', listen)
    return () => socket.off('message', listen)
  })
  const startedAt = performance.now()
  const writes: Promise<unknown>[] = []
  for (let count = 0; count < seconds * INSERTS_PER_S; count += 1) {
    const due = startedAt + (count * 1000) / INSERTS_PER_S
    if (due > performance.now()) await delay(due - performance.now())
    const [id, owner] = [randomUUID(), owners[count % owners.length] ?? '']
    inserted.set(id, { at: performance.now(), owner, heard: 0 })
    writes.push(admin.query('insert into notes (id, owner, text) values ($1, $2, $3)', [id, owner, 'x'.repeat(100)]))
  }
  await Promise.all(writes)
  const expected = watchers.length / owners.length
  const missing = () => [...inserted.values()].filter(({ heard }) => heard !== expected).length
  for (let waited = 0; missing() > 0 && waited < 50; waited += 1) await delay(100)
  for (const stop of listeners) stop()
  return { latencies, wrong, missing: missing() }
}

async function residentKib({ pid }: AlcoveProcess): Promise<number> {
  return Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1])
}

export async function run([count = '1000', seconds = '10', filtered]: string[]): Promise<Record<string, unknown>> {
  const { alcove, anonKey, admin, close } = await openServices(SCHEMA)
  const people = Array.from({ length: PEOPLE }, () => randomUUID())
  const open = (owner: string) =>
    openWatcher(alcove.url, anonKey, owner, filtered === undefined ? undefined : `owner=eq.${owner}`)

  const [first = ''] = people
  const single = [await open(first)]
  await measure(admin, single, 2)
  const alone = await measure(admin, single, Number(seconds))
  for (const { socket } of single) socket.close()

  const before = await residentKib(alcove)
  const watchers: Watcher[] = []
  while (watchers.length < Number(count)) {
    const next = Array.from({ length: 20 }, (_, index) => people[(watchers.length + index) % PEOPLE] ?? first)
    watchers.push(...(await Promise.all(next.map(open))))
  }
  await delay(3_000)
  const idle = await residentKib(alcove)
  await measure(admin, watchers, 2)
  const together = await measure(admin, watchers, Number(seconds))
  for (const { socket } of watchers) socket.terminate()
  await close()
  return {
    sockets: watchers.length,
    p50Ms: rounded(median(together.latencies)),
    p95Ms: rounded(quantile(together.latencies, 0.95)),
    oneSocketP50Ms: rounded(median(alone.latencies)),
    oneSocketP95Ms: rounded(quantile(alone.latencies, 0.95)),
    ratioOfP95: rounded(quantile(together.latencies, 0.95) / quantile(alone.latencies, 0.95)),
    goal: 8,
    wrong: together.wrong + alone.wrong,
    missing: together.missing + alone.missing,
    kibPerIdleSocket: rounded((idle - before) / watchers.length, 1),
    goalKib: 60,
  }
}
