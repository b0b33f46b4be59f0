import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import type { PersonClaims } from '#server/access/authenticate.ts'
import { createDiskStore } from '#server/blobs/disk.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { readZip } from '#test/read-zip.ts'
import { writeArchive } from './archive.ts'

let db: TestDatabase
let blobs: BlobStore
let folder: string
let owner: PersonClaims
let stranger: PersonClaims

const SECRET = 'xylophone'
const LEASE = randomBytes(300_000)

beforeAll(async () => {
  db = await createTestDatabase()
  folder = await mkdtemp(path.join(tmpdir(), 'alcove-export-'))
  blobs = createDiskStore(folder)
  owner = { ...(await db.createPerson('owner@example.test')), exp: 0 }
  stranger = { ...(await db.createPerson()), exp: 0 }
  await seed()
})
afterAll(async () => {
  await db.drop()
  await rm(folder, { recursive: true })
})

async function addDocument(filename: string, bytes: Readable, mimetype = 'application/pdf'): Promise<string> {
  const id = randomUUID()
  const blob = await blobs.put(bytes)
  await db.admin.query(
    `insert into documents (id, owner, filename, originalname, mimetype, size, path, sha256, state)
     values ($1, $2, $3, 'as-uploaded.pdf', $6, $4, $5, gen_random_uuid()::text, 'ready')`,
    [id, owner.sub, filename, blob.size, blob.id, mimetype],
  )
  return id
}

async function seed(): Promise<void> {
  const leaseId = await addDocument('Lease (2026).pdf', Readable.from([LEASE]))
  await addDocument('../../etc/cron.d/evil', Readable.from(['renamed without an ending']))
  await addDocument('LEASE (2026).PDF', Readable.from(['another']))
  await addDocument('notes.txt', Readable.from(['text '.repeat(20_000)]), 'text/plain')
  const goneId = await addDocument('gone.pdf', Readable.from(['soon gone']))
  const { rows } = await db.admin.query<{ path: string }>('select path from documents where id = $1', [goneId])
  await blobs.remove(rows[0]?.path ?? '')

  const conversationId = randomUUID()
  await db.admin.query(
    `insert into conversations (id, uid, title, model_name, started_at)
     values ($1, $2, $3, 'alcove-reader', '2026-03-04T05:06:07Z')`,
    [conversationId, owner.sub, `Rent / deposit: ${SECRET}?`],
  )
  const source = { n: 1, documentId: leaseId, filename: 'Lease (2026).pdf', page: 3, start: 10, end: 40, score: 2.5 }
  const said = {
    n: 2,
    messageId: randomUUID(),
    conversationId,
    position: 1,
    title: 'Old [talk]',
    senderRole: 1,
    score: 1,
  }
  await db.admin.query(
    `insert into messages (conversation_id, content, sender_role, metadata)
     values ($1, 'How much is the deposit?', 1, '{}'), ($1, 'Three rents [1]. ![](https://evil.test/a)', 2, $2)`,
    [
      conversationId,
      JSON.stringify({
        model: 'alcove-reader',
        sources: [
          { ...source, text: 'The deposit\nis three rents. <img src=x>' },
          { ...said, createdAt: '2025-01-02T03:04:05Z', text: 'Remember it.' },
        ],
      }),
    ],
  )
  await db.admin.query(
    `insert into messages (conversation_id, content, sender_role)
     select $1, 'line ' || i, 3 from generate_series(1, 3000) i`,
    [conversationId],
  )
  await db.admin.query(`insert into user_settings (owner, preferences) values ($1, '{"stored": true}')`, [owner.sub])
}

const archiveOf = async (claims: PersonClaims) =>
  readZip(await buffer(writeArchive({ database: db.database, blobs }, claims)))

