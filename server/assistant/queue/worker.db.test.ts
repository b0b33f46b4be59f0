import { expect, test } from 'vitest'
import { createReplyClaims } from '#server/assistant/lease/claims.ts'
import { createReplyLog } from '#server/assistant/reply/reply-log.ts'
import { createLog } from '#server/base/log.ts'
import { readReplyInProgress, retryReply, stopReply } from '#server/conversations/reply-queries.ts'
import type { Claims } from '#server/database/scope.ts'
import { createStubProviders, openTestAssistant, STUB_MODEL, textOf } from '#test/assistant.ts'

const log = createLog('silent')
const { db, stub, assistant } = await openTestAssistant()

const startTestWorker = ({ idleTimeoutMs = 5_000 } = {}) =>
  assistant.startWorker({ providersOf: createStubProviders(stub, idleTimeoutMs) })

const { ask, answersIn, watch } = assistant

test('streams a model answer and stores exactly that text with the counts of the provider', async () => {
  await startTestWorker()
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person)
  const { until } = await watch(conversationId)
  await ask(person, conversationId, 'How do the pieces fit? [[stub tokens=200 tps=2000]]')
  const parts = await until('done')
  const wanted = await stub.text(200)
  expect(textOf(parts)).toBe(wanted)
  expect(parts.map(({ seq }) => seq)).toEqual(parts.map((_, index) => index + 1))
  const [answer] = await answersIn(person, conversationId)
  expect(answer).toMatchObject({
    id: parts[0]?.messageId,
    content: wanted,
    token_out: 200,
    metadata: { model: STUB_MODEL, sources: [] },
  })
  expect(answer?.token_in).toBeGreaterThan(10)
  const left = await db.admin.query('select from reply_parts')
  expect(left.rowCount).toBe(0)
})

test.for(['claude-sonnet-4-5', 'gpt-5'])('answers through the wire format of %s', async (model) => {
  await startTestWorker()
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person, { model })
  const { until } = await watch(conversationId)
  await ask(person, conversationId, 'Hello [[stub tokens=60]]')
  expect(textOf(await until('done'))).toBe(await stub.text(60))
  expect(await answersIn(person, conversationId)).toMatchObject([{ token_out: 60, metadata: { model } }])
})

const FAULTS = [
  ['error=401', 'provider_refused_key', false],
  ['error=429', 'provider_rate_limited', true],
  ['error=500', 'provider_failed', true],
  ['tokens=100 tps=500 cut=20', 'provider_cut_off', true],
  ['tokens=100 tps=500 stall=20', 'provider_timed_out', true],
] as const

test.for(
  [STUB_MODEL, 'claude-sonnet-4-5', 'gpt-5'].flatMap((model) => FAULTS.map((fault) => [model, ...fault] as const)),
)('ends a reply of %s whose provider fails (%s) in a message that says so', async ([model, fault, code, retryable]) => {
  // A rejected request is retried after two seconds; a stalled stream is given up after this idle timeout.
  await startTestWorker({ idleTimeoutMs: fault.includes('stall') ? 1_000 : 10_000 })
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person, { model })
  const { until } = await watch(conversationId)
  await ask(person, conversationId, `Hello [[stub ${fault}]]`)
  const parts = await until('error')
  expect(parts.at(-1)?.error).toMatchObject({ code, retryable })
  const [answer] = await answersIn(person, conversationId)
  expect(answer).toMatchObject({ content: textOf(parts), metadata: { error: { code, retryable } } })
})

test('names the model that does not exist, and the key that is missing', async () => {
  await startTestWorker()
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person, { model: 'no-such-model' })
  const { until } = await watch(conversationId)
  await ask(person, conversationId, 'Hello')
  expect((await until('error')).at(-1)?.error).toMatchObject({
    code: 'unknown_model',
    message: expect.stringContaining('no-such-model') as string,
  })
})

test('retries a failed answer in its place, once', async () => {
  await startTestWorker()
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person, { model: 'no-such-model' })
  const { until } = await watch(conversationId)
  await ask(person, conversationId, 'Hello [[stub tokens=10]]')
  await until('error')
  await db.admin.query('update conversations set model_name = $1 where id = $2', [STUB_MODEL, conversationId])
  await retryReply(db.database, person, conversationId)
  await until('done')
  expect(await answersIn(person, conversationId)).toMatchObject([{ content: await stub.text(10) }])
  await expect(retryReply(db.database, person, conversationId)).rejects.toMatchObject({ code: 'conflict' })
})

