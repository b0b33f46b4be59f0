/** A person who has reached a quota, on every route that stores something: refused with a sentence, and nothing is kept. */
import { randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { createClient } from '@supabase/supabase-js'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { uploadAnswer } from '#contract/document.ts'
import { ownUsage } from '#contract/usage.ts'
import { createLog } from '#server/base/log.ts'
import { readConfig } from '#server/config.ts'
import { type Alcove, startAlcove } from '#server/start/start.ts'
import { createEmptyDatabase } from './database.ts'
import { copyStartedDataDir } from './started-data.ts'

const LIMIT = 1_000_000
const LONG = 'x'.repeat(30_000)
const FULL_TEXT = /^Your conversations use [\d.]+ (kB|MB) of 1 MB\. Delete some to write more\.$/
const FULL_FILES = /^Your documents use [\d.]+ (kB|MB) of 1 MB\. Delete some to upload more\.$/

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
    RATE_LIMITS: 'off',
    TRUST_PROXY: '1',
    QUOTA_FILES_MB: '1',
    QUOTA_TEXT_MB: '1',
  })
  alcove = await startAlcove(config, createLog('silent'))
  const answer = await fetch(`${alcove.address}/config.json`)
  apikey = ((await answer.json()) as { supabaseAnonKey: string }).supabaseAnonKey
  await admin.query(`
    create function public.start_conversation(title text) returns void language sql volatile
      as $$ insert into public.conversations (title, model_name) values (title, 'alcove-reader') $$;
    grant execute on function public.start_conversation(text) to authenticated;
    insert into storage.buckets (id, name) values ('shelf', 'shelf');
    create policy "everyone uses the shelf" on storage.objects to authenticated
      using (bucket_id = 'shelf') with check (bucket_id = 'shelf');
    notify pgrst, 'reload schema'`)
})
afterAll(async () => {
  await alcove.stop()
  await admin.end()
  await folder.remove()
})

let people = 0

