import { expect, test } from 'vitest'
import { parseClaim } from '#server/assistant/lease/claimed-reply.ts'
import { createReplyClaims } from '#server/assistant/lease/claims.ts'
import { addMessage } from '#server/conversations/queries.ts'
import { retryReply } from '#server/conversations/reply-queries.ts'
import { rewriteAnswer } from '#server/conversations/rewrite-queries.ts'
import type { DirectDispatch } from '#server/database/direct-dispatch.ts'
import { createStubProviders, openTestAssistant, type Person, textOf } from '#test/assistant.ts'

const { db, stub, assistant } = await openTestAssistant()
const { answersIn, startConversation, watch } = assistant

const ask = (person: Person, conversationId: string, content: string, directDispatch: DirectDispatch) =>
  db.database.asUser(person, (scope) => addMessage(scope, conversationId, { content }), {
    groupFlush: true,
    directDispatch,
  })

/** Accepts dispatched questions but never answers them. */
function idleProcess(name: string) {
  const replies = createReplyClaims(db.serviceChannel, name)
  const taken: ReturnType<typeof parseClaim>[] = []
  const directDispatch: DirectDispatch = {
    settings: () => replies.directDispatchSettings,
    accept: (claimed, flushed) => void taken.push(parseClaim(claimed, flushed)),
  }
  return { replies, taken, directDispatch }
}

const statesIn = async (conversationId: string) =>
  (
    await db.admin.query<{ state: string; worker: string | null }>(
      'select state, worker from replies where conversation_id = $1 order by created_at',
      [conversationId],
    )
  ).rows

interface Place {
  readonly conversationId: string
  readonly answerId: string
}