test('stores the text so far when the person stops a reply', async () => {
  const worker = await startTestWorker()
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person)
  const { until } = await watch(conversationId)
  await ask(person, conversationId, 'Hello [[stub tokens=5000 tps=100]]')
  await until('text')
  await stopReply(db.database, person, conversationId)
  const parts = await until('stopped')
  const [answer] = await answersIn(person, conversationId)
  expect(answer).toMatchObject({ content: textOf(parts), metadata: { stopped: true } })
  expect((await stub.text(5000)).startsWith(textOf(parts))).toBe(true)
  // The last part is broadcast when the database has committed, which the worker may learn slightly later.
  await expect.poll(() => worker.running()).toBe(0)
})

test('releases a running reply on shutdown, and the next worker starts it again', async () => {
  const first = await startTestWorker()
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person)
  const { until } = await watch(conversationId)
  await ask(person, conversationId, 'Hello [[stub tokens=60 tps=60]]')
  await until('text')
  await first.stop()
  const waiting = await db.database.asUser(person, (scope) => readReplyInProgress(scope, conversationId))
  expect(waiting).toMatchObject({ attempt: 1 })
  await startTestWorker()
  const parts = await until('done')
  const restarted = parts.slice(parts.findIndex(({ type }) => type === 'restart'))
  expect(restarted.every(({ attempt }) => attempt === 2)).toBe(true)
  expect(textOf(restarted)).toBe(await stub.text(60))
  expect(await answersIn(person, conversationId)).toHaveLength(1)
})

test('rejects all writes of a worker whose lease another worker has', async () => {
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person)
  await ask(person, conversationId, 'Hello')
  const slow = createReplyClaims(db.serviceChannel, 'slow')
  const [claimed] = await slow.claim(1)
  if (!claimed) throw new Error('nothing was claimed')
  expect(await createReplyClaims(db.serviceChannel, 'early').claim(1)).toEqual([])
  await db.admin.query(`update replies set lease_until = now() - interval '1 second' where id = $1`, [claimed.id])
  const [taken] = await createReplyClaims(db.serviceChannel, 'other').claim(1)
  expect(taken).toMatchObject({ id: claimed.id, attempt: 2 })

  let isLost = false
  const writer = createReplyLog(db.serviceChannel, log).open(claimed, () => (isLost = true))
  writer.append({ type: 'text', text: 'too late' })
  await writer.flushed()
  expect(isLost).toBe(true)
  expect((await db.admin.query('select from reply_parts where reply_id = $1', [claimed.id])).rowCount).toBe(0)
  expect(await slow.renew([claimed])).toEqual(new Map())
  const lastPart = { replyId: claimed.id, messageId: claimed.answerId, attempt: 1, seq: 1, type: 'done' as const }
  const answer = {
    content: 'too late',
    hasNewText: true,
    tokensIn: null,
    tokensOut: null,
    metadata: {},
    state: 'done' as const,
    lastPart,
  }
  expect(await slow.finish(claimed, answer)).toMatchObject({ isStored: false })
  expect(await answersIn(person, conversationId)).toEqual([])
  await db.admin.query('delete from replies where id = $1', [claimed.id])
})

test('claims one question of a conversation at a time, and the person with fewer running replies first', async () => {
  const [busy, idle] = [await db.createPerson(), await db.createPerson()]
  const conversations = [
    await assistant.startConversation(busy),
    await assistant.startConversation(busy),
    await assistant.startConversation(idle),
  ] as const
  await ask(busy, conversations[0], 'first')
  await ask(busy, conversations[0], 'second')
  const replies = createReplyClaims(db.serviceChannel, 'w')
  expect((await replies.claim(1)).map(({ conversationId }) => conversationId)).toEqual([conversations[0]])
  await ask(busy, conversations[1], 'third')
  await ask(idle, conversations[2], 'fourth')
  expect((await replies.claim(1)).map(({ conversationId }) => conversationId)).toEqual([conversations[2]])
  expect((await replies.claim(9)).map(({ conversationId }) => conversationId)).toEqual([conversations[1]])
  expect(await replies.claim(9)).toEqual([])
  await db.admin.query('delete from replies')
})

test('leaves slots for others however many questions one person asks', async () => {
  const [greedy, modest] = [await db.createPerson(), await db.createPerson()]
  for (let question = 0; question < 12; question += 1)
    await ask(greedy, await assistant.startConversation(greedy), 'Everything?')
  const replies = createReplyClaims(db.serviceChannel, 'w')
  expect(await replies.claim(10)).toHaveLength(8)
  expect(await replies.claim(2)).toEqual([])
  const conversationId = await assistant.startConversation(modest)
  await ask(modest, conversationId, 'One thing?')
  expect(await replies.claim(2)).toMatchObject([{ conversationId }])
  await db.admin.query('delete from replies')
})

