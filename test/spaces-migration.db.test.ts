/** A database that the version before spaces has filled. */
import { createHash, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { searchMessages } from '#server/conversations/search-messages.ts'
import { migrate } from '#server/database/migrate.ts'
import { indexDocument } from '#server/search/index/index-document.ts'
import { searchPassages } from '#server/search/search.ts'
import { databaseBefore, type TestDatabase } from './database.ts'
import { finishReading } from './library.ts'
import { attemptAs, createSpace, join, type Person, runAs } from './spaces.ts'

const INDEX = [
  'document_index',
  'document_pages',
  'message_texts',
  'messages',
  'passages',
  'search_buckets',
  'search_segments',
]

const pagesAbout = (word: string) => [`The ${word} stands in the alcove.`, `Another ${word} is lit.`]

async function fill(
  db: TestDatabase,
  person: Person,
  word: string,
): Promise<{ document: string; conversation: string }> {
  const [document, conversation] = [randomUUID(), randomUUID()]
  await db.admin.query(
    `insert into documents (id, owner, filename, originalname, mimetype, size, path, sha256, state)
     values ($1, $2, 'lamp.txt', 'lamp.txt', 'text/plain', $5, $3, $4, 'reading')`,
    [
      document,
      person.sub,
      randomUUID(),
      createHash('sha256').update(document).digest('hex'),
      pagesAbout(word).join('').length,
    ],
  )
  await finishReading(db.database, { id: document, owner: person.sub, filename: 'lamp.txt' }, pagesAbout(word))
  await runAs(db, person, `insert into conversations (id, title, model_name) values ($1, $2, 'alcove-reader')`, [
    conversation,
    word,
  ])
  await runAs(db, person, 'insert into messages (conversation_id, content, sender_role) values ($1, $2, 1)', [
    conversation,
    `Where is the ${word}?`,
  ])
  await db.admin.query(`insert into messages (conversation_id, content, sender_role) values ($1, 'There.', 2)`, [
    conversation,
  ])
  await db.admin.query(`update replies set state = 'done'`)
  await runAs(db, person, `insert into user_settings (preferences) values ('{"theme": "dark"}')`)
  await runAs(
    db,
    person,
    'insert into message_feedback (message_id, rating) select id, 1 from messages where conversation_id = $1 and sender_role = 2',
    [conversation],
  )
  return { document, conversation }
}

const usageOf = async ({ admin }: TestDatabase) =>
  (
    await admin.query<{ owner: string; files: number; texts: number }>(
      `select owner, sum(file_bytes)::int as files, sum(text_bytes)::int as texts
       from (select owner, file_bytes, text_bytes from usage union all select owner, file_bytes, text_bytes from usage_changes) u
       group by owner order by owner`,
    )
  ).rows

const filesOf = async ({ admin }: TestDatabase) =>
  (
    await admin.query<{ relname: string; relfilenode: string }>(
      'select relname, relfilenode from pg_class where relname = any ($1) and relnamespace = $2::regnamespace order by 1',
      [INDEX, 'public'],
    )
  ).rows

test('everything is personal, found and counted after an upgrade, and no index is rewritten', async () => {
  const db = await databaseBefore('0062')
  const [owner, other] = await Promise.all([db.createPerson(), db.createPerson()])
  const own = await fill(db, owner, 'lighthouse')
  const others = await fill(db, other, 'windmill')
  const [usage, files] = [await usageOf(db), await filesOf(db)]
  expect(files).toHaveLength(INDEX.length)
  expect(usage).toHaveLength(2)
  expect(await migrate(db.adminConnection, { authenticatorPassword: null })).not.toEqual([])

  expect(await filesOf(db)).toEqual(files)
  expect(await usageOf(db)).toEqual(usage)
  for (const [person, word, { document, conversation }] of [
    [owner, 'lighthouse', own],
    [other, 'windmill', others],
  ] as const) {
    expect(await runAs(db, person, 'select id, space_id, library, owner from documents')).toEqual([
      { id: document, space_id: null, library: person.sub, owner: person.sub },
    ])
    expect(await runAs(db, person, 'select id, space_id, is_shared, uid from conversations')).toEqual([
      { id: conversation, space_id: null, is_shared: false, uid: person.sub },
    ])
    for (const [table, rows] of [
      ['messages', 2],
      ['message_texts', 2],
      ['replies', 1],
      ['message_feedback', 1],
      ['user_settings', 1],
      ['document_pages', 2],
      ['document_index', 1],
    ] as const)
      expect(await attemptAs(db, person, `select from ${table}`), table).toBe(rows)
    expect(await attemptAs(db, person, 'select from spaces')).toBe(0)
    const found = await db.database.asUser(person, (scope) => searchPassages(scope, word))
    expect(new Set(found.map(({ documentId }) => documentId))).toEqual(new Set([document]))
    expect(await searchMessages(db.database, person, word)).toHaveLength(1)
    expect(await searchMessages(db.database, person, word, 'personal')).toHaveLength(1)
  }
  expect(await db.database.asUser(owner, (scope) => searchPassages(scope, 'windmill'))).toEqual([])
  expect(await searchMessages(db.database, owner, 'windmill')).toEqual([])

  await moveIntoSpace(db, { owner, reader: other, ...own })
})

/** A rating counts with the person who gave it, wherever the answer is. */
const RATING_BYTES = 256

/** Rows that are older than spaces move like new ones. */
async function moveIntoSpace(
  db: TestDatabase,
  { owner, reader, document, conversation }: { owner: Person; reader: Person; document: string; conversation: string },
): Promise<void> {
  const space = await createSpace(db, owner)
  await join(db, owner, space, reader, 'reader')
  const before = await usageOf(db)
  await runAs(db, owner, 'select move_document($1, $2)', [document, space])
  await runAs(db, owner, 'select move_conversation($1, $2)', [conversation, space])
  await runAs(db, owner, 'update conversations set is_shared = true where id = $1', [conversation])
  expect(await attemptAs(db, reader, 'select from documents where id = $1', { values: [document] })).toBe(1)
  expect(await searchMessages(db.database, reader, 'lighthouse', space)).toHaveLength(1)
  expect(
    await runAs(db, reader, 'select author, sender_role from messages where conversation_id = $1 order by position', [
      conversation,
    ]),
  ).toEqual([
    { author: owner.sub, sender_role: 1 },
    { author: null, sender_role: 2 },
  ])
  const pages = pagesAbout('lighthouse').map((text, index) => ({ page: index + 1, text, headings: null }))
  await db.database.asService((scope) =>
    indexDocument(scope, { id: document, owner: space, filename: 'lamp.txt' }, pages),
  )
  expect(await db.database.asUser(reader, (scope) => searchPassages(scope, 'lighthouse'))).not.toEqual([])
  const after = await usageOf(db)
  const sum = (rows: readonly { files: number; texts: number }[]) => [
    rows.reduce((total, { files }) => total + files, 0),
    rows.reduce((total, { texts }) => total + texts, 0),
  ]
  expect(sum(after)).toEqual(sum(before))
  expect(after.find(({ owner: library }) => library === owner.sub)).toMatchObject({ files: 0, texts: RATING_BYTES })
}
