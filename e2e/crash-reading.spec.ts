/**
 * Servers are killed while they receive or process a file: it ends ready, with one set of pages and passages, or does
 * not exist.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { createClient } from '@supabase/supabase-js'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { uploadAnswer } from '#contract/document.ts'
import { type AlcoveProcess, startAlcove } from '#test/alcove.ts'
import { copyStartedDataDir } from '#test/started-data.ts'
import { createEmptyDatabase } from '#test/database.ts'
import { makePdf } from '#test/make-pdf.ts'

const PAGES = 60
const PATIENT = { timeout: 60_000, interval: 25 }

let folder: Awaited<ReturnType<typeof copyStartedDataDir>>
let admin: pg.Pool
let environment: Record<string, string>
let alcove: AlcoveProcess
let token = ''

const start = async () => {
  alcove = await startAlcove(environment)
}

beforeAll(async () => {
  const database = await createEmptyDatabase()
  admin = database.admin
  folder = await copyStartedDataDir()
  environment = {
    DATA_DIR: folder.dataDir,
    ...database.environment,
  }
  await start()
  const { supabaseAnonKey } = await alcove.config()
  const client = createClient(alcove.url, supabaseAnonKey, { auth: { persistSession: false } })
  const { data, error } = await client.auth.signUp({ email: `${randomUUID()}@example.test`, password: randomUUID() })
  if (error ?? !data.session) throw error ?? new Error('no session')
  token = data.session.access_token
})
afterAll(async () => {
  await alcove.end()
  await admin.end()
  await folder.remove()
})

const makeReport = () =>
  makePdf(Array.from({ length: PAGES }, (_, page) => `Page ${page + 1} of ${randomUUID()}. `.repeat(30)))

async function upload(bytes: Buffer): Promise<string> {
  const body = new FormData()
  body.append('files', new File([new Uint8Array(bytes)], 'report.pdf'))
  const response = await fetch(`${alcove.url}/api/documents`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body,
  })
  return uploadAnswer.parse(await response.json()).documents[0]?.id ?? ''
}

const stateOf = async (id: string) =>
  (await admin.query<{ state: string }>('select state from documents where id = $1', [id])).rows[0]?.state

async function expectOneWholeSet(id: string): Promise<void> {
  await vi.waitUntil(async () => ['ready', 'failed'].includes((await stateOf(id)) ?? ''), PATIENT)
  const { rows } = await admin.query(
    `select d.state, d.error,
       (select count(*)::int from document_pages where document_id = d.id) as pages,
       (select count(*) - count(distinct (page, "start")) from passages where document_id = d.id)::int as doubled,
       (select count(distinct page)::int from passages where document_id = d.id) as pages_with_passages,
       (select count(*)::int from document_index where document_id = d.id) as indexes
     from documents d where d.id = $1`,
    [id],
  )
  expect(rows).toEqual([
    {
      state: 'ready',
      error: null,
      pages: PAGES,
      doubled: 0,
      pages_with_passages: PAGES,
      indexes: 1,
    },
  ])
}

/** The table whose next write blocks the server. */
const STAGES = [
  ['storing pages', 'document_pages'],
  ['writing passages', 'passages'],
  ['writing the segment', 'search_segments'],
  ['finishing the index', 'document_index'],
] as const

for (const [stage, table] of STAGES) {
  test(`killed while ${stage}, the next server reads the file to its end`, { timeout: 120_000 }, async () => {
    const holder = await admin.connect()
    await holder.query('begin')
    await holder.query(`lock table ${table} in exclusive mode`)
    const id = await upload(makeReport())
    await vi.waitUntil(
      async () =>
        (await admin.query(`select from pg_locks where relation = $1::regclass and not granted`, [table])).rowCount !==
        0,
      PATIENT,
    )
    await alcove.end('SIGKILL')
    await holder.query('rollback')
    holder.release()
    await start()
    await expectOneWholeSet(id)
  })
}

test('killed as soon as the file was taken, the next server reads it', { timeout: 120_000 }, async () => {
  const id = await upload(makeReport())
  await alcove.end('SIGKILL')
  await start()
  await expectOneWholeSet(id)
})

test(
  'killed in the middle of an upload, nothing of it is there, and it can be sent again',
  { timeout: 120_000 },
  async () => {
    const bytes = makeReport()
    const boundary = 'border'
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="files"; filename="report.pdf"\r\n\r\n`
    const sending = request(`${alcove.url}/api/documents`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': `multipart/form-data; boundary=${boundary}`,
        'content-length': head.length + bytes.length + 100,
      },
    })
    const broken = once(sending, 'error')
    const { rows: before } = await admin.query('select id from documents')
    await new Promise((resolve) => sending.write(Buffer.concat([Buffer.from(head), bytes.subarray(0, -100)]), resolve))
    await alcove.end('SIGKILL')
    await broken
    await start()
    expect((await admin.query('select id from documents')).rows).toEqual(before)
    await expectOneWholeSet(await upload(bytes))
  },
)

test('killed again and again while many small files are read, each is read once', { timeout: 300_000 }, async () => {
  const ids: string[] = []
  for (let from = 0; from < 200; from += 50) {
    const body = new FormData()
    for (let n = from; n < from + 50; n += 1)
      body.append('files', new File([`Note ${n} of ${randomUUID()}. It is short.`], `note-${n}.txt`))
    const response = await fetch(`${alcove.url}/api/documents`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body,
    })
    ids.push(...uploadAnswer.parse(await response.json()).documents.map(({ id }) => id))
  }
  const countReady = async () =>
    (await admin.query(`select from documents where id = any ($1) and state = 'ready'`, [ids])).rowCount ?? 0
  for (let kill = 0; kill < 4; kill += 1) {
    const before = await countReady()
    await vi.waitUntil(async () => (await countReady()) > before || before === ids.length, { ...PATIENT, interval: 5 })
    await alcove.end('SIGKILL')
    await start()
  }
  await vi.waitUntil(async () => (await countReady()) === ids.length, { ...PATIENT, timeout: 200_000 })
  const { rows } = await admin.query(
    `select distinct d.pages, d.tries, d.error,
       (select count(*)::int from document_pages where document_id = d.id) as stored,
       (select count(*)::int from passages where document_id = d.id) as passages,
       (select count(*)::int from document_index where document_id = d.id) as indexes
     from documents d where id = any ($1)`,
    [ids],
  )
  expect(rows).toEqual([{ pages: 1, tries: 0, error: null, stored: 1, passages: 1, indexes: 1 }])
  const { rows: used } = await admin.query<{ segments: number; used: number }>(
    `select (select count(*)::int from search_segments) as segments,
       (select count(distinct segment)::int from document_index) as used`,
  )
  expect(used[0]?.segments).toBe(used[0]?.used)
})
