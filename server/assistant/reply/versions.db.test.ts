import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { MAX_EARLIER_VERSIONS, type MessageRow } from '#contract/message.ts'
import { branchConversation } from '#server/conversations/branch-queries.ts'
import { addMessage, readTurns } from '#server/conversations/queries.ts'
import { readReplyInProgress, retryReply, stopReply } from '#server/conversations/reply-queries.ts'
import { continueAnswer, rewriteAnswer } from '#server/conversations/rewrite-queries.ts'
import { createStubProviders, openTestAssistant, type Person } from '#test/assistant.ts'
import { addReadDocument } from '#test/library.ts'

/** A model that writes other words. */
const PLAIN_MODEL = 'openai-compatible/stub:content=plain'
/** A model that breaks off. */
const CUT_MODEL = 'openai-compatible/stub:cut=20 tokens=100 tps=500'
const NO_MODEL = 'no-such-model'
const { db, stub, assistant } = await openTestAssistant()

beforeAll(async () => {
  await db.admin.query(
    `insert into models (name, version, model_identifier, provider, family, context_window)
     select 'stub', '1', identifier, 'OpenAI-compatible', 'stub', 32000 from unnest($1::text[]) as identifier`,
    [[PLAIN_MODEL, CUT_MODEL]],
  )
})

const startTestWorker = () => assistant.startWorker({ providersOf: createStubProviders(stub) })

const { answersIn } = assistant

async function answered(question: string, ending: 'done' | 'stopped' | 'error' = 'done') {
  await startTestWorker()
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person)
  const asked = await assistant.ask(person, conversationId, question)
  if (ending === 'stopped') {
    await (await assistant.watch(conversationId)).until('text')
    await stopReply(db.database, person, conversationId)
  }
  const answer = await nextAnswer(person, conversationId, 1)
  return { person, conversationId, asked, answer, place: { conversationId, answerId: answer.id } }
}

/** The answer of a conversation once this attempt has stored it. */
async function nextAnswer(person: Person, conversationId: string, attempt: number): Promise<MessageRow> {
  const stored = async () =>
    (await answersIn(person, conversationId)).find(({ metadata }) => (metadata?.attempt ?? 0) >= attempt)
  await expect.poll(stored).toBeDefined()
  const answer = await stored()
  if (!answer) throw new Error('the answer is gone')
  return answer
}

const versionsOf = async (person: Person, messageId: string) =>
  (
    await db.database.asUser(person, (scope) =>
      scope.query<{ version: number; content: string; metadata: { model?: string } }>(
        'select version, content, metadata from message_versions where message_id = $1 order by version',
        [messageId],
      ),
    )
  ).rows

const plainText = async (tokens: number) => {
  const response = await fetch(`${stub.baseUrl.replace('/v1', '')}/__stub/text?tokens=${tokens}&content=plain`)
  return ((await response.json()) as { text: string }).text
}

test('an answer rewritten by another model replaces the old one, which is archived', async () => {
  const { person, conversationId, answer, place } = await answered('Hello [[stub tokens=30]]')
  const { parts, until } = await assistant.watch(conversationId)
  await rewriteAnswer(db.database, person, place, PLAIN_MODEL)
  await until('done')
  expect(parts[0]).toMatchObject({ type: 'restart', attempt: 2, messageId: answer.id })
  const [replaced, ...others] = await answersIn(person, conversationId)
  expect(others).toEqual([])
  expect(replaced).toMatchObject({
    id: answer.id,
    position: answer.position,
    content: await plainText(30),
    metadata: { model: PLAIN_MODEL, version: 2, attempt: 2 },
  })
  expect(await versionsOf(person, answer.id)).toMatchObject([
    { version: 1, content: await stub.text(30), metadata: { model: answer.metadata?.model } },
  ])
  await rewriteAnswer(db.database, person, place, null)
  expect(await nextAnswer(person, conversationId, 3)).toMatchObject({
    content: await stub.text(30),
    metadata: { version: 3 },
  })
  expect(await versionsOf(person, answer.id)).toHaveLength(2)
})

test('the oldest of many versions makes room for a further one', async () => {
  const { person, conversationId, answer, place } = await answered('Hello [[stub tokens=10]]')
  const newest = MAX_EARLIER_VERSIONS + 1
  await db.admin.query(
    `insert into message_versions (message_id, version, content, created_at)
     select $1, n, 'version ' || n, now() from generate_series(1, $2) n`,
    [answer.id, MAX_EARLIER_VERSIONS],
  )
  await db.admin.query(
    `update messages set metadata = metadata || jsonb_build_object('version', $2::int) where id = $1`,
    [answer.id, newest],
  )
  await rewriteAnswer(db.database, person, place, null)
  expect((await nextAnswer(person, conversationId, 2)).metadata).toMatchObject({ version: newest + 1 })
  const versions = (await versionsOf(person, answer.id)).map(({ version }) => version)
  expect(versions).toEqual(Array.from({ length: MAX_EARLIER_VERSIONS }, (_, index) => index + 2))
})

