/** Documents that an account has queued wait while it is disabled, and those of other accounts do not. */
import { randomUUID } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { claimDocument, claimNewDocuments } from '#server/documents/store/ingestion.ts'
import { createTestDatabase } from './database.ts'
import { createPeopledSpace, type Person } from './spaces.ts'

const db = await createTestDatabase()
afterAll(() => db.drop())

async function addDocument(owner: Person, state: string, space: string | null = null): Promise<string> {
  const [id, hash] = [randomUUID(), randomUUID().replaceAll('-', '').repeat(2)]
  await db.admin.query(
    `insert into documents (id, owner, space_id, filename, originalname, mimetype, size, sha256, path, state, tries)
     values ($1, $2, $3, 'note.txt', 'note.txt', 'text/plain', 1, $4, $4, $5, 1)`,
    [id, owner.sub, space, hash, state],
  )
  return id
}

const stateOf = async (id: string) =>
  (await db.admin.query<{ state: string; tries: number }>('select state, tries from documents where id = $1', [id]))
    .rows[0]

test('documents that wait or are being read are paused, except in a space and of other people', async () => {
  const { owner, editor, space } = await createPeopledSpace(db)
  const [queued, reading, ready] = [
    await addDocument(owner, 'queued'),
    await addDocument(owner, 'reading'),
    await addDocument(owner, 'ready'),
  ]
  const [shared, other] = [await addDocument(owner, 'queued', space), await addDocument(editor, 'queued')]
  await db.admin.query(`update auth.users set banned_until = now() + interval '1 day' where id = $1`, [owner.sub])
  expect(await stateOf(queued)).toEqual({ state: 'paused', tries: 1 })
  expect(await stateOf(reading)).toEqual({ state: 'paused', tries: 0 })
  expect(await stateOf(ready)).toEqual({ state: 'ready', tries: 1 })
  expect(await stateOf(shared)).toEqual({ state: 'queued', tries: 1 })
  expect(await stateOf(other)).toEqual({ state: 'queued', tries: 1 })

  await db.admin.query('update auth.users set banned_until = null where id = $1', [owner.sub])
  const late = await addDocument(owner, 'queued')
  await db.admin.query('update auth.users set deleted_at = now() where id = $1', [owner.sub])
  expect(await stateOf(late)).toEqual({ state: 'paused', tries: 1 })
})

const disable = ({ sub }: Person) =>
  db.admin.query(`update auth.users set banned_until = now() + interval '1 day' where id = $1`, [sub])

test('an account is disabled while a worker holds one of its documents, which its next claim pauses', async () => {
  const { owner } = await createPeopledSpace(db)
  const [held, free] = [await addDocument(owner, 'reading'), await addDocument(owner, 'queued')]
  const worker = await db.admin.connect()
  try {
    await worker.query('begin')
    await worker.query('select from documents where id = $1 for update', [held])
    const admin = await db.admin.connect()
    try {
      await admin.query(`set lock_timeout = '100ms'`)
      await admin.query(`update auth.users set banned_until = now() + interval '1 day' where id = $1`, [owner.sub])
    } finally {
      admin.release(true)
    }
    await worker.query('rollback')
  } finally {
    worker.release()
  }
  expect(await stateOf(free)).toEqual({ state: 'paused', tries: 1 })
  expect(await stateOf(held)).toEqual({ state: 'reading', tries: 1 })
  expect(await db.database.asService((scope) => claimDocument(scope, held))).toBeUndefined()
  expect(await stateOf(held)).toEqual({ state: 'paused', tries: 0 })
})

test('a document that arrives while its account is disabled is not read, but those of a space are', async () => {
  const { owner, space } = await createPeopledSpace(db)
  await disable(owner)
  const [late, shared] = [await addDocument(owner, 'queued'), await addDocument(owner, 'queued', space)]
  const claimed = await db.database.asService((scope) => claimNewDocuments(scope, [late, shared]))
  expect(claimed.map(({ id }) => id)).toEqual([shared])
  expect(await db.database.asService((scope) => claimDocument(scope, late))).toBeUndefined()
  expect(await stateOf(late)).toEqual({ state: 'paused', tries: 1 })
})

test('only the server learns whether an account is disabled', async () => {
  const { owner, stranger } = await createPeopledSpace(db)
  await expect(
    db.database.asUser(stranger, (scope) => scope.query('select is_disabled($1)', [owner.sub])),
  ).rejects.toMatchObject({ code: '42501' })
})