test('continues its own reply where the lease expired before renewal', async () => {
  await startTestWorker()
  const person = await db.createPerson()
  const [conversationId, other] = [await assistant.startConversation(person), await assistant.startConversation(person)]
  const [watched, elsewhere] = [await watch(conversationId), await watch(other)]
  await ask(person, conversationId, 'Hello [[stub tokens=150 tps=100]]')
  await watched.until('text')
  await db.admin.query(`update replies set lease_until = now() - interval '1 second' where conversation_id = $1`, [
    conversationId,
  ])
  // A question elsewhere makes the worker look at the queue.
  await ask(person, other, 'Hello [[stub tokens=5]]')
  await elsewhere.until('done')
  const parts = await watched.until('done')
  expect(new Set(parts.map(({ attempt }) => attempt))).toEqual(new Set([1]))
  expect(textOf(parts)).toBe(await stub.text(150))
  expect(await answersIn(person, conversationId)).toMatchObject([{ content: await stub.text(150) }])
})

test('knows with the claim whether the person who asks has connected a provider', async () => {
  const [connected, plain] = [await db.createPerson(), await db.createPerson()]
  await db.admin.query(
    `insert into own_providers (owner, kind, name, base_url) values ($1, 'compatible', 'Home', 'http://home.test/v1')`,
    [connected.sub],
  )
  for (const person of [connected, plain]) await ask(person, await assistant.startConversation(person), 'Hello')
  const claimed = await createReplyClaims(db.serviceChannel, 'w').claim(9)
  expect(new Map(claimed.map(({ owner, hasOwnProviders }) => [owner, hasOwnProviders]))).toEqual(
    new Map([
      [connected.sub, true],
      [plain.sub, false],
    ]),
  )
  await db.admin.query('delete from replies')
})

test('answers one person’s question before most of a hundred earlier ones of another person', async () => {
  const [busy, patient] = [await db.createPerson(), await db.createPerson()]
  for (let n = 0; n < 100; n += 1) {
    const conversationId = await assistant.startConversation(busy)
    await ask(busy, conversationId, 'Hello [[stub tokens=5]]')
  }
  const conversationId = await assistant.startConversation(patient)
  const { until } = await watch(conversationId)
  await ask(patient, conversationId, 'Hello [[stub tokens=5]]')
  await assistant.startWorker({ providersOf: createStubProviders(stub), capacity: 4 })
  await until('done')
  const answered = async () =>
    (await db.admin.query(`select from replies where owner = $1 and state = 'done'`, [busy.sub])).rowCount ?? 0
  expect(await answered()).toBeLessThan(50)
  await expect.poll(answered, { timeout: 50_000 }).toBe(100)
})

test('gives up a question that crashed every worker', async () => {
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person)
  await db.admin.query(`alter table replies disable trigger all`)
  await ask(person, conversationId, 'Hello')
  await db.admin.query(`update replies set attempt = 5, tries = 5 where conversation_id = $1`, [conversationId])
  const { until } = await watch(conversationId)
  await startTestWorker()
  expect((await until('error')).at(-1)?.error?.message).toContain('5 attempts')
  expect(await answersIn(person, conversationId)).toHaveLength(1)
})

test('shows a reply to its owner and accepts a stop from the owner alone', async () => {
  const [owner, stranger] = [await db.createPerson(), await db.createPerson()]
  const conversationId = await assistant.startConversation(owner)
  await ask(owner, conversationId, 'Hello')
  const [claimed] = await createReplyClaims(db.serviceChannel, 'w').claim(1)
  expect(claimed?.conversationId).toBe(conversationId)
  const seenBy = (person: Claims) => db.database.asUser(person, (scope) => readReplyInProgress(scope, conversationId))
  expect(await seenBy(owner)).toMatchObject({ attempt: 1, parts: [] })
  expect(await seenBy(stranger)).toBeNull()
  await expect(stopReply(db.database, stranger, conversationId)).rejects.toMatchObject({ code: 'not_found' })
  await expect(retryReply(db.database, stranger, conversationId)).rejects.toMatchObject({ code: 'not_found' })
  await expect(ask(stranger, conversationId, 'Hello')).rejects.toMatchObject({ code: 'not_found' })
})