test('a version that fails before its first word leaves the answer as it was, and says why', async () => {
  const { person, conversationId, answer, place } = await answered('Hello [[stub tokens=10]]')
  await rewriteAnswer(db.database, person, place, NO_MODEL)
  const latest = await nextAnswer(person, conversationId, 2)
  expect(latest).toMatchObject({ content: answer.content, metadata: { rewrite_error: { code: 'unknown_model' } } })
  expect(await versionsOf(person, answer.id)).toEqual([])
  await rewriteAnswer(db.database, person, place, null)
  expect((await nextAnswer(person, conversationId, 3)).metadata).not.toHaveProperty('rewrite_error')
})

test('retrying a failed version preserves earlier versions', async () => {
  const { person, conversationId, answer, place } = await answered('Hello [[stub ttft=0]]')
  await rewriteAnswer(db.database, person, place, CUT_MODEL)
  expect(await nextAnswer(person, conversationId, 2)).toMatchObject({
    metadata: { version: 2, error: { code: 'provider_cut_off' } },
  })
  await retryReply(db.database, person, conversationId)
  const again = await nextAnswer(person, conversationId, 3)
  expect(again).toMatchObject({ metadata: { version: 2 } })
  expect(await versionsOf(person, answer.id)).toMatchObject([{ version: 1, content: answer.content }])
})

test('a stopped answer continues where it ended, in the same row', async () => {
  const { person, conversationId, answer, place } = await answered('Hello [[stub tokens=4000 tps=200]]', 'stopped')
  expect(answer.metadata).toMatchObject({ stopped: true })
  await db.admin.query(`update messages set content = 'Begun, and' where id = $1`, [answer.id])
  const { parts, until } = await assistant.watch(conversationId)
  await continueAnswer(db.database, person, place)
  await until('done')
  const whole = await nextAnswer(person, conversationId, 2)
  expect(whole.content).toBe(`Begun, and${await stub.text(40)}`)
  expect(whole).toMatchObject({ id: answer.id, metadata: { attempt: 2 } })
  expect(whole.metadata).not.toHaveProperty('stopped')
  expect(whole.token_out).toBe((answer.token_out ?? 0) + 40)
  expect(parts.map(({ text = '' }) => text).join('')).toBe(whole.content)
  await expect(continueAnswer(db.database, person, place)).rejects.toMatchObject({ code: 'conflict' })
})

test('a queued rewrite can be stopped, and leaves the answer unchanged', async () => {
  const { person, conversationId, answer, place } = await answered('Hello [[stub tokens=10]]')
  await db.admin.query(
    `update replies set state = 'running', lease_until = now() + interval '1 hour' where answer_id = $1`,
    [answer.id],
  )
  await expect(rewriteAnswer(db.database, person, place, null)).rejects.toMatchObject({ code: 'conflict' })
  await db.admin.query(`update replies set state = 'queued', kind = 'rewrite' where answer_id = $1`, [answer.id])
  await stopReply(db.database, person, conversationId)
  const latest = await nextAnswer(person, conversationId, 1)
  expect(latest).toMatchObject({ content: answer.content })
  expect(latest.metadata).not.toHaveProperty('stopped')
})

test('an earlier answer is rewritten without later messages', async () => {
  const { person, conversationId, asked } = await answered('first [[stub tokens=5]]')
  await assistant.ask(person, conversationId, 'second [[stub tokens=5]]')
  await expect.poll(async () => (await answersIn(person, conversationId)).length).toBe(2)
  const turns = await db.database.asUser(person, (scope) => readTurns(scope, conversationId, asked.id, 200))
  expect(turns.map(({ content }) => content)).toEqual(['first [[stub tokens=5]]'])
})

