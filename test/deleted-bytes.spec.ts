/** The traces of a deleted account in the files below DATA_DIR, with the embedded database. */
import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { createClient } from '@supabase/supabase-js'
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { codeOf } from '#server/base/errors.ts'
import { createLog } from '#server/base/log.ts'
import { readConfig } from '#server/config.ts'
import { type Alcove, startAlcove } from '#server/start/start.ts'
import { searchTables } from './search-tables.ts'
import { copyStartedDataDir } from './started-data.ts'

const PASSWORD = 'a long enough password'

let folder: Awaited<ReturnType<typeof copyStartedDataDir>>
let alcove: Alcove
let admin: pg.Client
const logged: string[] = []

beforeAll(async () => {
  folder = await copyStartedDataDir()
  const config = readConfig({ DATA_DIR: folder.dataDir, AUTH_AUTOCONFIRM: 'true', PORT: '0' })
  alcove = await startAlcove(config, createLog('debug', { write: (line) => void logged.push(line) }))
  const secrets = JSON.parse(await readFile(path.join(folder.dataDir, 'secrets.json'), 'utf8')) as {
    databasePassword: string
  }
  const host = path.join(folder.dataDir, 'run')
  admin = new pg.Client({ host, user: 'postgres', password: secrets.databasePassword, database: 'alcove' })
  await admin.connect()
})
afterAll(async () => {
  await admin.end()
  await alcove.stop()
  await folder.remove()
})

/** Returns the files below DATA_DIR that hold one of the texts. PostgreSQL may remove some meanwhile. */
async function filesWith(texts: readonly string[]): Promise<string[]> {
  const entries = await readdir(folder.dataDir, { recursive: true, withFileTypes: true })
  const holding: string[] = []
  for (const entry of entries.filter((one) => one.isFile())) {
    const file = path.join(entry.parentPath, entry.name)
    const bytes = await readFile(file).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error
    })
    if (texts.some((text) => bytes?.includes(text))) holding.push(path.relative(folder.dataDir, file))
  }
  return holding
}

const isTableFile = (file: string): boolean => /^postgres\/base\/\d+\/\d+/.test(file)

test('after a deletion no file holds texts of the person, but for free space in files of tables', async () => {
  const apikey = ((await (await fetch(`${alcove.address}/config.json`)).json()) as { supabaseAnonKey: string })
    .supabaseAnonKey
  const word = () => `w${randomUUID().replaceAll('-', '')}`
  const [name, text, question, setting, rejected, stored] = [word(), word(), word(), word(), word(), word()]
  const texts = [name, text, question, setting, rejected, stored]
  // The receipt of the deletion names the address, in the mailbox of a local set-up.
  const email = `${randomUUID()}@example.test`
  const client = createClient(alcove.address, apikey, { auth: { persistSession: false } })
  const { data } = await client.auth.signUp({ email, password: PASSWORD })
  const headers = { authorization: `Bearer ${data.session?.access_token ?? ''}` }
  const id = data.user?.id ?? ''

  const form = new FormData()
  form.append('files', new Blob([`The lamp ${text} stands in the alcove.`], { type: 'text/plain' }), `${name}.txt`)
  expect((await fetch(`${alcove.address}/api/documents`, { method: 'POST', headers, body: form })).status).toBe(201)
  const isReady = async () => (await client.from('documents').select('id').eq('state', 'ready')).data?.length === 1
  await vi.waitUntil(isReady, { timeout: 30_000 })
  const conversation = randomUUID()
  await client.from('conversations').insert({ id: conversation, uid: id, model_name: 'alcove-reader' })
  await client
    .from('messages')
    .insert({ conversation_id: conversation, content: `Where is ${question}?`, sender_role: 1 })
  await vi.waitUntil(async () => (await client.from('messages').select('id')).data?.length === 2, { timeout: 30_000 })
  await client.storage.from('documents').upload(`${id}/${stored}.txt`, new Blob([stored], { type: 'text/plain' }))
  await client.from('user_settings').insert({ owner: id, preferences: { setting } })
  const refusals = [
    await client.from('conversations').select('id').eq('id', rejected),
    await client.from('messages').insert({ conversation_id: rejected, content: rejected, sender_role: 1 }),
    await client.from('messages').insert({ conversation_id: conversation, content: rejected, sender_role: 7 }),
  ]
  for (const { error } of refusals) expect(error).not.toBeNull()

  // Until then new rows are in the log of changes alone.
  await admin.query('checkpoint')
  const before = await filesWith(texts)
  expect(before.some(isTableFile)).toBe(true)
  expect(before.some((file) => file.startsWith('blobs/'))).toBe(true)
  expect(before.some((file) => file.startsWith('postgres/pg_wal/'))).toBe(true)
  const closed = await fetch(`${alcove.address}/auth/v1/account/close`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ confirmation: email, password: PASSWORD }),
  })
  expect(closed.status).toBe(200)

  expect((await searchTables(admin, [id, ...texts])).holding).toEqual([])
  const left = async () => (await filesWith(texts)).filter((file) => !isTableFile(file))
  await expect.poll(left, { timeout: 60_000, interval: 500 }).toEqual([])
  // The log of the server repeats none of it either, nor the address.
  expect(logged.filter((line) => texts.some((one) => line.includes(one)))).toEqual([])

  const vacuumed = await admin.query(
    `select from pg_stat_user_tables where schemaname = 'public' and relname in ('messages', 'documents', 'passages') and last_vacuum is not null`,
  )
  expect(vacuumed.rowCount).toBe(3)
  await expect.poll(async () => (await admin.query<object>('show wal_recycle')).rows).toEqual([{ wal_recycle: 'on' }])
}, 180_000)
