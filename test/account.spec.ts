/** Account export and account deletion on a complete server. */
import { randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { createClient } from '@supabase/supabase-js'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { closingReceipt } from '#contract/auth.ts'
import { createLog } from '#server/base/log.ts'
import { readConfig } from '#server/config.ts'
import { type Alcove, startAlcove } from '#server/start/start.ts'
import { copyStartedDataDir } from './started-data.ts'
import { createEmptyDatabase } from './database.ts'
import { readZip } from './read-zip.ts'
import { searchTables } from './search-tables.ts'

const PASSWORD = 'a long enough password'

let folder: Awaited<ReturnType<typeof copyStartedDataDir>>
let alcove: Alcove
let apikey: string
let admin: pg.Pool

beforeAll(async () => {
  const database = await createEmptyDatabase()
  admin = database.admin
  folder = await copyStartedDataDir()
  const config = readConfig({
    DATA_DIR: folder.dataDir,
    ...database.environment,
    PORT: '0',
    LOG_LEVEL: 'silent',
  })
  alcove = await startAlcove(config, createLog('silent'))
  const answer = await fetch(`${alcove.address}/config.json`)
  apikey = ((await answer.json()) as { supabaseAnonKey: string }).supabaseAnonKey
})
afterAll(async () => {
  await alcove.stop()
  await admin.end()
  await folder.remove()
})

async function signUp() {
  const email = `${randomUUID()}@example.test`
  const client = createClient(alcove.address, apikey, { auth: { persistSession: false } })
  const { data, error } = await client.auth.signUp({ email, password: PASSWORD })
  if (error ?? !data.session) throw error ?? new Error('no session')
  return { client, email, id: data.session.user.id, token: data.session.access_token }
}
type Person = Awaited<ReturnType<typeof signUp>>

const call = ({ token }: Person, method: string, at: string, body?: string | FormData) =>
  fetch(alcove.address + at, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
    },
    ...(body === undefined ? {} : { body }),
  })

/** Creates a read document, an answered conversation, a stored file, settings and feedback. */
async function live(person: Person): Promise<void> {
  const { client, id } = person
  const form = new FormData()
  form.append('files', new Blob([`The lamp of ${id} stands in the alcove.`], { type: 'text/plain' }), 'lamp.txt')
  expect((await call(person, 'POST', '/api/documents', form)).status).toBe(201)
  await vi.waitUntil(
    async () => (await client.from('documents').select('id').eq('state', 'ready')).data?.length === 1,
    {
      timeout: 20_000,
    },
  )
  const conversation = randomUUID()
  await client.from('conversations').insert({ id: conversation, uid: id, model_name: 'alcove-reader' })
  await client.from('messages').insert({ conversation_id: conversation, content: 'Where is the lamp?', sender_role: 1 })
  await vi.waitUntil(async () => (await client.from('messages').select('id')).data?.length === 2, { timeout: 20_000 })
  const stored = await client.storage
    .from('documents')
    .upload(`${id}/own.txt`, new Blob(['own'], { type: 'text/plain' }))
  expect(stored.error).toBeNull()
  await client.from('user_settings').insert({ owner: id, preferences: { a: 1 } })
  await client.auth.mfa.enroll({ factorType: 'totp' })
}

const close = (person: Person, body: object) => call(person, 'POST', '/auth/v1/account/close', JSON.stringify(body))

/** Returns every table of every schema with a row that names the person. */
async function tablesThatName(id: string): Promise<string[]> {
  const { read, holding } = await searchTables(admin, [id])
  expect(read.length).toBeGreaterThan(30)
  return holding
}

const blobsOnDisk = async () => {
  const entries = await readdir(path.join(folder.dataDir, 'blobs'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
}

test('the archive holds the own documents and conversations, and none of a second user', async () => {
  const [first, second] = [await signUp(), await signUp()]
  await live(first)
  const answer = await call(first, 'GET', '/api/account/export')
  expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="alcove-\d{4}-\d\d-\d\d\.zip"$/)
  expect(answer.headers.get('cache-control')).toBe('no-store')
  const files = readZip(Buffer.from(await answer.arrayBuffer()))
  expect(files.get('documents/lamp.txt')?.toString()).toContain(first.id)
  expect([...files.keys()].some((name) => name.startsWith('conversations/'))).toBe(true)
  const strange = readZip(Buffer.from(await (await call(second, 'GET', '/api/account/export')).arrayBuffer()))
  for (const content of strange.values()) expect(content.toString()).not.toContain(first.id)
  expect((await fetch(`${alcove.address}/api/account/export`)).status).toBe(401)
  const led = await fetch(`${alcove.address}/api/account/export`, {
    headers: { cookie: `alcove-session=${first.token}`, 'sec-fetch-site': 'cross-site' },
  })
  expect(led.status).toBe(403)
})

test('an account is deleted only for who types its address and knows its password', async () => {
  const [person, stranger] = [await signUp(), await signUp()]
  const wrong = [{}, { confirmation: person.email }, { confirmation: person.email, password: 'not the password' }]
  for (const body of [...wrong, { confirmation: 'other@example.test', password: PASSWORD }])
    expect((await close(person, body)).status).toBe(403)
  expect((await close(stranger, { confirmation: person.email, password: PASSWORD })).status).toBe(403)
  const { error } = await person.client.auth.getUser()
  expect(error).toBeNull()
})

test('after the deletion no table names the person, no bytes are left, and every device is signed out', async () => {
  const [person, neighbour] = [await signUp(), await signUp()]
  await live(neighbour)
  const before = await blobsOnDisk()
  await live(person)
  expect((await tablesThatName(person.id)).length).toBeGreaterThan(8)
  expect((await blobsOnDisk()).length).toBeGreaterThan(before.length)
  const elsewhere = createClient(alcove.address, apikey, { auth: { persistSession: false } })
  const other = await elsewhere.auth.signInWithPassword({ email: person.email, password: PASSWORD })
  const statuses: string[] = []
  elsewhere
    .channel('any')
    .on('postgres_changes', { event: '*', schema: 'public' }, () => undefined)
    .subscribe((status) => void statuses.push(status))
  await expect.poll(() => statuses).toEqual(['SUBSCRIBED'])

  const answer = await close(person, { confirmation: person.email, password: PASSWORD })
  expect(answer.status).toBe(200)
  const receipt = closingReceipt.parse(await answer.json())
  expect(receipt).toMatchObject({
    account: person.email,
    removed: { conversations: 1, messages: 2, documents: 2, stored_files: 1, user_settings: 1, sessions: 2 },
  })
  expect(receipt.removed['document_bytes']).toBeGreaterThan(40)

  await expect.poll(() => statuses).toContain('CLOSED')
  for (const token of [person.token, other.data.session?.access_token ?? ''])
    expect((await call({ ...person, token }, 'GET', '/api/documents')).status).toBe(401)
  const refreshed = await elsewhere.auth.refreshSession()
  expect(refreshed.error).not.toBeNull()
  const again = await elsewhere.auth.signInWithPassword({ email: person.email, password: PASSWORD })
  expect(again.error?.code).toBe('invalid_credentials')

  expect(await tablesThatName(person.id)).toEqual([])
  expect((await blobsOnDisk()).toSorted()).toEqual(before.toSorted())
  expect((await neighbour.client.from('documents').select('id')).data).toHaveLength(2)
})