test('a branch copies the turns before the question, asks the new one, and leaves the old conversation unchanged', async () => {
  const { person, conversationId } = await answered('first [[stub tokens=5]]')
  const second = await assistant.ask(person, conversationId, 'second [[stub tokens=6]]')
  await expect.poll(async () => (await answersIn(person, conversationId)).length).toBe(2)
  const before = await assistant.messagesIn(person, conversationId)
  const id = crypto.randomUUID()
  const wanted = { id, message_id: second.id, content: 'another [[stub tokens=7]]' }
  const { row, isNew } = await branchConversation(db.database, person, conversationId, wanted)
  expect(isNew).toBe(true)
  expect(row).toMatchObject({
    id,
    uid: person.sub,
    metadata: { branched_from: conversationId, branched_at: second.id },
  })
  await expect.poll(async () => (await answersIn(person, id)).length).toBe(2)
  expect((await assistant.messagesIn(person, id)).map(({ content }) => content)).toEqual([
    'first [[stub tokens=5]]',
    await stub.text(5),
    'another [[stub tokens=7]]',
    await stub.text(7),
  ])
  expect(await assistant.messagesIn(person, conversationId)).toEqual(before)
  const [copied] = await answersIn(person, id)
  if (!copied) throw new Error('nothing was copied')
  await rewriteAnswer(db.database, person, { conversationId: id, answerId: copied.id }, null)
  await expect.poll(() => versionsOf(person, copied.id)).toHaveLength(1)
  expect(await branchConversation(db.database, person, conversationId, wanted)).toMatchObject({
    isNew: false,
    row: { id },
  })
  expect(await assistant.messagesIn(person, id)).toHaveLength(4)
})

test('a branch is answered from the documents chosen for the question', async () => {
  const { person, conversationId } = await answered('Hello [[stub tokens=5]]')
  const { documentId: lease } = await addReadDocument(db.database, person, 'lease.pdf', [
    'The notice period is three months.',
  ])
  await addReadDocument(db.database, person, 'letter.pdf', ['The notice period is one week.'])
  const question = { content: 'How long is the notice period?', metadata: { documentIds: [lease], from: 'elsewhere' } }
  const { row: asked } = await db.database.asUser(person, (scope) => addMessage(scope, conversationId, question))
  await expect.poll(async () => (await answersIn(person, conversationId)).length).toBe(2)
  const { row } = await branchConversation(db.database, person, conversationId, {
    message_id: asked.id,
    content: 'What is the notice period?',
  })
  await expect.poll(async () => (await answersIn(person, row.id)).length).toBe(2)
  const [branched, answer] = (await assistant.messagesIn(person, row.id)).slice(-2)
  expect(branched?.metadata).toEqual({ documentIds: [lease] })
  expect(answer?.metadata?.sources).toMatchObject([{ filename: 'lease.pdf' }])
})

test('a continued answer without citations is marked unsupported', async () => {
  await startTestWorker()
  const person = await db.createPerson()
  await addReadDocument(db.database, person, 'lease.pdf', ['The notice period is three months.'])
  const conversationId = await assistant.startConversation(person)
  const { until } = await assistant.watch(conversationId)
  await assistant.ask(
    person,
    conversationId,
    'How long is the notice period? [[stub content=plain tokens=2000 tps=200]]',
  )
  await until('text')
  await stopReply(db.database, person, conversationId)
  const stopped = await nextAnswer(person, conversationId, 1)
  expect(stopped.metadata?.sources).toHaveLength(1)
  onTestFinished(() => stub.configure({ words: '' }))
  await stub.configure({ words: 'And so on.' })
  await continueAnswer(db.database, person, { conversationId, answerId: stopped.id })
  const { metadata, content } = await nextAnswer(person, conversationId, 2)
  expect(content).toBe(`${stopped.content}And so on.`)
  expect(metadata?.unsupported).toBe(true)
})

test('another person cannot rewrite, continue, branch or read versions', async () => {
  const { person, conversationId, asked, answer, place } = await answered('Hello [[stub tokens=5]]')
  await rewriteAnswer(db.database, person, place, null)
  await nextAnswer(person, conversationId, 2)
  const stranger = await db.createPerson()
  const own = await assistant.startConversation(stranger)
  const refused = { code: 'not_found' }
  await expect(rewriteAnswer(db.database, stranger, place, null)).rejects.toMatchObject(refused)
  await expect(continueAnswer(db.database, stranger, place)).rejects.toMatchObject(refused)
  await expect(rewriteAnswer(db.database, stranger, { ...place, conversationId: own }, null)).rejects.toMatchObject(
    refused,
  )
  for (const from of [conversationId, own])
    await expect(
      branchConversation(db.database, stranger, from, { message_id: asked.id, content: 'mine' }),
    ).rejects.toMatchObject(refused)
  await expect(
    branchConversation(db.database, person, conversationId, { id: own, message_id: asked.id, content: 'mine' }),
  ).rejects.toMatchObject({ code: 'conflict' })
  expect(await versionsOf(stranger, answer.id)).toEqual([])
  expect(await versionsOf(person, answer.id)).toHaveLength(1)
  const seen = await db.database.asUser(stranger, (scope) => readReplyInProgress(scope, conversationId))
  expect(seen).toBeNull()
})
