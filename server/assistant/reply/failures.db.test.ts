import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { ClaimedReply } from '#server/assistant/lease/claimed-reply.ts'
import { createReplyClaims } from '#server/assistant/lease/claims.ts'
import { createLog } from '#server/base/log.ts'
import { deleteConversation, readTurns } from '#server/conversations/queries.ts'
import { readReplyInProgress, retryReply, stopReply } from '#server/conversations/reply-queries.ts'
import { setQuotas } from '#server/database/quotas.ts'
import { createStubProviders, openTestAssistant, textOf } from '#test/assistant.ts'
import { createReplyLog } from './reply-log.ts'

const log = createLog('silent')
const { db, stub, assistant } = await openTestAssistant()

const startTestWorker = () => assistant.startWorker({ providersOf: createStubProviders(stub) })

const { ask, answersIn, watch } = assistant

async function claimOne(): Promise<ClaimedReply> {
  const [claimed] = await createReplyClaims(db.serviceChannel, 'a test').claim(1)
  if (!claimed) throw new Error('nothing was claimed')
  return claimed
}

/** Resolves when some connection of this database waits for a lock. */
async function somebodyWaits(): Promise<void> {
  for (let waiting = 0; waiting === 0;) {
    const { rowCount } = await db.admin.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    waiting = rowCount ?? 0
  }
}

test('a missed stop notification takes effect at the next claim', async () => {
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person)
  await ask(person, conversationId, 'Hello [[stub tokens=5000 tps=100]]')
  const claimed = await claimOne()
  await stopReply(db.database, person, conversationId)
  const renewed = await createReplyClaims(db.serviceChannel, 'a test').renew([claimed])
  expect(renewed.get(claimed.id)).toEqual({ stopRequested: true })
  await db.admin.query(`update replies set lease_until = now() - interval '1 second' where id = $1`, [claimed.id])
  const { until } = await watch(conversationId)
  await startTestWorker()
  await until('stopped')
  expect(await answersIn(person, conversationId)).toMatchObject([{ content: '', metadata: { stopped: true } }])
})

test('a stop ends all queued questions of the conversation, from any tab', async () => {
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person)
  await ask(person, conversationId, 'first')
  const claimed = await claimOne()
  await ask(person, conversationId, 'second')
  await stopReply(db.database, person, conversationId)
  const { rows } = await db.admin.query<{ state: string; stop_requested: boolean }>(
    'select state, stop_requested from replies where conversation_id = $1 order by created_at',
    [conversationId],
  )
  expect(rows).toEqual([
    { state: 'running', stop_requested: true },
    { state: 'stopped', stop_requested: false },
  ])
  await db.admin.query('delete from replies where id = $1', [claimed.id])
})

test('a person may retry without limit, and a release does not count as a try', async () => {
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person)
  await ask(person, conversationId, 'Hello [[stub tokens=10]]')
  const replies = createReplyClaims(db.serviceChannel, 'a test')
  for (let time = 0; time < 7; time += 1) {
    const claimed = await claimOne()
    expect(claimed).toMatchObject({ attempt: time + 1, tries: 1 })
    await replies.release([claimed])
  }
  await db.admin.query(`update replies set state = 'failed', tries = 6 where conversation_id = $1`, [conversationId])
  await retryReply(db.database, person, conversationId)
  const { until } = await watch(conversationId)
  await startTestWorker()
  await until('done')
  expect(await answersIn(person, conversationId)).toMatchObject([{ content: await stub.text(10) }])
})

test('an empty answer is an error that can be retried', async () => {
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person)
  const { until } = await watch(conversationId)
  await startTestWorker()
  await ask(person, conversationId, 'Hello [[stub tokens=0]]')
  await until('error')
  expect(await answersIn(person, conversationId)).toMatchObject([
    { content: '', metadata: { error: { code: 'provider_empty', retryable: true } } },
  ])
})

