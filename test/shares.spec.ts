/** One person takes all the connections they can get; everything else goes on for another person meanwhile. */
import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { createClient, REALTIME_SUBSCRIBE_STATES } from '@supabase/supabase-js'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createLog } from '#server/base/log.ts'
import { readConfig } from '#server/config.ts'
import { type Alcove, startAlcove } from '#server/start/start.ts'
import { createEmptyDatabase } from './database.ts'
import { copyStartedDataDir } from './started-data.ts'

const PASSWORD = 'a long enough password'
/** More than all connections of the server. */
const FLOOD = 40
const LOCK_KEY = 4711

let folder: Awaited<ReturnType<typeof copyStartedDataDir>>
let alcove: Alcove
let apikey: string
let admin: pg.Pool
let attacker: Person
let other: Person
const releases: (() => Promise<void>)[] = []

beforeAll(async () => {
  const database = await createEmptyDatabase()
  admin = database.admin
  folder = await copyStartedDataDir()
  const config = readConfig({
    DATA_DIR: folder.dataDir,
    ...database.environment,
    PORT: '0',
    LOG_LEVEL: 'silent',
    RATE_LIMITS: 'off',
    TRUST_PROXY: '1',
  })
  alcove = await startAlcove(config, createLog('silent'))
  const answer = await fetch(`${alcove.address}/config.json`)
  apikey = ((await answer.json()) as { supabaseAnonKey: string }).supabaseAnonKey
  await admin.query(`
    create function public.wait_for_lock() returns void language sql as 'select pg_advisory_xact_lock_shared(${LOCK_KEY})';
    create function public.waits(topic text) returns boolean language plpgsql as $$
      begin perform pg_advisory_xact_lock_shared(${LOCK_KEY}); return true; end $$;
    create function public.count_up() returns bigint language sql as 'select count(*) from generate_series(1, 2000000)';
    grant execute on function public.wait_for_lock(), public.waits(text), public.count_up() to anon, authenticated;
    create policy "a slow policy" on realtime.messages for select to authenticated
      using (realtime.topic() like 'slow-%' and public.waits(realtime.topic()));
    create policy "a slow policy for senders" on realtime.messages for insert to authenticated
      with check (realtime.topic() like 'slow-%' and public.waits(realtime.topic()));
    create policy "a quick policy" on realtime.messages for select to authenticated using (realtime.topic() = 'quick');
    notify pgrst, 'reload schema'`)
  attacker = await signUp('192.0.2.1')
  other = await signUp('192.0.2.2')
  await admin.query(
    `insert into messages (conversation_id, content, sender_role)
     select $1, repeat('words that a search reads ', 8000), 2 from generate_series(1, 60)`,
    [attacker.conversation],
  )
})
afterEach(async () => {
  for (const release of releases.splice(0)) await release()
})
afterAll(async () => {
  await alcove.stop()
  await admin.end()
  await folder.remove()
})

async function signUp(address: string) {
  const email = `${randomUUID()}@example.test`
  const client = createClient(alcove.address, apikey, {
    auth: { persistSession: false },
    global: { headers: { 'x-forwarded-for': address } },
  })
  const { data, error } = await client.auth.signUp({ email, password: PASSWORD })
  if (error ?? !data.session) throw error ?? new Error('no session')
  const { id } = data.session.user
  const conversation = randomUUID()
  const made = await client.from('conversations').insert({ id: conversation, uid: id, model_name: 'alcove-reader' })
  if (made.error) throw made.error
  const stored = await client.storage
    .from('documents')
    .upload(`${id}/note.txt`, new Blob(['a note'], { type: 'text/plain' }))
  if (stored.error) throw stored.error
  return { client, email, id, address, conversation, token: data.session.access_token }
}
type Person = Awaited<ReturnType<typeof signUp>>

