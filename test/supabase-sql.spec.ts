/** `ALCOVE_PARTS=services` on an empty database: a Supabase-compatible server that accepts SQL written for Supabase. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { type AlcoveProcess, createDataDir, startAlcove } from './alcove.ts'
import { createRecorder, live, subscribed } from './realtime.ts'

const SQL = new URL('./supabase.sql', import.meta.url)
const PASSWORD = 'a password of good length'

let folder: Awaited<ReturnType<typeof createDataDir>>
let alcove: AlcoveProcess
let admin: pg.Client
let anonKey: string
const clients: SupabaseClient[] = []

beforeAll(async () => {
  folder = await createDataDir()
  alcove = await startAlcove({
    DATA_DIR: folder.dataDir,
    ALCOVE_PARTS: 'services',
    AUTH_AUTOCONFIRM: 'true',
    REST_SCHEMAS: 'public,other',
    REST_TX_END: 'allow-override',
    LOG_LEVEL: 'warn',
  })
  anonKey = (await alcove.config()).supabaseAnonKey
  const secrets: unknown = JSON.parse(await readFile(path.join(folder.dataDir, 'secrets.json'), 'utf8'))
  const { databasePassword: password } = z.object({ databasePassword: z.string() }).parse(secrets)
  admin = new pg.Client({ host: path.join(folder.dataDir, 'run'), user: 'postgres', password, database: 'alcove' })
  await admin.connect()
})
afterAll(async () => {
  for (const client of clients) await client.removeAllChannels()
  await admin.end()
  await alcove.end()
  await folder.remove()
})

function newClient(): SupabaseClient {
  const client = createClient(alcove.url, anonKey, { auth: { persistSession: false, autoRefreshToken: false } })
  clients.push(client)
  return client
}

async function signUp(name: string) {
  const client = newClient()
  const { data, error } = await client.auth.signUp({
    // New for each attempt of a retried test.
    email: `${name}-${crypto.randomUUID()}@example.com`,
    password: PASSWORD,
    options: { data: { username: name } },
  })
  if (error || !data.user) throw error ?? new Error('nobody was signed up')
  await client.realtime.setAuth()
  return { client, id: data.user.id }
}

test('an empty database holds nothing of the product, and the process answers for nothing else', async () => {
  const { rows } = await admin.query(
    `select relname from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname in ('public', 'pgboss')`,
  )
  expect(rows).toEqual([])
  expect((await fetch(`${alcove.url}/healthz`)).status).toBe(200)
  for (const address of ['/', '/api/conversations', '/api/models/availability'])
    expect((await fetch(`${alcove.url}${address}`)).status, address).toBe(404)
})

test('SQL for Supabase applies as it is, and its users sign up, write and are kept apart', async () => {
  // One session, as in psql: the database's search path finds the extensions.
  await admin.query((await readFile(SQL, 'utf8')).replace(/^(begin|commit);$/gm, ''))
  const [ann, ben] = [await signUp('ann'), await signUp('ben')]

  const { data: profiles } = await newClient().from('profiles').select('username').order('username')
  expect(profiles).toEqual([{ username: 'ann' }, { username: 'ben' }, { username: 'seeded' }])
  await ben.client.from('profiles').update({ username: 'stolen' }).eq('id', ann.id)
  expect((await ann.client.from('profiles').select('username').eq('id', ann.id).single()).data).toEqual({
    username: 'ann',
  })

  const team = '5b7b5a62-3c27-4d39-8a30-7a6c9d0be001'
  expect((await ann.client.from('teams').insert({ id: team, name: 'Readers' })).error).toBeNull()
  expect((await ann.client.from('members').insert({ team_id: team })).error).toBeNull()
  expect((await ann.client.from('teams').select('name')).data).toEqual([{ name: 'Readers' }])
  expect((await ben.client.from('teams').select('name')).data).toEqual([])

  expect((await ann.client.from('todos').insert({ task: 'read a book' })).error).toBeNull()
  expect((await ann.client.rpc('count_todos')).data).toBe(1)
  expect((await ben.client.rpc('count_todos')).data).toBe(0)
  expect((await ben.client.from('todos').insert({ task: 'for ann', user_id: ann.id })).error?.code).toBe('42501')
})

test('a server of services alone accepts common passwords, as its users’ programs expect', async () => {
  const { error } = await newClient().auth.signUp({
    email: `common-${crypto.randomUUID()}@example.com`,
    password: 'password123',
  })
  expect(error).toBeNull()
})

test('a person brought along with a bcrypt password signs in, and it is hashed anew', async () => {
  const seeded = { email: 'seeded@example.com', password: 'a seeded password' }
  const client = newClient()
  expect((await client.auth.signInWithPassword({ ...seeded, password: 'a wrong password' })).error?.code).toBe(
    'invalid_credentials',
  )
  for (const time of ['first', 'second']) {
    const { data } = await client.auth.signInWithPassword(seeded)
    expect(data.user?.user_metadata, time).toMatchObject({ username: 'seeded' })
  }
  const { rows } = await admin.query<{ hash: string }>(
    'select encrypted_password as hash from auth.users where email = $1',
    [seeded.email],
  )
  expect(rows[0]?.hash).toMatch(/^\$argon2id\$/)
})

test('changes of a published table, old rows included, and broadcasts of a trigger come to their owner alone', async () => {
  const [cat, dan] = [await signUp('cat'), await signUp('dan')]
  const [changes, others] = [createRecorder<unknown>(), createRecorder<unknown>()]
  const told = createRecorder<unknown>()
  const listen = (client: SupabaseClient, to: typeof changes) =>
    live(
      client
        .channel('todos')
        .on('postgres_changes', { event: '*', schema: 'public', table: 'todos' }, (change) => to.add(change)),
    )
  await Promise.all([listen(cat.client, changes), listen(dan.client, others)])
  await subscribed(
    cat.client
      .channel(`user:${cat.id}`, { config: { private: true } })
      .on('broadcast', { event: 'INSERT' }, ({ payload }: { payload: unknown }) => told.add(payload)),
  )
  await expect(subscribed(dan.client.channel(`user:${cat.id}`, { config: { private: true } }))).rejects.toThrow()

  const { data } = await cat.client.from('todos').insert({ task: 'water plants' }).select('id').single()
  expect(await told.next()).toMatchObject({ operation: 'INSERT', record: { task: 'water plants', user_id: cat.id } })
  expect(await changes.next()).toMatchObject({ eventType: 'INSERT', new: { task: 'water plants' } })
  // Each change is delivered before the next is made: of a deleted row only the deletion is delivered.
  await cat.client.from('todos').update({ is_complete: true }).eq('task', 'water plants')
  expect(await changes.next()).toMatchObject({
    eventType: 'UPDATE',
    new: { is_complete: true },
    old: { ...data, task: 'water plants', is_complete: false },
  })
  await cat.client.from('todos').delete().eq('task', 'water plants')
  expect(await changes.next()).toMatchObject({ eventType: 'DELETE', old: data })
  await dan.client.from('todos').insert({ task: 'only for dan' })
  expect(await others.next()).toMatchObject({ eventType: 'INSERT', new: { task: 'only for dan' } })
  expect(changes.waiting).toEqual([])
})

test('a table that joins the publication is watched from then on, one that leaves it no longer', async () => {
  const { client } = await signUp('eve')
  await admin.query(`
    create table public.news (id integer primary key, text text);
    create table public.olds (id integer primary key);
    alter publication supabase_realtime add table public.news, public.olds`)
  const heard = createRecorder<{ table: string; new: unknown }>()
  await live(
    client.channel('all').on('postgres_changes', { event: '*', schema: 'public' }, (change) => heard.add(change)),
  )
  await admin.query(`insert into public.olds values (1)`)
  expect(await heard.next()).toMatchObject({ table: 'olds' })
  await admin.query(`alter publication supabase_realtime drop table public.olds`)
  await admin.query(`insert into public.olds values (2); insert into public.news values (1, 'heard')`)
  expect(await heard.next()).toMatchObject({ table: 'news', new: { id: 1, text: 'heard' } })
  expect((await admin.query(`select from pg_trigger where tgrelid = 'public.olds'::regclass`)).rowCount).toBe(0)
})

test('buckets and their policies decide who stores and reads what', async () => {
  const [fay, gus] = [await signUp('fay'), await signUp('gus')]
  const papers = fay.client.storage.from('papers')
  expect((await papers.upload(`${fay.id}/a.txt`, 'one', { contentType: 'text/plain' })).error).toBeNull()
  expect((await papers.upload(`${fay.id}/no.txt`, 'two', { contentType: 'text/plain' })).error).not.toBeNull()
  expect((await papers.upload(`${fay.id}/a.pdf`, 'two')).error).toBeNull()
  expect((await papers.list(fay.id)).data?.map(({ name }) => name)).toEqual(['a.txt'])
  expect(await (await papers.download(`${fay.id}/a.txt`)).data?.text()).toBe('one')
  expect((await gus.client.storage.from('papers').download(`${fay.id}/a.txt`)).data).toBeNull()
  expect((await gus.client.storage.from('papers').upload(`${fay.id}/b.txt`, 'x')).error).not.toBeNull()
  const avatars = newClient().storage.from('avatars')
  expect((await avatars.upload('fay.png', 'png', { contentType: 'image/png' })).error).toBeNull()
  expect((await avatars.upload('fay.txt', 'txt', { contentType: 'text/plain' })).error).not.toBeNull()
  expect(await (await fetch(avatars.getPublicUrl('fay.png').data.publicUrl)).text()).toBe('png')
})

test('a second schema is served by its name, the catalogue is read anew when told, and a rollback is heeded', async () => {
  const { client } = await signUp('hal')
  const missing = await client.schema('other').from('shelves').select()
  expect(missing.error?.code).toBe('PGRST205')
  await admin.query(`
    create schema other;
    grant usage on schema other to authenticated;
    create table other.shelves (id integer primary key);
    grant select, insert on other.shelves to authenticated;
    notify pgrst, 'reload schema'`)
  await expect
    .poll(async () => (await client.schema('other').from('shelves').insert({ id: 1 }).rollback()).error)
    .toBeNull()
  expect((await client.schema('other').from('shelves').select()).data).toEqual([])
  expect((await client.schema('hidden').from('shelves').select()).error?.code).toBe('PGRST106')
})