test('questions that wait are not answered once the answers before them have used the room up', async () => {
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person)
  onTestFinished(() => setQuotas(db.database, { fileBytesPerPerson: 0, textBytesPerPerson: 0, totalBytes: 0 }))
  await setQuotas(db.database, { fileBytesPerPerson: 0, textBytesPerPerson: 5_000, totalBytes: 0 })
  for (const question of ['first', 'second']) await ask(person, conversationId, `${question} [[stub tokens=3000]]`)
  const { until } = await watch(conversationId)
  await startTestWorker()
  await until('error')
  const [first, second] = await answersIn(person, conversationId)
  expect(first?.content.length).toBeGreaterThan(5_000)
  expect(second).toMatchObject({
    content: '',
    metadata: {
      error: {
        code: 'no_room',
        message: expect.stringMatching(/^Your conversations use \d+ kB of 5 kB\. Delete some/) as unknown,
      },
    },
  })
})

test('a question of a second tab waits for the first, and its context contains the first answer', async () => {
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person)
  await ask(person, conversationId, 'first')
  const second = await ask(person, conversationId, 'second')
  const claimed = await claimOne()
  // Simulates that the first was committed after the second was seen.
  await db.admin.query(`update replies set created_at = created_at + interval '1 minute' where id = $1`, [claimed.id])
  expect(await createReplyClaims(db.serviceChannel, 'another').claim(9)).toEqual([])
  const lastPart = { replyId: claimed.id, messageId: claimed.answerId, attempt: 1, seq: 1, type: 'done' as const }
  const finished = await createReplyClaims(db.serviceChannel, 'a test').finish(claimed, {
    content: 'answer to the first',
    hasNewText: true,
    tokensIn: null,
    tokensOut: null,
    metadata: {},
    state: 'done',
    lastPart,
  })
  expect(finished).toEqual({ isStored: true, hasQueuedQuestions: true })
  await ask(person, conversationId, 'third')
  const turns = await db.database.asUser(person, (scope) => readTurns(scope, conversationId, second.id, 200))
  expect(turns.map(({ content }) => content)).toEqual(['first', 'answer to the first', 'second'])
  const nearest = await db.database.asUser(person, (scope) => readTurns(scope, conversationId, second.id, 2))
  expect(nearest.map(({ content }) => content)).toEqual(['answer to the first', 'second'])
  await db.admin.query('delete from replies where conversation_id = $1', [conversationId])
})

test('deleting a conversation ends its running answer', async () => {
  const worker = await startTestWorker()
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person)
  const { until } = await watch(conversationId)
  await ask(person, conversationId, 'Hello [[stub tokens=100000 tps=200]]')
  await until('text')
  await db.database.asUser(person, (scope) => deleteConversation(scope, conversationId))
  await expect.poll(() => worker.running()).toBe(0)
  const left = await db.admin.query('select from replies where conversation_id = $1', [conversationId])
  expect(left.rowCount).toBe(0)
})

test('the end of an answer and the deletion of its conversation do not deadlock', async () => {
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person)
  await ask(person, conversationId, 'Hello')
  const claimed = await claimOne()
  const deleting = await db.admin.connect()
  await deleting.query('begin')
  await deleting.query('select from conversations where id = $1 for update', [conversationId])
  const lastPart = { replyId: claimed.id, messageId: claimed.answerId, attempt: 1, seq: 1, type: 'done' as const }
  const finishing = createReplyClaims(db.serviceChannel, 'a test').finish(claimed, {
    content: 'too late',
    hasNewText: true,
    tokensIn: null,
    tokensOut: null,
    metadata: {},
    state: 'done',
    lastPart,
  })
  await somebodyWaits()
  await deleting.query('delete from conversations where id = $1', [conversationId])
  await deleting.query('commit')
  deleting.release()
  expect(await finishing).toMatchObject({ isStored: false })
})