async function signUp() {
  people += 1
  const address = `192.0.2.${people}`
  const client = createClient(alcove.address, apikey, {
    auth: { persistSession: false, autoRefreshToken: false },
    global: { headers: { 'x-forwarded-for': address } },
  })
  const { data, error } = await client.auth.signUp({
    email: `p${people}@example.test`,
    password: 'a long enough password',
  })
  if (error ?? !data.session) throw error ?? new Error('no session')
  const { id } = data.session.user
  const headers = { apikey, authorization: `Bearer ${data.session.access_token}`, 'x-forwarded-for': address }
  const request = (method: string, where: string, body?: unknown): Promise<Response> =>
    fetch(alcove.address + where, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  return {
    client,
    id,
    headers,
    request,
    shelf: client.storage.from('shelf'),
    usage: async () => ownUsage.parse((await client.rpc('own_usage').single()).data),
    /** Counts further bytes, as if they were stored. */
    use: (bytes: { files?: number; texts?: number }) =>
      admin.query('insert into usage_changes (owner, file_bytes, text_bytes) values ($1, $2, $3)', [
        id,
        bytes.files ?? 0,
        bytes.texts ?? 0,
      ]),
    async converse() {
      const conversation = randomUUID()
      const made = await client
        .from('conversations')
        .insert({ id: conversation, uid: id, model_name: 'alcove-reader', title: 'A talk' })
      if (made.error) throw made.error
      return conversation
    },
  }
}
type Person = Awaited<ReturnType<typeof signUp>>

const bytesOf = (count: number) => new Blob(['y'.repeat(count)], { type: 'text/plain' })

async function expectRefused(response: Response, message: RegExp): Promise<void> {
  expect(response.status).toBe(413)
  const body = (await response.json()) as { error: { code: string; message: string } }
  expect(body.error.code).toBe('too_large')
  expect(body.error.message).toMatch(message)
}

/** Bytes on the disk that no row names. */
async function countStrayFiles(): Promise<number> {
  const entries = await readdir(path.join(folder.dataDir, 'blobs'), { recursive: true, withFileTypes: true })
  const { rows } = await admin.query<{ id: string }>(
    'select blob_id as id from storage.objects union all select path from documents',
  )
  const named = new Set(rows.map(({ id }) => id))
  return entries.filter((entry) => entry.isFile() && !named.has(entry.name)).length
}

describe('conversations', () => {
  const WRITES: [string, (person: Person, conversation: string) => PromiseLike<{ error: unknown; status: number }>][] =
    [
      ['an insert', ({ client, id }) => client.from('conversations').insert({ uid: id, model_name: 'm', title: LONG })],
      [
        'an insert of many rows',
        ({ client }, conversation_id) =>
          client
            .from('messages')
            .insert(
              Array.from({ length: 20 }, () => ({ conversation_id, content: 'x'.repeat(1_000), sender_role: 1 })),
            ),
      ],
      [
        'an upsert',
        ({ client, id }) =>
          client
            .from('conversations')
            .upsert({ id: randomUUID(), uid: id, model_name: 'm', title: LONG }, { ignoreDuplicates: true }),
      ],
      [
        'a change',
        ({ client }, conversation) =>
          client
            .from('conversations')
            .update({ metadata: { text: LONG } })
            .eq('id', conversation),
      ],
      ['a function', ({ client }) => client.rpc('start_conversation', { title: LONG })],
    ]

  test.each(WRITES)('%s through the data service is refused with a sentence', async (_, write) => {
    const person = await signUp()
    const conversation = await person.converse()
    await person.use({ texts: LIMIT - 10_000 })
    const before = await person.usage()
    const { error, status } = await write(person, conversation)
    expect(status).toBe(413)
    expect(error).toMatchObject({ code: 'PT413', message: expect.stringMatching(FULL_TEXT) as unknown })
    expect(await person.usage()).toEqual(before)
  })

  test('questions, branches, retries, rewrites and continued answers through the product’s API', async () => {
    const person = await signUp()
    const conversation = await person.converse()
    const asked = await person.request('POST', `/api/conversations/${conversation}/messages`, { content: 'A lamp?' })
    expect(asked.status).toBe(201)
    const question = ((await asked.json()) as { id: string }).id
    const answer = await vi.waitUntil(
      async () =>
        (
          await admin.query<{ id: string }>(
            'select m.id from messages m join replies r on r.answer_id = m.id where r.message_id = $1',
            [question],
          )
        ).rows[0]?.id,
      { timeout: 30_000 },
    )
    await admin.query(
      `update messages set content = 'Half', metadata = '{"stopped": true, "model": "m"}' where id = $1`,
      [answer],
    )
    await person.use({ texts: LIMIT })
    const count = async () =>
      (
        await admin.query('select from messages m join conversations c on c.id = m.conversation_id where c.uid = $1', [
          person.id,
        ])
      ).rowCount
    const before = await count()
    const base = `/api/conversations/${conversation}`
    for (const [where, body] of [
      ['/api/conversations', { model_name: 'alcove-reader' }],
      [`${base}/messages`, { content: 'Another lamp?' }],
      [`${base}/branch`, { message_id: question, new_message_id: randomUUID(), content: 'A chair?' }],
      [`${base}/retry`, {}],
      [`${base}/messages/${answer}/regenerate`, {}],
      [`${base}/messages/${answer}/continue`, {}],
    ] as const)
      await expectRefused(await person.request('POST', where, body), FULL_TEXT)
    await expectRefused(await person.request('PATCH', base, { title: 'x'.repeat(200) }), FULL_TEXT)
    expect(await count()).toBe(before)
    expect((await person.request('DELETE', base)).status).toBe(204)
  })

  test('ratings and consents', async () => {
    const person = await signUp()
    const conversation = await person.converse()
    const { rows } = await admin.query<{ id: string }>(
      `insert into messages (conversation_id, content, sender_role) values ($1, 'An answer', 2) returning id`,
      [conversation],
    )
    const server = randomUUID()
    const added = await person.client
      .from('tool_servers')
      .insert({ id: server, owner: person.id, name: 'home', url: 'https://tools.test/mcp' })
    expect(added.error).toBeNull()
    await person.use({ texts: LIMIT })
    const refused = { status: 413, error: { code: 'PT413', message: expect.stringMatching(FULL_TEXT) as unknown } }
    expect(
      await person.client.from('message_feedback').insert({ message_id: rows[0]?.id, rating: -1, reason: 'wrong' }),
    ).toMatchObject(refused)
    expect(
      await person.client
        .from('tool_consents')
        .insert({ conversation_id: conversation, server_id: server, tool: 'add' }),
    ).toMatchObject(refused)
  })

  test('of many at once, only those are accepted for which there is room', async () => {
    const person = await signUp()
    const made = await Promise.all(
      Array.from({ length: 20 }, () =>
        person.client
          .from('conversations')
          .insert({ uid: person.id, model_name: 'm', metadata: { text: 'x'.repeat(100_000) } }),
      ),
    )
    expect(made.filter(({ error }) => error === null)).toHaveLength(9)
    for (const { error, status } of made) if (error) expect([status, error.code]).toEqual([413, 'PT413'])
    expect((await person.usage()).text_bytes).toBeLessThanOrEqual(LIMIT)
  })
})

describe('what a person connects and prefers, past the product’s API', () => {
  test.each([
    ['own_providers', 20, { kind: 'compatible', base_url: 'https://models.test' }],
    ['tool_servers', 10, { url: 'https://tools.test' }],
  ] as const)('%s have a number, also at once and in one request', async (table, limit, members) => {
    const person = await signUp()
    const row = (n: number): Record<string, unknown> => ({ ...members, name: `s${n}` })
    const many = await person.client.from(table).insert(Array.from({ length: limit + 1 }, (_, n) => row(n)))
    expect(many).toMatchObject({ status: 409, error: { code: 'PT409' } })
    const each = await Promise.all(
      Array.from({ length: limit + 5 }, (_, n) => person.client.from(table).insert(row(n))),
    )
    const refused = each.filter(({ error }) => error !== null)
    expect(refused).toHaveLength(5)
    for (const one of refused)
      expect(one).toMatchObject({
        status: 409,
        error: { code: 'PT409', message: expect.stringMatching(/connected already\. Remove one first\.$/) as unknown },
      })
  })

  test('preferences, drafts in them, and metadata of the account have a size', async () => {
    const person = await signUp()
    const settings = { preferences: { draft: 'x'.repeat(256_000) } }
    expect(await person.client.from('user_settings').upsert(settings, { onConflict: 'owner' })).toMatchObject({
      status: 413,
      error: { code: 'PT413', message: 'Your preferences may take at most 256 kB.' },
    })
    const { error } = await person.client.auth.updateUser({ data: { draft: 'x'.repeat(40_000) } })
    expect(error).toMatchObject({
      status: 413,
      code: 'request_entity_too_large',
      message: 'The user metadata of one account may take at most 32 kB.',
    })
  })
})

describe('stored objects', () => {
  const refused = { statusCode: '413', message: expect.stringMatching(FULL_FILES) as unknown }

  test('by their declared size, by what arrives of a stream, and over a signed address', async () => {
    const person = await signUp()
    await person.use({ files: LIMIT - 100_000 })
    expect((await person.shelf.upload(`${person.id}/a`, bytesOf(200_000))).error).toMatchObject(refused)
    const chunks = Array.from({ length: 20 }, () => new TextEncoder().encode('z'.repeat(10_000)))
    const streamed = await fetch(`${alcove.address}/storage/v1/object/shelf/${person.id}/b`, {
      method: 'POST',
      headers: { ...person.headers, 'content-type': 'text/plain' },
      body: ReadableStream.from(chunks),
      duplex: 'half',
    })
    expect(await streamed.json()).toMatchObject(refused)
    const signed = await person.shelf.createSignedUploadUrl(`${person.id}/c`)
    if (signed.error) throw signed.error
    const { path: where, token } = signed.data
    expect((await person.shelf.uploadToSignedUrl(where, token, bytesOf(200_000))).error).toMatchObject(refused)
    // A document is stored twice: as the object and as the document.
    const documents = person.client.storage.from('documents')
    expect((await documents.upload(`${person.id}/d.txt`, bytesOf(60_000))).error).toMatchObject(refused)
    expect((await admin.query('select from storage.objects where owner = $1', [person.id])).rowCount).toBe(0)
    expect((await person.usage()).file_bytes).toBe(LIMIT - 100_000)
    await expect.poll(countStrayFiles).toBe(0)
    expect((await person.shelf.upload(`${person.id}/a`, bytesOf(50_000))).error).toBeNull()
  })

  test('a copy, and an object that is taken from somebody; a move within one’s own takes no room', async () => {
    const [person, other] = [await signUp(), await signUp()]
    expect((await person.shelf.upload(`${person.id}/own`, bytesOf(60_000))).error).toBeNull()
    expect((await other.shelf.upload(`${other.id}/theirs`, bytesOf(60_000))).error).toBeNull()
    await person.use({ files: LIMIT - 100_000 })
    expect((await person.shelf.copy(`${person.id}/own`, `${person.id}/copy`)).error).toMatchObject(refused)
    expect((await person.shelf.move(`${other.id}/theirs`, `${person.id}/taken`)).error).toMatchObject(refused)
    expect((await person.shelf.move(`${person.id}/own`, `${person.id}/moved`)).error).toBeNull()
    const { rows } = await admin.query<{ name: string }>(
      'select name from storage.objects where owner = any ($1) order by 1',
      [[person.id, other.id]],
    )
    expect(rows.map(({ name }) => name).toSorted()).toEqual([`${other.id}/theirs`, `${person.id}/moved`].toSorted())
    await expect.poll(countStrayFiles).toBe(0)
  })

  test('resumable uploads are not offered, so that none is left half done', async () => {
    const person = await signUp()
    for (const [method, where, headers] of [
      ['POST', '', { 'upload-length': '1000' }],
      ['POST', '', { 'upload-defer-length': '1' }],
      ['POST', '', { 'upload-concat': 'final;/a /b' }],
      ['PATCH', '/abc', { 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' }],
    ] as const) {
      const response = await fetch(`${alcove.address}/storage/v1/upload/resumable${where}`, {
        method,
        headers: { ...person.headers, 'tus-resumable': '1.0.0', ...headers },
        body: 'some bytes',
      })
      expect(response.status).toBe(404)
    }
    await expect.poll(countStrayFiles).toBe(0)
  })

  test('of many at once, only those are accepted for which there is room', async () => {
    const person = await signUp()
    const stored = await Promise.all(
      Array.from({ length: 12 }, (_, n) => person.shelf.upload(`${person.id}/${n}`, bytesOf(150_000))),
    )
    expect(stored.filter(({ error }) => error === null)).toHaveLength(6)
    for (const { error } of stored) if (error) expect(error).toMatchObject(refused)
    expect((await person.usage()).file_bytes).toBeLessThanOrEqual(LIMIT)
    await expect.poll(countStrayFiles).toBe(0)
  })
})

describe('documents', () => {
  const upload = async (person: Person, files: readonly [name: string, bytes: number][]) => {
    const form = new FormData()
    for (const [name, bytes] of files)
      form.append(
        'files',
        new File([`${name} The lamp stands in the alcove. `.padEnd(bytes, 'The lamp stands. ')], name),
      )
    return fetch(`${alcove.address}/api/documents`, { method: 'POST', headers: person.headers, body: form })
  }

  test('of one upload, the files that fit are added, and the others are named', async () => {
    const person = await signUp()
    const response = await upload(person, [
      ['first.txt', 200_000],
      ['large.txt', 900_000],
      ['last.txt', 200_000],
    ])
    expect(response.status).toBe(201)
    const { documents, rejected } = uploadAnswer.parse(await response.json())
    expect(documents.map(({ filename }) => filename)).toEqual(['first.txt', 'last.txt'])
    expect(rejected).toEqual([
      {
        name: 'large.txt',
        status: 413,
        message: expect.stringMatching(
          /^"large\.txt" was not added\. Your documents use 0 kB of 1 MB\. Delete some/,
        ) as unknown,
      },
    ])
    await expect.poll(countStrayFiles).toBe(0)
  })

  test('a version, and a file for which there is no room at all', async () => {
    const person = await signUp()
    const { documents } = uploadAnswer.parse(await (await upload(person, [['first.txt', 1_000]])).json())
    await person.use({ files: LIMIT })
    await expectRefused(
      await upload(person, [['second.txt', 1_000]]),
      /^"second\.txt" was not added\. Your documents use/,
    )
    const form = new FormData()
    form.append('files', new File(['A newer one.'], 'newer.txt'))
    const version = await fetch(`${alcove.address}/api/documents/${documents[0]?.id ?? ''}/versions`, {
      method: 'POST',
      headers: person.headers,
      body: form,
    })
    await expectRefused(version, /^"newer\.txt" was not added\. Your documents use/)
    await expect.poll(countStrayFiles).toBe(0)
  })
})

test('usage is what one uses oneself', async () => {
  const [person, other] = [await signUp(), await signUp()]
  await person.use({ files: 5_000, texts: 7_000 })
  const limits = { file_limit: LIMIT, text_limit: LIMIT }
  expect(await person.usage()).toEqual({ ...limits, file_bytes: 5_000, text_bytes: 7_000 })
  expect(await other.usage()).toEqual({ ...limits, file_bytes: 0, text_bytes: 0 })
  for (const table of ['usage', 'usage_changes', 'vector_usage'])
    expect(await other.client.from(table).select('owner')).toMatchObject({ error: null, data: [] })
  const anonymous = createClient(alcove.address, apikey, { auth: { persistSession: false } })
  expect((await anonymous.rpc('own_usage')).error).toMatchObject({ code: '42501' })
})