test('contains conversations, files, citations, settings, and an index of them', async () => {
  const files = await archiveOf(owner)
  const talk = 'conversations/2026-03-04 Rent - deposit- xylophone-'
  expect([...files.keys()].toSorted()).toEqual(
    [
      'README.md',
      'citations.json',
      `${talk}.json`,
      `${talk}.md`,
      'documents/-..-etc-cron.d-evil.pdf',
      'documents/LEASE (2026).PDF',
      'documents/Lease (2026) (2).pdf',
      'documents/notes.txt',
      'settings.json',
    ].toSorted(),
  )
  expect(files.get('documents/notes.txt')?.length).toBe(100_000)
  const leases = [files.get('documents/LEASE (2026).PDF'), files.get('documents/Lease (2026) (2).pdf')]
  expect(leases.some((lease) => lease?.equals(LEASE))).toBe(true)

  const markdown = files.get(`${talk}.md`)?.toString() ?? ''
  expect(markdown).toContain('# Rent / deposit: xylophone?')
  expect(markdown).toContain('## You, ')
  expect(markdown).toMatch(/1\. \[Lease \(2026\)\.pdf\]\(<\.\.\/documents\/lease \(2026\)( \(2\))?\.pdf>\), page 3/i)
  expect(markdown).toContain('   > The deposit\n   > is three rents. &lt;img src=x>')
  expect(markdown).toContain('Three rents [1]. &#33;[](https://evil.test/a)')
  expect(markdown).toContain('2. Old \\[talk\\], You, 2025-01-02 03:04 UTC\n\n   > Remember it.')
  expect(markdown.indexOf('line 2999')).toBeGreaterThan(markdown.indexOf('line 1\n'))

  const json = z
    .object({ title: z.string(), messages: z.array(z.object({ content: z.string() })) })
    .parse(JSON.parse(files.get(`${talk}.json`)?.toString() ?? ''))
  expect(json.messages).toHaveLength(3002)
  expect(json.messages[0]?.content).toBe('How much is the deposit?')
  expect(JSON.parse(files.get('citations.json')?.toString() ?? '')).toMatchObject([
    { n: 1, page: 3, start: 10, end: 40 },
    { n: 2, position: 1 },
  ])
  expect(JSON.parse(files.get('settings.json')?.toString() ?? '')).toMatchObject({
    account: { email: 'owner@example.test' },
    settings: { preferences: { stored: true } },
  })
  const index = files.get('README.md')?.toString() ?? ''
  expect(index).toContain('1 conversations, 4 documents')
  expect(index).toMatch(/could not be read any more\n\n- gone\.pdf/)
})

test('contains replaced versions, to which citations still refer', async () => {
  const newestId = await addDocument('rules.txt', Readable.from(['lit at five']), 'text/plain')
  const replacedId = await addDocument('rules.txt', Readable.from(['lit at four']), 'text/plain')
  await db.admin.query('update documents set series = $2, version = 2 where id = $1', [newestId, newestId])
  await db.admin.query('update documents set series = $2, version = 1, superseded_at = now() where id = $1', [
    replacedId,
    newestId,
  ])
  const source = { n: 1, documentId: replacedId, filename: 'rules.txt', page: 1, start: 0, end: 11, score: 1 }
  const { rows } = await db.admin.query<{ id: string }>(
    `insert into conversations (uid, title, model_name) values ($1, 'Lamps', 'alcove-reader') returning id`,
    [owner.sub],
  )
  await db.admin.query(
    `insert into messages (conversation_id, content, sender_role, metadata) values ($1, 'At four [1].', 2, $2)`,
    [rows[0]?.id, JSON.stringify({ model: 'alcove-reader', sources: [{ ...source, text: 'lit at four' }] })],
  )
  const files = await archiveOf(owner)
  expect(files.get('documents/rules.txt')?.toString()).toBe('lit at five')
  expect(files.get('documents/older versions/rules, version 1.txt')?.toString()).toBe('lit at four')
  const talk = [...files.keys()].find((name) => / Lamps\.md$/.test(name)) ?? ''
  expect(files.get(talk)?.toString()).toContain('(<../documents/older versions/rules, version 1.txt>)')
  expect(files.get('README.md')?.toString()).toContain('## Older versions of them\n\n- [rules.txt, version 1]')
  await db.admin.query('delete from documents where id = any ($1)', [[newestId, replacedId]])
})

test('a second user gets an empty archive', async () => {
  const files = await archiveOf(stranger)
  expect([...files.keys()]).toEqual(['citations.json', 'settings.json', 'README.md'])
  for (const content of files.values()) {
    expect(content.toString()).not.toContain(SECRET)
    expect(content.toString()).not.toContain(owner.sub)
  }
})

test('needs no more memory for large files, and stops reading when the client stops', async () => {
  const size = 200 * 1024 * 1024
  const piece = randomBytes(1024 * 1024)
  const large = Readable.from(
    (function* () {
      for (let sent = 0; sent < size; sent += piece.length) yield piece
    })(),
  )
  const id = await addDocument('large.pdf', large)
  const before = process.memoryUsage.rss()
  let received = 0
  let peak = 0
  for await (const chunk of writeArchive({ database: db.database, blobs }, owner) as AsyncIterable<Buffer>) {
    received += chunk.length
    peak = Math.max(peak, process.memoryUsage.rss())
  }
  expect(received).toBeGreaterThan(size)
  expect(peak - before).toBeLessThan(128 * 1024 * 1024)

  const opened: Readable[] = []
  const watched: BlobStore = {
    ...blobs,
    async open(...place) {
      const bytes = await blobs.open(...place)
      opened.push(bytes)
      return bytes
    },
  }
  const leaving = writeArchive({ database: db.database, blobs: watched }, owner)
  let taken = 0
  for await (const chunk of leaving as AsyncIterable<Buffer>) {
    taken += chunk.length
    if (taken > 10 * 1024 * 1024) break
  }
  expect(opened).not.toHaveLength(0)
  for (const bytes of opened) if (!bytes.closed) await once(bytes, 'close')
  await db.admin.query('delete from documents where id = $1', [id])
})
