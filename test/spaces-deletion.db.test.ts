/** Rows that are left of a space, and of a person in it. */
import { afterAll, expect, test } from 'vitest'
import { createTestDatabase } from './database.ts'
import { addReadDocument } from './library.ts'
import { ask, attemptAs, createConversation, createSpace, invite, join, runAs } from './spaces.ts'

const db = await createTestDatabase()
afterAll(() => db.drop())

async function fillSpace() {
  const [owner, member] = await Promise.all([db.createPerson(), db.createPerson()])
  const space = await createSpace(db, owner)
  await join(db, owner, space, member, 'editor')
  await invite(db, owner, { space, email: 'invited@example.test', role: 'reader' })
  const { documentId: document } = await addReadDocument(db.database, member, 'lamp.txt', ['The lamp.'], space)
  await db.admin.query(
    `insert into passage_vectors select owner, 'model', document_id, passage, '1', '' from passages where document_id = $1`,
    [document],
  )
  const conversation = await createConversation(db, member, { space, isShared: true })
  const [ofMember, ofOwner] = [await ask(db, member, conversation), await ask(db, owner, conversation)]
  await db.admin.query(`update replies set state = 'done'`)
  return { owner, member, space, document, conversation, ofMember, ofOwner }
}

test('an account that is deleted leaves documents and shared conversations to the space, without its name', async () => {
  const { owner, member, space, document, conversation, ofMember, ofOwner } = await fillSpace()
  const hidden = await createConversation(db, member, { space })
  const ofOther = await createConversation(db, owner, { space, isShared: true })
  const asked = await ask(db, member, ofOther)
  await db.admin.query(`update replies set state = 'done'`)
  const countFiles = async () =>
    (
      await db.admin.query<{ files: number }>(
        `select sum(file_bytes)::int as files from (select owner, file_bytes from usage union all select owner, file_bytes from usage_changes) u
         where owner = $1`,
        [space],
      )
    ).rows
  const before = await countFiles()
  await db.admin.query('delete from auth.users where id = $1', [member.sub])

  expect(await runAs(db, owner, 'select id, owner, library from documents')).toEqual([
    { id: document, owner: null, library: space },
  ])
  expect(await runAs(db, owner, 'select id, uid, is_shared from conversations order by started_at')).toEqual([
    { id: conversation, uid: null, is_shared: true },
    { id: ofOther, uid: owner.sub, is_shared: true },
  ])
  expect((await db.admin.query('select from conversations where id = $1', [hidden])).rows).toEqual([])
  expect(await runAs(db, owner, 'select id, author from messages order by position')).toEqual([
    { id: ofMember, author: null },
    { id: ofOwner, author: owner.sub },
    { id: asked, author: null },
  ])
  expect(new Set(await runAs(db, owner, 'select message_id, owner from replies'))).toEqual(
    new Set([
      { message_id: ofOwner, owner: owner.sub },
      { message_id: ofMember, owner: null },
      { message_id: asked, owner: null },
    ]),
  )
  for (const [table, rows] of [
    ['document_pages', 1],
    ['document_index', 1],
    ['message_texts', 3],
  ] as const)
    expect(await attemptAs(db, owner, `select from ${table}`), table).toBe(rows)
  expect(await countFiles()).toEqual(before)
  expect(before).not.toEqual([{ files: 0 }])
  const { rows: traces } = await db.admin.query<{ table: string; column: string }>(`
    select c.table_name as table, c.column_name as column from information_schema.columns c
    where c.table_schema = 'public' and c.data_type = 'uuid'`)
  for (const { table, column } of traces)
    if (!['realtime', 'space_events.subject', 'reply_parts.owner'].includes(`${table}.${column}`))
      expect(
        (await db.admin.query(`select from ${table} where ${column} = $1`, [member.sub])).rows,
        `${table}.${column}`,
      ).toEqual([])
})

test('with a space, everything in it is deleted', async () => {
  const { owner, member, space, document } = await fillSpace()
  const { rows: paths } = await db.admin.query<{ path: string }>('select path from documents where id = $1', [document])
  await runAs(db, owner, 'delete from spaces where id = $1', [space])
  const { rows: columns } = await db.admin.query<{ table: string; column: string }>(`
    select c.table_name as table, c.column_name as column from information_schema.columns c
    where c.table_schema = 'public' and c.data_type = 'uuid'`)
  for (const { table, column } of columns)
    for (const id of [space, document])
      expect(
        (await db.admin.query(`select from ${table} where ${column} = $1`, [id])).rows,
        `${table}.${column}`,
      ).toEqual([])
  for (const person of [owner, member])
    for (const table of ['conversations', 'messages', 'documents', 'message_texts'])
      expect(
        await attemptAs(
          db,
          person,
          `select from ${table} where ${table === 'message_texts' ? 'space_id' : 'id'} = $1`,
          {
            values: [space],
          },
        ),
      ).toBe(0)
  expect((await db.admin.query('select from discarded_blobs where path = $1', [paths[0]?.path])).rows).toHaveLength(1)
  expect(await attemptAs(db, owner, 'select from spaces')).toBe(0)
})