const request = (person: Person, method: string, path: string, body?: unknown): Promise<Response> =>
  fetch(alcove.address + path, {
    method,
    headers: {
      apikey,
      authorization: `Bearer ${person.token}`,
      'x-forwarded-for': person.address,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

const anonymously = (address: string, path: string, body: unknown): Promise<Response> =>
  fetch(alcove.address + path, {
    method: 'POST',
    headers: { apikey, 'content-type': 'application/json', 'x-forwarded-for': address },
    body: JSON.stringify(body),
  })

/** Holds what this SQL locks until the end of the test. */
async function hold(sql: string, values: readonly unknown[] = []): Promise<() => Promise<void>> {
  const client = await admin.connect()
  await client.query('begin')
  await client.query(sql, [...values])
  let isHeld = true
  const release = async () => {
    if (!isHeld) return
    isHeld = false
    await client.query('rollback')
    client.release()
  }
  releases.push(release)
  return release
}

const holdLock = () => hold('select pg_advisory_xact_lock($1)', [LOCK_KEY])
const holdConversation = () => hold('select from conversations where id = $1 for update', [attacker.conversation])

async function waitingForLocks(): Promise<number> {
  const { rows } = await admin.query<{ count: number }>(
    `select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rows[0]?.count ?? 0
}

async function join(person: Person, topic: string): Promise<string> {
  const client = createClient(alcove.address, apikey, { auth: { persistSession: false } })
  await client.realtime.setAuth(person.token)
  return new Promise((resolve) => {
    client.channel(topic, { config: { private: true } }).subscribe((status) => {
      if (status === REALTIME_SUBSCRIBE_STATES.CLOSED) return
      void client.removeAllChannels()
      resolve(status)
    })
  })
}

/** Each is answered although what the attacker waits for is still held. */
async function expectOthersAnswered(): Promise<void> {
  const signIn = { email: other.email, password: PASSWORD }
  const answers = await Promise.all([
    request(other, 'GET', '/api/documents'),
    request(other, 'GET', '/rest/v1/conversations?select=id'),
    request(other, 'PATCH', `/rest/v1/conversations?id=eq.${other.conversation}`, { title: 'renamed' }),
    request(other, 'GET', `/storage/v1/object/documents/${other.id}/note.txt`),
    anonymously(other.address, '/auth/v1/token?grant_type=password', signIn),
    request(other, 'GET', '/auth/v1/user'),
    fetch(`${alcove.address}/healthz`, { headers: { 'x-forwarded-for': other.address } }),
  ])
  expect(answers.map(({ status, url }) => `${status} ${new URL(url).pathname.split('/')[1]}`)).toEqual([
    '200 api',
    '200 rest',
    '204 rest',
    '200 storage',
    '200 auth',
    '200 auth',
    '200 healthz',
  ])
  expect(await join(other, 'quick')).toBe(REALTIME_SUBSCRIBE_STATES.SUBSCRIBED)
  expect(await waitingForLocks()).toBeGreaterThan(0)
}

/** Statuses of those that neither waited too long nor were too many. */
async function settle(flood: readonly Promise<Response>[]): Promise<number[]> {
  const answers = await Promise.all(flood)
  return [...new Set(answers.map(({ status }) => status))].toSorted((one, next) => one - next)
}

const times = (count: number, send: (index: number) => Promise<Response>): Promise<Response>[] =>
  Array.from({ length: count }, (_, index) => send(index))

test.each<[string, () => Promise<() => Promise<void>>, (index: number) => Promise<Response>]>([
  [
    'writes of one row through /rest/v1',
    holdConversation,
    () => request(attacker, 'PATCH', `/rest/v1/conversations?id=eq.${attacker.conversation}`, { title: 'x' }),
  ],
  [
    'writes of one row through /api',
    holdConversation,
    () => request(attacker, 'PATCH', `/api/conversations/${attacker.conversation}`, { title: 'x' }),
  ],
  ['calls of a function', holdLock, () => request(attacker, 'POST', '/rest/v1/rpc/wait_for_lock', {})],
  ['calls without a session', holdLock, () => anonymously(attacker.address, '/rest/v1/rpc/wait_for_lock', {})],
  [
    'moves of one object',
    () => hold(`select from storage.objects where name = $1 for update`, [`${attacker.id}/note.txt`]),
    (index) =>
      request(attacker, 'POST', '/storage/v1/object/move', {
        bucketId: 'documents',
        sourceKey: `${attacker.id}/note.txt`,
        destinationKey: `${attacker.id}/moved-${index}.txt`,
      }),
  ],
  [
    'sign-ins of one account',
    () => hold('select from auth.users where id = $1 for update', [attacker.id]),
    () =>
      anonymously(attacker.address, '/auth/v1/token?grant_type=password', {
        email: attacker.email,
        password: PASSWORD,
      }),
  ],
  [
    'broadcasts to private topics',
    holdLock,
    (index) =>
      request(attacker, 'POST', '/realtime/v1/api/broadcast', {
        messages: [{ topic: `slow-${index}`, event: 'e', payload: {}, private: true }],
      }),
  ],
])('%s that wait for a lock leave the others their connections', async (_, holdIt, send) => {
  const release = await holdIt()
  const flood = times(FLOOD, send)
  await expect.poll(waitingForLocks).toBeGreaterThan(1)
  await expectOthersAnswered()
  await release()
  await Promise.all(flood)
})

test('joins whose policy waits for a lock leave the others their connections', async () => {
  const release = await holdLock()
  const joins = Array.from({ length: FLOOD }, (_, index) => join(attacker, `slow-${index}`))
  await expect.poll(waitingForLocks).toBeGreaterThan(1)
  await expectOthersAnswered()
  await release()
  await Promise.all(joins)
})

test('a request that waits for a row too long says what happened and when to try again', async () => {
  await holdConversation()
  const [rest, api] = await Promise.all([
    request(attacker, 'PATCH', `/rest/v1/conversations?id=eq.${attacker.conversation}`, { title: 'x' }),
    request(attacker, 'PATCH', `/api/conversations/${attacker.conversation}`, { title: 'x' }),
  ])
  expect([rest.status, rest.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await rest.json()).toMatchObject({
    code: '55P03',
    hint: 'Another request is changing what this one needs. Try again in a moment.',
  })
  expect(api.status).toBe(503)
  expect(await api.json()).toMatchObject({
    error: { code: 'unavailable', message: 'Another request is changing what this one needs. Try again in a moment.' },
  })
})

test('a person whose requests pile up is told to send fewer, and loses none of those that wait', async () => {
  const release = await holdConversation()
  const flood = times(300, () =>
    request(attacker, 'PATCH', `/rest/v1/conversations?id=eq.${attacker.conversation}`, { title: 'x' }),
  )
  const refused = await Promise.any(
    flood.map(async (answer) => {
      const { status, headers } = await answer
      if (status !== 429) throw new Error(`answered ${status}`)
      return headers.get('retry-after')
    }),
  )
  expect(refused).toBe('1')
  await expectOthersAnswered()
  await release()
  expect(await settle(flood)).toEqual(expect.arrayContaining([204, 429]))
})

test.each<[string, () => Promise<Response>]>([
  ['calls of a function', () => request(attacker, 'POST', '/rest/v1/rpc/count_up', {})],
  ['searches of messages', () => request(attacker, 'GET', '/api/search?q=nowhere')],
])('five hundred %s that keep processors busy do not come before another person', async (_, send) => {
  let served = 0
  const flood = times(500, async () => {
    const answer = await send()
    if (answer.ok) served += 1
    return answer
  })
  await expect.poll(() => served).toBeGreaterThan(0)
  for (let asked = 0; asked < 10; asked += 1) expect((await request(other, 'GET', '/api/documents')).status).toBe(200)
  expect(served).toBeLessThan(100)
  const statuses = await settle(flood)
  expect(statuses).toEqual(expect.arrayContaining([200, 429]))
  expect(statuses.filter((status) => ![200, 429, 503, 504].includes(status))).toEqual([])
})

test('bodies that arrive slowly hold no connection', async () => {
  const slow = ['/rest/v1/conversations', '/storage/v1/object/documents/x.txt', '/api/conversations', '/auth/v1/token']
  const { hostname, port } = new URL(alcove.address)
  const sockets = await Promise.all(
    slow.flatMap((path) =>
      Array.from({ length: FLOOD }, async () => {
        const socket = connect(Number(port), hostname)
        await new Promise((resolve) => socket.once('connect', resolve))
        socket.on('error', () => undefined)
        socket.write(
          `POST ${path} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${attacker.token}\r\n` +
            `x-forwarded-for: ${attacker.address}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"a":`,
        )
        return socket
      }),
    ),
  )
  const holding = async () => {
    const { rows } = await admin.query<{ count: number }>(
      `select count(*)::int from pg_stat_activity
       where datname = current_database() and usename = 'authenticator' and state <> 'idle' and backend_type = 'client backend'`,
    )
    return rows[0]?.count
  }
  await expect.poll(holding).toBe(0)
  await request(other, 'GET', '/api/documents').then(({ status }) => expect(status).toBe(200))
  sockets.forEach((socket: Socket) => socket.destroy())
})

test('the statement of a client that has gone ends, and its connection serves others', async () => {
  await holdConversation()
  const leaving = new AbortController()
  const gone = fetch(`${alcove.address}/rest/v1/conversations?id=eq.${attacker.conversation}`, {
    method: 'PATCH',
    headers: { apikey, authorization: `Bearer ${attacker.token}`, 'content-type': 'application/json' },
    body: '{"title":"x"}',
    signal: leaving.signal,
  })
  await expect.poll(waitingForLocks).toBe(1)
  leaving.abort()
  await expect(gone).rejects.toThrow()
  await expect.poll(waitingForLocks).toBe(0)
})
