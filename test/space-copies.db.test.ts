/** Copies of documents and conversations between libraries: who may make them, what they hold, and what they cost. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { codeOf } from '#server/base/errors.ts'
import { ENFORCE_QUOTAS, setQuotas } from '#server/database/quotas.ts'
import { insertDocuments } from '#server/documents/store/library.ts'
import { holdMayEdit } from '#server/documents/store/space-libraries.ts'
import { branchConversation } from '#server/conversations/branch-queries.ts'
import { newBranch } from '#contract/conversation.ts'
import { searchDocuments } from '#server/search/search.ts'
import { indexDocument } from '#server/search/index/index-document.ts'
import { readPages } from '#server/documents/store/pages.ts'
import { createTestDatabase } from './database.ts'
import { addReadDocument, addUnreadDocument } from './library.ts'
import {
  ask,
  attemptAs,
  createConversation,
  createPeopledSpace,
  createSpace,
  join,
  type Person,
  rejectionOf,
  remove,
  runAs,
} from './spaces.ts'

const REFUSED = '42501'
const NOT_FOUND = 'PT404'
const CONFLICT = 'PT409'

const db = await createTestDatabase()
afterAll(() => db.drop())

let owner: Person
let editor: Person
let reader: Person
let stranger: Person
let space: string

beforeEach(async () => {
  await setQuotas(db.database, { fileBytesPerPerson: 0, textBytesPerPerson: 0, totalBytes: 0 })
  ;({ owner, editor, reader, stranger, space } = await createPeopledSpace(db))
})

const attempt = (person: Person, text: string, ...values: readonly unknown[]) => attemptAs(db, person, text, { values })
const COPY_DOCUMENT = 'select copy_document($1, $2) as id'
const COPY_CONVERSATION = 'select copy_conversation($1, $2) as id'

async function copyOf(person: Person, text: string, id: string, target: string | null): Promise<string> {
  const [row] = await runAs<{ id: string }>(db, person, text, [id, target])
  return row?.id ?? ''
}

/** As a document of an upload has it, whose pages are measured. */
async function addDocument(person: Person, text: string, target: string | null = null): Promise<string> {
  const { documentId } = await addReadDocument(db.database, person, 'lamp.txt', [text], target)
  await db.admin.query('update documents set parsed_at = now() where id = $1', [documentId])
  return documentId
}

const count = async (text: string, ...values: readonly unknown[]): Promise<number> => {
  const { rows } = await db.admin.query<{ count: number }>(`select count(*)::int as count from ${text}`, [...values])
  return rows[0]?.count ?? -1
}

const bytesOf = async (library: string): Promise<number> => {
  const { rows } = await db.admin.query<{ bytes: number }>(
    `select coalesce(sum(file_bytes), 0)::float8 as bytes from (
       select owner, file_bytes from usage union all select owner, file_bytes from usage_changes) u where owner = $1`,
    [library],
  )
  return rows[0]?.bytes ?? -1
}

test('a document is copied by who may take it out of one library and put it into the other', async () => {
  const document = await addDocument(editor, 'The lamp of the harbour.', space)
  const own = await addDocument(stranger, 'The lamp of a stranger.')
  expect(await attempt(stranger, COPY_DOCUMENT, document, null)).toBe(NOT_FOUND)
  expect(await attempt(reader, COPY_DOCUMENT, document, null)).toBe(REFUSED)
  expect(await attempt(editor, COPY_DOCUMENT, document, randomUUID())).toBe(NOT_FOUND)
  expect(await attempt(editor, COPY_DOCUMENT, document, owner.sub)).toBe(NOT_FOUND)
  expect(await attempt(stranger, COPY_DOCUMENT, own, space)).toBe(NOT_FOUND)
  const readers = await addDocument(reader, 'The lamp of the reader.')
  expect(await attempt(reader, COPY_DOCUMENT, readers, space)).toBe(REFUSED)
  expect(await attempt(editor, COPY_DOCUMENT, document, space)).toBe(CONFLICT)
  expect(await attempt(editor, COPY_DOCUMENT, document, null)).toBe(1)
  await runAs(db, owner, 'update spaces set archived_at = now() where id = $1', [space])
  const later = await addDocument(editor, 'The later lamp.')
  expect(await attempt(editor, COPY_DOCUMENT, later, space)).toBe(REFUSED)
  expect(await attempt(editor, COPY_DOCUMENT, document, null)).toBe(REFUSED)
})