test('connections lost during an answer lose no words and preserve their order', async () => {
  await startTestWorker()
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person)
  const { parts, until } = await watch(conversationId)
  await ask(person, conversationId, 'Hello [[stub tokens=300 tps=200]]')
  await until('text')
  for (let time = 0; time < 3; time += 1) {
    await db.admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and usename = 'authenticator' and application_name <> 'alcove listener'`,
    )
    const seen = parts.length
    await expect.poll(() => parts.length).toBeGreaterThan(seen)
  }
  await until('done')
  const bySeq = new Map(parts.map((part) => [part.seq, part]))
  expect([...bySeq.keys()]).toEqual(Array.from(bySeq.keys(), (_, index) => index + 1))
  expect(textOf([...bySeq.values()])).toBe(await stub.text(300))
  expect(await answersIn(person, conversationId)).toMatchObject([{ content: await stub.text(300) }])
})

test('parts that the database rejects do not block those of other replies', async () => {
  const person = await db.createPerson()
  const conversations = [await assistant.startConversation(person), await assistant.startConversation(person)]
  for (const id of conversations) await ask(person, id, 'Hello')
  const claimed = await createReplyClaims(db.serviceChannel, 'a test').claim(9)
  const replyLog = createReplyLog(db.serviceChannel, log)
  const lost: string[] = []
  const [poisoned, healthy] = claimed.map((reply) => replyLog.open(reply, () => lost.push(reply.id)))
  poisoned?.append({ type: 'text', text: '\0' })
  healthy?.append({ type: 'text', text: 'sound' })
  await healthy?.flushed()
  expect(lost).toEqual([claimed[0]?.id])
  const seen = await db.database.asUser(person, (scope) => readReplyInProgress(scope, claimed[1]?.conversationId ?? ''))
  expect(seen?.parts).toMatchObject([{ seq: 1, type: 'text', text: 'sound' }])
  await db.admin.query('delete from replies where owner = $1', [person.sub])
})

test('parts that are written while their reply is being deleted are given up without an error', async () => {
  const person = await db.createPerson()
  await ask(person, await assistant.startConversation(person), 'Hello')
  const claimed = await claimOne()
  await claimed.durable
  const errors: unknown[] = []
  const replyLog = createReplyLog(
    db.serviceChannel,
    Object.assign(createLog('silent'), { error: (what: unknown) => errors.push(what) }),
  )
  const lost = Promise.withResolvers<undefined>()
  const writer = replyLog.open(claimed, () => lost.resolve(undefined))
  const deleting = await db.admin.connect()
  try {
    await deleting.query('begin')
    await deleting.query('delete from replies where id = $1', [claimed.id])
    writer.append({ type: 'text', text: 'gone' })
    await somebodyWaits()
    await deleting.query('commit')
  } finally {
    deleting.release()
  }
  await lost.promise
  expect(errors).toEqual([])
})

test('a flush requested during the last write does not mark the reply as lost', async () => {
  const person = await db.createPerson()
  const conversations = [await assistant.startConversation(person), await assistant.startConversation(person)]
  for (const id of conversations) await ask(person, id, 'Hello')
  const claimed = await createReplyClaims(db.serviceChannel, 'a test').claim(9)
  const replyLog = createReplyLog(db.serviceChannel, log)
  const lost: string[] = []
  const [first, second] = claimed.map((reply) => replyLog.open(reply, () => lost.push(reply.id)))
  await Promise.all(claimed.map(({ durable }) => durable))
  first?.append({ type: 'text', text: 'the end' })
  // The write is on its way, and the database has not answered.
  await nextTurn()
  first?.requestFlush()
  await first?.flushed()
  second?.append({ type: 'text', text: 'the beginning' })
  await second?.flushed()
  expect(lost).toEqual([])
  await db.admin.query('delete from replies where owner = $1', [person.sub])
})

test('words flushed during a write are delivered at once, and logged', async () => {
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person)
  await ask(person, conversationId, 'Hello')
  const [claimed] = await createReplyClaims(db.serviceChannel, 'a test').claim(1)
  if (!claimed) throw new Error('there is nothing to answer')
  const told: (string | undefined)[] = []
  const writer = createReplyLog(db.serviceChannel, log, ({ payload }) => told.push(payload.text)).open(
    claimed,
    () => undefined,
  )
  await claimed.durable
  writer.append({ type: 'text', text: 'the ' })
  writer.append({ type: 'text', text: 'beginning' })
  await nextTurn()
  expect(told).toEqual(['the beginning'])
  writer.append({ type: 'text', text: ' and the end' })
  expect(told).toHaveLength(1)
  writer.requestFlush()
  expect(told).toEqual(['the beginning', ' and the end'])
  await writer.flushed()
  const seen = await db.database.asUser(person, (scope) => readReplyInProgress(scope, conversationId))
  expect(seen?.parts).toMatchObject([
    { seq: 1, text: 'the beginning' },
    { seq: 2, text: ' and the end' },
  ])
  await db.admin.query('delete from replies where owner = $1', [person.sub])
})