/** Number of this database's connections that wait for a lock. */
async function waiting(): Promise<number> {
  const { rows } = await db.admin.query<{ count: number }>(
    `select count(*)::integer as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rows[0]?.count ?? 0
}

test('a question is answered by the process that stores it, without waiting in the queue', async () => {
  const worker = await assistant.startWorker({ providersOf: createStubProviders(stub) })
  const person = await db.createPerson()
  const conversationId = await startConversation(person)
  const { until } = await watch(conversationId)
  await ask(person, conversationId, 'Hello [[stub tokens=60 tps=200]]', worker.directDispatch)
  expect(worker.running()).toBe(1)
  expect(await statesIn(conversationId)).toMatchObject([{ state: 'running' }])
  const parts = await until('done')
  expect(new Set(parts.map(({ attempt }) => attempt))).toEqual(new Set([1]))
  expect(textOf(parts)).toBe(await stub.text(60))
  expect(await answersIn(person, conversationId)).toMatchObject([{ content: await stub.text(60) }])
})

test('a dispatched question has all fields of a claim, under the name of the process', async () => {
  const { replies, taken, directDispatch } = idleProcess('this one')
  const person = await db.createPerson()
  await db.admin.query(
    `insert into own_providers (owner, kind, name, base_url) values ($1, 'compatible', 'Home', 'http://home.test/v1')`,
    [person.sub],
  )
  const conversationId = await startConversation(person)
  await ask(person, conversationId, 'Hello', directDispatch)
  const [handed] = taken
  expect(await statesIn(conversationId)).toEqual([{ state: 'running', worker: 'this one' }])
  expect(await replies.claim(9)).toEqual([])
  await handed?.durable
  // A worker that claims after a crashed process gets an equal claim.
  await db.admin.query(`update replies set lease_until = now() - interval '1 second'`)
  const [again] = await createReplyClaims(db.serviceChannel, 'the next').claim(9)
  expect({ ...again, attempt: 1, tries: 1, durable: handed?.durable }).toEqual(handed)
  expect(again).toMatchObject({ attempt: 2, tries: 2, hasOwnProviders: true })
  await db.admin.query('delete from replies')
})

test('a question is queued while another one of its conversation is running or any question waits', async () => {
  const { replies, taken, directDispatch } = idleProcess('w')
  const [person, other] = [await db.createPerson(), await db.createPerson()]
  const [first, second, third] = [
    await startConversation(person),
    await startConversation(person),
    await startConversation(other),
  ]
  await ask(person, first, 'one', directDispatch)
  await ask(person, second, 'two', directDispatch)
  await ask(person, first, 'three', directDispatch)
  await ask(other, third, 'four', directDispatch)
  expect(taken.map(({ conversationId }) => conversationId)).toEqual([first, second])
  expect((await statesIn(first)).map(({ state }) => state)).toEqual(['running', 'queued'])
  expect((await replies.claim(9)).map(({ conversationId }) => conversationId)).toEqual([third])
  await db.admin.query('delete from replies')
})

test('two simultaneous questions of a conversation are answered one after the other', async () => {
  const { taken, directDispatch } = idleProcess('w')
  const person = await db.createPerson()
  const conversationId = await startConversation(person)
  await Promise.all(['one', 'two', 'three'].map((content) => ask(person, conversationId, content, directDispatch)))
  expect(taken).toHaveLength(1)
  expect((await statesIn(conversationId)).map(({ state }) => state).toSorted()).toEqual(['queued', 'queued', 'running'])
  await db.admin.query('delete from replies')
})

test('one of several questions stored together is dispatched, and the others are queued', async () => {
  const { taken, directDispatch } = idleProcess('w')
  const person = await db.createPerson()
  const conversations = [
    await startConversation(person),
    await startConversation(person),
    await startConversation(person),
  ]
  await db.database.asUser(
    person,
    (scope) =>
      scope.query(
        `insert into messages (conversation_id, content, sender_role) select id, 'Hello', 1 from unnest($1::uuid[]) as id`,
        [conversations],
      ),
    { directDispatch },
  )
  expect(taken).toHaveLength(1)
  const { rows } = await db.admin.query<{ state: string }>('select state from replies order by state')
  expect(rows.map(({ state }) => state)).toEqual(['queued', 'queued', 'running'])
  await db.admin.query('delete from replies')
})

test.each([
  ['retried', 'failed', (person: Person, { conversationId }: Place) => retryReply(db.database, person, conversationId)],
  ['asked for anew', 'done', (person: Person, place: Place) => rewriteAnswer(db.database, person, place, null)],
])('a question waits where the answer before it is being %s in the same moment', async (_name, state, queueAgain) => {
  const { taken, directDispatch } = idleProcess('w')
  const person = await db.createPerson()
  const conversationId = await startConversation(person)
  await assistant.ask(person, conversationId, 'one')
  const { rows } = await db.admin.query<{ answer_id: string }>(
    'update replies set state = $2, finished_at = now() where conversation_id = $1 returning answer_id',
    [conversationId, state],
  )
  const answerId = rows[0]?.answer_id ?? ''
  await db.admin.query(
    `insert into messages (id, conversation_id, content, sender_role) values ($1, $2, 'An answer.', 2)`,
    [answerId, conversationId],
  )
  // The transaction that queues the first answer again is blocked after taking its position and before it commits.
  await db.admin.query('begin')
  await db.admin.query('select from replies where answer_id = $1 for update', [answerId])
  const queued = queueAgain(person, { conversationId, answerId })
  await expect.poll(waiting).toBe(1)
  let isAsked = false
  const asked = ask(person, conversationId, 'two', directDispatch).then(() => (isAsked = true))
  await expect.poll(async () => isAsked || (await waiting()) === 2).toBe(true)
  await db.admin.query('commit')
  await Promise.all([queued, asked])
  expect(taken).toEqual([])
  expect((await statesIn(conversationId)).map((reply) => reply.state)).toEqual(['queued', 'queued'])
  await db.admin.query('delete from replies')
})

test('a question that cannot be dispatched is still stored, for any id', async () => {
  const { taken, directDispatch } = idleProcess('w')
  const person = await db.createPerson()
  const conversationId = await startConversation(person)
  const ids = ['11111111-1111-1111-1111-111111111111', '22222222-2222-2222-2222-222222222222'] as const
  const store = (id: string, accept: DirectDispatch['accept']) =>
    db.database.asUser(person, (scope) => addMessage(scope, conversationId, { id, content: 'Hello' }), {
      directDispatch: { ...directDispatch, accept },
    })
  await store(ids[0], directDispatch.accept)
  expect(taken).toMatchObject([{ messageId: ids[0] }])
  await db.admin.query('delete from replies')
  const failing = () => {
    throw new Error('cannot be taken')
  }
  expect(await store(ids[1], failing)).toMatchObject({ isNew: true })
  expect(await statesIn(conversationId)).toMatchObject([{ state: 'running' }])
  await db.admin.query('delete from replies')
})

test('neither a rolled back transaction nor a process without free slots dispatches', async () => {
  const { taken, directDispatch } = idleProcess('w')
  const person = await db.createPerson()
  const conversationId = await startConversation(person)
  const failing = db.database.asUser(
    person,
    async (scope) => {
      await addMessage(scope, conversationId, { content: 'never stored' })
      throw new Error('on second thoughts')
    },
    { directDispatch },
  )
  await expect(failing).rejects.toThrow('on second thoughts')
  expect(taken).toEqual([])
  const worker = await assistant.startWorker({ providersOf: createStubProviders(stub), capacity: 1 })
  const { until } = await watch(conversationId)
  await ask(person, conversationId, 'Hello [[stub tokens=300 tps=300]]', worker.directDispatch)
  expect(worker.directDispatch.settings()).toEqual({})
  await until('done')
})

test('a stopping process releases questions that are still dispatched to it', async () => {
  const worker = await assistant.startWorker({ providersOf: createStubProviders(stub) })
  const person = await db.createPerson()
  const conversationId = await startConversation(person)
  const settings = worker.directDispatch.settings()
  await worker.stop()
  expect(worker.directDispatch.settings()).toEqual({})
  await ask(person, conversationId, 'Hello', { ...worker.directDispatch, settings: () => settings })
  await expect.poll(() => statesIn(conversationId)).toEqual([{ state: 'queued', worker: null }])
  await db.admin.query('delete from replies')
})

test('a person cannot dispatch a question of another person', async () => {
  const { taken, directDispatch } = idleProcess('w')
  const [owner, stranger] = [await db.createPerson(), await db.createPerson()]
  const conversationId = await startConversation(owner)
  await expect(ask(stranger, conversationId, 'Hello', directDispatch)).rejects.toMatchObject({ code: 'not_found' })
  const insert = db.database.asUser(
    stranger,
    (scope) =>
      scope.query(`insert into messages (conversation_id, content, sender_role) values ($1, 'Hello', 1)`, [
        conversationId,
      ]),
    { directDispatch },
  )
  await expect(insert).rejects.toThrow(/row-level security/)
  expect(taken).toEqual([])
  expect(await statesIn(conversationId)).toEqual([])
})