test('a copy has the pages, is found in its library alone, and outlives the original with its bytes', async () => {
  const document = await addDocument(editor, 'The lamp of the harbour.', space)
  const copy = await copyOf(editor, COPY_DOCUMENT, document, null)
  await db.database.asService((scope) =>
    indexDocument(scope, { id: copy, owner: editor.sub, filename: 'lamp.txt' }, readPages(scope, copy)),
  )
  const find = (person: Person) =>
    db.database.asUser(
      person,
      async (scope) => (await searchDocuments(scope, 'harbour', { embedder: null })).passages.map((p) => p.documentId),
      { settings: { 'alcove.libraries': editor.sub } },
    )
  expect(await find(editor)).toEqual([copy])
  expect(await find(owner)).toEqual([])
  expect(await attempt(owner, 'select from documents where id = $1', copy)).toBe(0)
  expect(await attempt(owner, 'select from document_pages where document_id = $1', copy)).toBe(0)
  const { rows } = await db.admin.query<Record<string, unknown>>(
    'select id, owner, space_id, library, state, pages, version, series = id as begins, object_name from documents where id = $1',
    [copy],
  )
  expect(rows).toEqual([
    {
      ...{ id: copy, owner: editor.sub, space_id: null, library: editor.sub, state: 'ready', pages: 1, version: 1 },
      ...{ begins: true, object_name: null },
    },
  ])
  const path = (await db.admin.query<{ path: string }>('select path from documents where id = $1', [copy])).rows[0]
    ?.path
  await runAs(db, owner, 'delete from documents where id = $1', [document])
  expect(await count('discarded_blobs where path = $1', path)).toBe(0)
  await runAs(db, editor, 'delete from documents where id = $1', [copy])
  expect(await count('discarded_blobs where path = $1', path)).toBe(1)
})

test('the bytes of two copies that are deleted at the same time are discarded', async () => {
  const document = await addDocument(editor, 'The lamp of the harbour.', space)
  const copy = await copyOf(editor, COPY_DOCUMENT, document, null)
  const { rows } = await db.admin.query<{ path: string }>('select path from documents where id = $1', [copy])
  const { second } = await db.database.asUser(owner, async (scope) => {
    await scope.query('delete from documents where id = $1', [document])
    const deleted = runAs(db, editor, 'delete from documents where id = $1', [copy])
    deleted.catch(() => undefined)
    await waitForLock()
    return { second: deleted }
  })
  await second
  expect(await count('discarded_blobs where path = $1', rows[0]?.path)).toBe(1)
})

