/**
 * One person at full speed on each kind of route, and another person's `GET /api/documents` meanwhile: p95 as a ratio to
 * the same requests alone. `npm run bench -- neighbours [seconds] [kind …]`.
 */
import { randomUUID } from 'node:crypto'
import { createClient, REALTIME_SUBSCRIBE_STATES } from '@supabase/supabase-js'
import { type AlcoveProcess, createDataDir, startAlcove } from '#test/alcove.ts'
import { quantile, rounded } from './measure.ts'

const CLIENTS = 32
const PASSWORD = 'a long enough password'
const OBJECT_BYTES = 1_000_000

interface Person {
  readonly id: string
  readonly token: string
  readonly apikey: string
  readonly email: string
  readonly conversation: string
}

async function signUp(alcove: AlcoveProcess): Promise<Person> {
  const { supabaseAnonKey: apikey } = await alcove.config()
  const client = createClient(alcove.url, apikey, { auth: { persistSession: false } })
  const email = `${randomUUID()}@example.test`
  const { data, error } = await client.auth.signUp({ email, password: PASSWORD })
  if (error ?? !data.session) throw error ?? new Error('there is no session')
  const [{ id }, conversation] = [data.session.user, randomUUID()]
  const made = await client.from('conversations').insert({ id: conversation, uid: id, model_name: 'alcove-reader' })
  if (made.error) throw made.error
  const bytes = new Uint8Array(OBJECT_BYTES).fill(97)
  const stored = await client.storage.from('documents').upload(`${id}/large.txt`, bytes, { contentType: 'text/plain' })
  if (stored.error) throw stored.error
  return { id, token: data.session.access_token, apikey, email, conversation }
}

type Send = (method: string, path: string, body?: string | Uint8Array<ArrayBuffer> | FormData) => Promise<unknown>

function sender({ url }: AlcoveProcess, { apikey, token }: Person): Send {
  return async function send(method, path, body) {
    const headers = {
      apikey,
      authorization: `Bearer ${token}`,
      ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
      ...(body instanceof Uint8Array ? { 'content-type': 'text/plain' } : {}),
    }
    const response = await fetch(url + path, { method, headers, ...(body === undefined ? {} : { body }) })
    return response.arrayBuffer()
  }
}

/** Requests as one person can send them, by kind of route. Rejections by limits are part of the attack. */
function attacksOf(send: Send, person: Person): Readonly<Record<string, () => Promise<unknown>>> {
  const row = `/rest/v1/conversations?id=eq.${person.conversation}`
  return {
    'rest-reads': () => send('GET', '/rest/v1/conversations?select=*,messages(*)'),
    'rest-writes': () => send('PATCH', row, '{"title":"x"}'),
    patterns: () =>
      send('GET', `/rest/v1/conversations?select=id&title=match.${encodeURIComponent('(a|b)*a(a|b){90}c')}`),
    rpc: () => send('POST', '/rest/v1/rpc/fold_text', JSON.stringify({ given: 'Ünïcödé '.repeat(1_000) })),
    'storage-download': () => send('GET', `/storage/v1/object/documents/${person.id}/large.txt`),
    'storage-upload': () =>
      send('PUT', `/storage/v1/object/documents/${person.id}/large.txt`, new Uint8Array(OBJECT_BYTES)),
    broadcasts: () =>
      send(
        'POST',
        '/realtime/v1/api/broadcast',
        JSON.stringify({ messages: [{ topic: person.conversation, event: 'e', payload: {}, private: true }] }),
      ),
    'sign-in': () =>
      send('POST', '/auth/v1/token?grant_type=password', JSON.stringify({ email: person.email, password: PASSWORD })),
    search: () => send('GET', `/api/search/documents?q=${randomUUID()}`),
    upload() {
      const form = new FormData()
      form.append('files', new Blob([`A note on ${randomUUID()}.`], { type: 'text/plain' }), 'note.txt')
      return send('POST', '/api/documents', form)
    },
  }
}

/** Joins a private topic, whose policies are read whether or not they allow it, and leaves it. */
async function joining({ url }: AlcoveProcess, { apikey, token }: Person): Promise<() => Promise<unknown>> {
  const client = createClient(url, apikey, { auth: { persistSession: false } })
  await client.realtime.setAuth(token)
  return async function join() {
    const channel = client.channel(randomUUID(), { config: { private: true } })
    await new Promise<void>((resolve) => {
      channel.subscribe((status) => status !== REALTIME_SUBSCRIBE_STATES.CLOSED && resolve())
    })
    await client.removeChannel(channel)
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

async function duringAttack<T>(attack: () => Promise<unknown>, run: () => Promise<T>): Promise<T> {
  let isOver = false
  const clients = Array.from({ length: CLIENTS }, async () => {
    // A server that rejects a body may close its connection, which fetch reports as an error.
    while (!isOver) await attack().catch(() => undefined)
  })
  try {
    return await run()
  } finally {
    isOver = true
    await Promise.all(clients)
  }
}

export async function run([seconds = '5', ...kinds]: string[]): Promise<Record<string, unknown>> {
  const { dataDir, remove } = await createDataDir()
  const alcove = await startAlcove({ DATA_DIR: dataDir, LOG_LEVEL: 'error', AUTH_AUTOCONFIRM: 'true' })
  const [greedy, neighbour] = [await signUp(alcove), await signUp(alcove)]
  const askAsNeighbour = sender(alcove, neighbour)
  const ask = () => askAsNeighbour('GET', '/api/documents')
  await measure(ask, 1)
  const results: Record<string, { aloneP95Ms: number; p95Ms: number; ratio: number }> = {}
  const attacks = { ...attacksOf(sender(alcove, greedy), greedy), joins: await joining(alcove, greedy) }
  for (const [kind, attack] of Object.entries(attacks)) {
    if (kinds.length > 0 && !kinds.includes(kind)) continue
    const alone = quantile(await measure(ask, Number(seconds)), 0.95)
    const meanwhile = quantile(await duringAttack(attack, () => measure(ask, Number(seconds))), 0.95)
    results[kind] = { aloneP95Ms: rounded(alone), p95Ms: rounded(meanwhile), ratio: rounded(meanwhile / alone) }
  }
  await alcove.end()
  await remove()
  return { ...results, worstRatio: Math.max(...Object.values(results).map(({ ratio }) => ratio)), goal: 3 }
}