/** Until one transaction of this database waits for another. */
async function waitForLock(): Promise<void> {
  for (;;) {
    const waiting = await count(`pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
    if (waiting > 0) return
  }
}

test('only the newest version is copied, and a document that is still being read is not', async () => {
  const first = await addDocument(editor, 'The first lamp.', space)
  const second = await addDocument(editor, 'The second lamp.', space)
  await db.admin.query('update documents set series = $1, version = 2 where id = $2', [first, second])
  await db.admin.query('update documents set superseded_at = now() where id = $1', [first])
  const copy = await copyOf(editor, COPY_DOCUMENT, first, null)
  const { rows } = await db.admin.query(
    'select p.text, d.version from document_pages p join documents d on d.id = p.document_id where d.library = $1',
    [editor.sub],
  )
  expect(rows).toEqual([{ text: 'The second lamp.', version: 1 }])
  expect(await count('documents where id = $1', copy)).toBe(1)
  const unread = await addUnreadDocument(db.database, editor, 'new.txt', space)
  expect(await attempt(editor, COPY_DOCUMENT, unread.id, null)).toBe(CONFLICT)
})

test('copies count with the owner of their library, and one without room leaves nothing', async () => {
  const document = await addDocument(editor, 'The lamp of the harbour. '.repeat(400))
  const before = await bytesOf(editor.sub)
  const copy = await copyOf(editor, COPY_DOCUMENT, document, space)
  const bytes = await bytesOf(space)
  expect(bytes).toBeGreaterThan(10_000)
  expect(await bytesOf(editor.sub)).toBe(before)
  const other = await createSpace(db, owner)
  await join(db, owner, other, editor, 'editor')
  await setQuotas(db.database, { fileBytesPerPerson: bytes * 2 - 1, textBytesPerPerson: 0, totalBytes: 0 })
  expect(await rejectionOf(runAs(db, editor, COPY_DOCUMENT, [copy, other]))).toBe('PT413')
  expect(await count('documents where library = $1', other)).toBe(0)
  expect(await count('document_pages where owner = $1', other)).toBe(0)
  expect(await bytesOf(other)).toBe(0)
  await setQuotas(db.database, { fileBytesPerPerson: bytes * 2, textBytesPerPerson: 0, totalBytes: 0 })
  await copyOf(editor, COPY_DOCUMENT, copy, other)
  expect(await bytesOf(other)).toBe(bytes)
})

test('parallel copies into the spaces of one owner take no more than the owner has', async () => {
  const documents = []
  for (let n = 0; n < 6; n += 1) documents.push(await addDocument(editor, `Lamp ${n}. ${'The harbour. '.repeat(400)}`))
  const other = await createSpace(db, owner)
  await join(db, owner, other, editor, 'editor')
  await copyOf(editor, COPY_DOCUMENT, documents[0] ?? '', space)
  const most = (await bytesOf(space)) * 3
  await setQuotas(db.database, { fileBytesPerPerson: most, textBytesPerPerson: 0, totalBytes: 0 })
  const copies = await Promise.allSettled(
    documents.slice(1).map((document, n) => runAs(db, editor, COPY_DOCUMENT, [document, n % 2 === 0 ? space : other])),
  )
  expect(copies.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
  expect((await bytesOf(space)) + (await bytesOf(other))).toBe(most)
})

test('parallel uploads into one space take no more than its owner has', async () => {
  const size = 1_000_000
  await setQuotas(db.database, { fileBytesPerPerson: 4 * size, textBytesPerPerson: 0, totalBytes: 0 })
  const upload = (person: Person) =>
    db.database.asService(
      async (scope) => {
        await holdMayEdit(scope, person.sub, space)
        const given = {
          name: 'a.txt',
          mimetype: 'text/plain',
          size: size - 5_000,
          path: randomUUID(),
          sha256: randomUUID(),
        }
        return insertDocuments(scope, { owner: person.sub, spaceId: space }, [given])
      },
      { settings: ENFORCE_QUOTAS },
    )
  const uploads = await Promise.allSettled(Array.from({ length: 12 }, (_, n) => upload(n % 2 === 0 ? owner : editor)))
  expect(uploads.filter(({ status }) => status === 'fulfilled')).toHaveLength(4)
  expect(await count('documents where library = $1', space)).toBe(4)
})

test('an upload that a lost right overtakes adds nothing', async () => {
  await remove(db, owner, space, editor)
  for (const person of [editor, reader, stranger])
    await expect(db.database.asService((scope) => holdMayEdit(scope, person.sub, space))).rejects.toMatchObject({
      code: 'forbidden',
    })
})

test('a person who is removed before a branch is stored gets none', async () => {
  const conversation = await createConversation(db, owner, { space, isShared: true })
  const question = await ask(db, owner, conversation, 'Where is the lamp?')
  const branch = newBranch.parse({ message_id: question, content: 'And now?' })
  const ending = pausedAtCommit(space, 'the removal of the person')
  await ending.started
  const branching = branchConversation(db.database, editor, conversation, branch)
  const refused = expect(branching).rejects.toMatchObject({ code: 'not_found' })
  await waitForLock()
  await ending.commit()
  await refused
  expect(await count('conversations where uid = $1', editor.sub)).toBe(0)
})

/** Statements of the owner, with the space and the person. */
const ENDS: Readonly<Record<string, string>> = {
  'the removal of the person': 'delete from space_members where space_id = $1 and user_id = $2',
  'a lower role': `update space_members set role = 'reader' where space_id = $1 and user_id = $2`,
  'the archiving of the space': 'update spaces set archived_at = now() where id = $1 and $2::uuid is not null',
  'the deletion of the space': 'delete from spaces where id = $1 and $2::uuid is not null',
}

test.each(Object.keys(ENDS))('%s before the end of a copy or move refuses it whole', async (end) => {
  const document = await addDocument(editor, 'The lamp of the harbour.')
  for (const text of [COPY_DOCUMENT, 'select move_document($1, $2)'] as const) {
    const target = await createSpace(db, owner)
    await join(db, owner, target, editor, 'editor')
    const ending = pausedAtCommit(target, end)
    await ending.started
    const copying = rejectionOf(runAs(db, editor, text, [document, target]))
    await waitForLock()
    await ending.commit()
    expect([REFUSED, NOT_FOUND]).toContain(await copying)
    expect(await count('documents where library = $1', target)).toBe(0)
  }
})

/** Ends a right, in a transaction that is open until `commit`. */
function pausedAtCommit(target: string, end: string) {
  const started = Promise.withResolvers<undefined>()
  const goOn = Promise.withResolvers<undefined>()
  const done = db.database.asUser(owner, async (scope) => {
    await scope.query(ENDS[end] ?? '', [target, editor.sub])
    started.resolve(undefined)
    await goOn.promise
  })
  done.catch((error: unknown) => started.reject(error))
  return {
    started: started.promise,
    commit: () => {
      goOn.resolve(undefined)
      return done
    },
  }
}

test('a right that a copy relies on lasts until its end', async () => {
  const document = await addDocument(editor, 'The lamp of the harbour.')
  const copied = await db.database.asUser(editor, async (scope) => {
    const { rows } = await scope.query<{ id: string }>(COPY_DOCUMENT, [document, space])
    const removed = remove(db, owner, space, editor)
    removed.catch(() => undefined)
    await waitForLock()
    return { id: rows[0]?.id, removed }
  })
  await copied.removed
  expect(await count('documents where id = $1 and library = $2', copied.id, space)).toBe(1)
  expect(await attempt(editor, 'select from documents where id = $1', copied.id)).toBe(0)
})

test('a conversation is copied by its author, with its messages, and is the author’s alone', async () => {
  const conversation = await createConversation(db, editor, { space, isShared: true })
  const question = await ask(db, editor, conversation, 'Where is the lamp?')
  const asked = await ask(db, owner, conversation, 'And the chair?')
  await db.admin.query(`update replies set state = 'done' where message_id = any ($1::uuid[])`, [[question, asked]])
  const source = { documentId: randomUUID(), filename: 'lamp.txt' }
  await db.admin.query(
    `insert into messages (id, conversation_id, content, sender_role, author, metadata)
     select answer_id, $1, 'There [1].', 2, null, $3 from replies where message_id = $2`,
    [conversation, question, JSON.stringify({ sources: [source], version: 2 })],
  )
  for (const person of [owner, reader])
    expect(await attempt(person, COPY_CONVERSATION, conversation, null)).toBe(REFUSED)
  expect(await attempt(stranger, COPY_CONVERSATION, conversation, null)).toBe(NOT_FOUND)
  expect(await attempt(editor, COPY_CONVERSATION, conversation, randomUUID())).toBe(NOT_FOUND)
  const copy = await copyOf(editor, COPY_CONVERSATION, conversation, null)
  const { rows } = await db.admin.query(
    `select content, sender_role, author, metadata -> 'sources' as sources, metadata ? 'version' as has_version
     from messages where conversation_id = $1 order by position`,
    [copy],
  )
  expect(rows).toEqual([
    { content: 'Where is the lamp?', sender_role: 1, author: editor.sub, sources: null, has_version: false },
    { content: 'And the chair?', sender_role: 1, author: owner.sub, sources: null, has_version: false },
    { content: 'There [1].', sender_role: 2, author: null, sources: [source], has_version: false },
  ])
  const made = await runAs(db, editor, 'select uid, space_id, is_shared, metadata from conversations where id = $1', [
    copy,
  ])
  expect(made).toEqual([{ uid: editor.sub, space_id: null, is_shared: false, metadata: { copied_from: conversation } }])
  expect(await count(`replies where conversation_id = $1 and state = 'done'`, copy)).toBe(1)
  expect(await count(`replies where conversation_id = $1 and state in ('queued', 'running')`, copy)).toBe(0)
  for (const person of [owner, reader]) {
    expect(await attempt(person, 'select from conversations where id = $1', copy)).toBe(0)
    expect(await attempt(person, 'select from messages where conversation_id = $1', copy)).toBe(0)
    expect(await attempt(person, 'select from message_texts t join messages m on m.id = t.message_id')).toBe(3)
  }
  const back = await copyOf(editor, COPY_CONVERSATION, copy, space)
  expect(await attempt(owner, 'select from conversations where id = $1', back)).toBe(0)
  await remove(db, owner, space, editor)
  expect(await attempt(editor, COPY_CONVERSATION, back, null)).toBe(NOT_FOUND)
  expect(await attempt(editor, COPY_CONVERSATION, copy, space)).toBe(NOT_FOUND)
})

test('a conversation whose answer is being written is not copied', async () => {
  const conversation = await createConversation(db, editor, { space })
  await ask(db, editor, conversation)
  expect(await attempt(editor, COPY_CONVERSATION, conversation, null)).toBe(CONFLICT)
})

test('a copied conversation counts with the owner of its space, whose room it needs', async () => {
  const conversation = await createConversation(db, editor)
  const question = await ask(db, editor, conversation, 'Where is the lamp? '.repeat(2000))
  await db.admin.query(`update replies set state = 'done' where message_id = $1`, [question])
  await setQuotas(db.database, { fileBytesPerPerson: 0, textBytesPerPerson: 3_000, totalBytes: 0 })
  const rejected = db.database.asUser(editor, (scope) => scope.query(COPY_CONVERSATION, [conversation, space]), {
    settings: ENFORCE_QUOTAS,
  })
  expect(codeOf(await rejected.catch((error: unknown) => error))).toBe('PT413')
  expect(await count('conversations where space_id = $1', space)).toBe(0)
})
