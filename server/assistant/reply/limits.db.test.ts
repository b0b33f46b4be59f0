/** Limits on questions, tokens, costs and recognised pages, and what is counted of them. */
import { randomUUID } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { ownDailyUsage, ownLimits } from '#contract/usage.ts'
import { admitAnswer, countShortRequests } from '#server/assistant/lease/spending.ts'
import { rewriteAnswer } from '#server/conversations/rewrite-queries.ts'
import { type Quotas, setQuotas } from '#server/database/quotas.ts'
import { foldUsage } from '#server/operation/usage-job.ts'
import type { ChatModel } from '#server/providers/chat.ts'
import { createPriceTable } from '#server/providers/model-prices.ts'
import { openTestAssistant, type Person } from '#test/assistant.ts'
import { addReadDocument } from '#test/library.ts'

const { db, assistant } = await openTestAssistant()
const UNLIMITED: Quotas = {
  fileBytesPerPerson: 0,
  textBytesPerPerson: 0,
  totalBytes: 0,
  questionsPerPerson: 0,
  questionsTotal: 0,
  tokensPerPerson: 0,
  tokensTotal: 0,
  costPerPerson: 0,
  costTotal: 0,
  pagesPerPerson: 0,
  pagesTotal: 0,
}
afterEach(async () => {
  await setQuotas(db.database, UNLIMITED)
  await db.admin.query('delete from usage_events')
  await db.admin.query('delete from daily_usage')
})

const startTestWorker = () =>
  assistant.startWorker({
    usageLimits: { areSet: () => true, priceOf: createPriceTable({ stub: { in: 1_000, out: 1_000 } }) },
  })
const READER = { model: 'alcove-reader' }

const usageOf = (person: Person) =>
  db.database.asUser(person, async (scope) =>
    ownDailyUsage.parse((await scope.query('select * from own_daily_usage(30)')).rows),
  )
const limitsOf = (person: Person) =>
  db.database.asUser(person, async (scope) => ownLimits.parse((await scope.query('select * from own_limits()')).rows))

/** Counts use as if it had happened, `days` ago. */
const use = (person: Person, amounts: { tokens?: number; cost?: number; questions?: number }, days = 0) =>
  db.admin.query(
    'insert into usage_events (owner, day, tokens, cost, questions) values ($1, utc_today() - $2::integer, $3, $4, $5)',
    [person.sub, days, amounts.tokens ?? 0, amounts.cost ?? 0, amounts.questions ?? 0],
  )

const QUESTIONS = /^You asked 3 of 3 questions today\. You can ask again after midnight \(UTC\)\.$/

test('questions at the same time do not exceed a limit, and those of yesterday and of others do not count', async () => {
  const [person, other] = [await db.createPerson(), await db.createPerson()]
  await setQuotas(db.database, { questionsPerPerson: 3 })
  await use(person, { questions: 50 }, 1)
  const conversations = await Promise.all(Array.from({ length: 12 }, () => assistant.startConversation(person, READER)))
  const asked = await Promise.allSettled(conversations.map((id) => assistant.ask(person, id, 'Where?')))
  expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
  for (const one of asked)
    if (one.status === 'rejected')
      expect(one.reason).toMatchObject({ message: expect.stringMatching(QUESTIONS) as unknown })
  await assistant.ask(other, await assistant.startConversation(other, READER), 'Where?')
  expect(await limitsOf(person)).toEqual([{ name: 'questions', used: 3, allowed: 3 }])
  expect(await limitsOf(other)).toEqual([{ name: 'questions', used: 1, allowed: 3 }])
})

test('a limit for all people holds over their questions at the same time', async () => {
  const people = await Promise.all(Array.from({ length: 6 }, () => db.createPerson()))
  await setQuotas(db.database, { questionsTotal: 4 })
  const asked = await Promise.allSettled(
    people.map(async (person) => assistant.ask(person, await assistant.startConversation(person, READER), 'Where?')),
  )
  expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(4)
  expect(await limitsOf(people[0] as Person)).toEqual([{ name: 'all questions', used: 100, allowed: 100 }])
})

test('a deleted account leaves its use to the limit for all', async () => {
  const [leaving, person] = [await db.createPerson(), await db.createPerson()]
  await setQuotas(db.database, { questionsTotal: 2 })
  await use(leaving, { questions: 2 })
  await db.admin.query('delete from auth.users where id = $1', [leaving.sub])
  const id = await assistant.startConversation(person, READER)
  await expect(assistant.ask(person, id, 'Where?')).rejects.toThrow(/^This server has reached its limit of questions/)
  expect((await db.admin.query('select from daily_usage where owner = $1', [leaving.sub])).rowCount).toBe(0)
})

test('another version of an answer is a question too', async () => {
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person, READER)
  const { until } = await assistant.watch(conversationId)
  const worker = await startTestWorker()
  await assistant.ask(person, conversationId, 'Where?')
  await until('done')
  await worker.stop()
  const [answer] = await assistant.answersIn(person, conversationId)
  await setQuotas(db.database, { questionsPerPerson: 1 })
  await expect(
    rewriteAnswer(db.database, person, { conversationId, answerId: answer?.id ?? '' }, null),
  ).rejects.toThrow(/^You asked 1 of 1 questions today/)
})

test('tokens and costs of an answer are counted once it has ended', async () => {
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person, { title: 'Lamps' })
  const { until } = await assistant.watch(conversationId)
  await startTestWorker()
  await assistant.ask(person, conversationId, 'Where? [[stub tokens=200]]')
  await until('done')
  const [answer] = await assistant.answersIn(person, conversationId)
  const tokens = (answer?.token_in ?? 0) + (answer?.token_out ?? 0)
  expect(tokens).toBeGreaterThan(0)
  expect(await usageOf(person)).toMatchObject([{ questions: 1, tokens, own_tokens: 0, cost: tokens * 1_000 }])
})

test('the title of a new conversation is counted', async () => {
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person, { title: 'New conversation' })
  const { until } = await assistant.watch(conversationId)
  await startTestWorker()
  await assistant.ask(person, conversationId, 'Where? [[stub tokens=20]]')
  await until('done')
  const [answer] = await assistant.answersIn(person, conversationId)
  const tokens = (answer?.token_in ?? 0) + (answer?.token_out ?? 0)
  await expect.poll(async () => (await usageOf(person))[0]?.tokens ?? 0).toBeGreaterThan(tokens)
  const [usage] = await usageOf(person)
  expect(usage?.cost).toBe((usage?.tokens ?? 0) * 1_000)
})

test('an answer whose conversation was deleted meanwhile is counted', async () => {
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person)
  const { until } = await assistant.watch(conversationId)
  await startTestWorker()
  await assistant.ask(person, conversationId, 'Where? [[stub tokens=400 tps=200]]')
  await until('text')
  await db.database.asUser(person, (scope) => scope.query('delete from conversations where id = $1', [conversationId]))
  await expect.poll(async () => (await usageOf(person))[0]?.tokens, { timeout: 15_000 }).toBeGreaterThan(0)
})

test('a key for another provider leaves a question within the limit', async () => {
  const person = await db.createPerson()
  await setQuotas(db.database, { tokensPerPerson: 1_000 })
  await use(person, { tokens: 1_000 })
  const toModel = await assistant.startConversation(person)
  await db.admin.query(
    "insert into own_providers (owner, kind, name, base_url) values ($1, 'compatible', 'Junk', 'http://junk.test')",
    [person.sub],
  )
  await expect(assistant.ask(person, toModel, 'Where?')).rejects.toThrow(/^You used 1,000 of 1,000 tokens today/)
})

const reserve = async (person: Person, priceIn: number, priceOut: number) => {
  const id = await assistant.startConversation(person)
  await assistant.ask(person, id, 'Where?')
  const { rows } = await db.admin.query<{ id: string }>(
    "update replies set state = 'running' where conversation_id = $1 returning id",
    [id],
  )
  const reserved = await db.database.serviceStatement<{ granted: number; refusal: string | null }>(
    'select granted, refusal from reserve_usage($1, (select attempt from replies where id = $1), 1000, 2000, $2, $3)',
    [rows[0]?.id, priceIn, priceOut],
  )
  await db.admin.query("update replies set state = 'done' where conversation_id = $1", [id])
  return reserved.rows[0]
}

test('a model that costs only what it reads reaches the limit on costs too', async () => {
  const person = await db.createPerson()
  await setQuotas(db.database, { costPerPerson: 2_000_000 })
  await use(person, { cost: 1_500_000 })
  expect(await reserve(person, 500, 0)).toMatchObject({ granted: 2000, refusal: null })
  expect(await reserve(person, 501, 0)).toMatchObject({ granted: 0, refusal: expect.stringMatching(/this month/) as unknown }) // prettier-ignore
  expect(await reserve(person, 0, 0)).toMatchObject({ granted: 2000, refusal: null })
})

test('a limit that is far does not shorten an answer, whatever the window of its model', async () => {
  const person = await db.createPerson()
  await setQuotas(db.database, { tokensPerPerson: 10_000 })
  const id = await assistant.startConversation(person)
  await assistant.ask(person, id, 'Where?')
  const { rows } = await db.admin.query<{ id: string; attempt: number }>(
    "update replies set state = 'running' where conversation_id = $1 returning id, attempt",
    [id],
  )
  const reply = { id: rows[0]?.id ?? '', attempt: rows[0]?.attempt ?? 0, durable: Promise.resolve() }
  const limits = { areSet: () => true, priceOf: createPriceTable() }
  const admit = (contextWindow: number) =>
    admitAnswer(db.database, reply, { identifier: 'stub', isPersonal: false, contextWindow }, 100, limits)
  expect(await admit(8_000)).toBeUndefined()
  expect(await admit(64_000)).toBe(9_900)
  await use(person, { tokens: 9_000 })
  expect(await admit(8_000)).toBe(900)
  await db.admin.query("update replies set state = 'done' where conversation_id = $1", [id])
})

test('short requests of an answer are counted, and none is sent beyond the limit', async () => {
  const person = await db.createPerson()
  await setQuotas(db.database, { tokensPerPerson: 1_000 })
  const id = await assistant.startConversation(person)
  await assistant.ask(person, id, 'Where?')
  const { rows } = await db.admin.query<{ id: string; attempt: number }>(
    "update replies set state = 'running' where conversation_id = $1 returning id, attempt",
    [id],
  )
  const reply = {
    id: rows[0]?.id ?? '',
    attempt: rows[0]?.attempt ?? 0,
    owner: person.sub,
    durable: Promise.resolve(),
  }
  let sent = 0
  const chat: ChatModel = {
    identifier: 'stub',
    stream: () => Promise.resolve(),
    complete: () => {
      sent += 1
      return Promise.resolve({ text: 'Notes', isCut: false, tokensIn: 900, tokensOut: 100 })
    },
  }
  const counted = countShortRequests(chat, {
    database: db.database,
    reply,
    charged: { identifier: 'stub', isPersonal: false, contextWindow: 8_000 },
    limits: { areSet: () => true, priceOf: createPriceTable() },
  })
  const request = { system: '', turns: [], signal: new AbortController().signal }
  await counted.complete(request)
  expect(await usageOf(person)).toMatchObject([{ tokens: 1_000 }])
  await expect(counted.complete(request)).rejects.toThrow(/^You used 1,000 of 1,000 tokens today/)
  expect(sent).toBe(1)
  await db.admin.query("update replies set state = 'done' where conversation_id = $1", [id])
})

test('a used-up limit refuses a question to a model, and leaves Alcove Reader', async () => {
  const person = await db.createPerson()
  await setQuotas(db.database, { tokensPerPerson: 1_000 })
  await use(person, { tokens: 1_000 })
  const toModel = await assistant.startConversation(person)
  await expect(assistant.ask(person, toModel, 'Where?')).rejects.toThrow(
    'You used 1,000 of 1,000 tokens today. Choose Alcove Reader, or ask again after midnight (UTC).',
  )
  await assistant.ask(person, await assistant.startConversation(person, READER), 'Where?')
})

test('costs count by month', async () => {
  const person = await db.createPerson()
  await setQuotas(db.database, { costPerPerson: 2_000_000 })
  await use(person, { cost: 2_000_000 }, 40)
  const conversationId = await assistant.startConversation(person)
  await use(person, { cost: 1_990_000 })
  expect(await limitsOf(person)).toEqual([{ name: 'cost', used: 1_990_000, allowed: 2_000_000 }])
  await use(person, { cost: 10_000 })
  await expect(assistant.ask(person, conversationId, 'Where?')).rejects.toThrow(
    'You used $2.00 of $2.00 this month. Choose Alcove Reader, or ask again next month.',
  )
})

test('answers at the same time reserve tokens, so that the last has no room', async () => {
  const person = await db.createPerson()
  const ids = await Promise.all(Array.from({ length: 3 }, () => assistant.startConversation(person)))
  // A question to the stub takes some hundred tokens for its instructions alone; reservations take all that is left.
  await setQuotas(db.database, { tokensPerPerson: 8_000 })
  const watched = await Promise.all(ids.map((id) => assistant.watch(id)))
  for (const id of ids) await assistant.ask(person, id, 'Where? [[stub tokens=400 tps=100]]')
  await startTestWorker()
  await Promise.all(watched.map(({ until }) => Promise.race([until('done'), until('error')])))
  const answers = (await Promise.all(ids.map((id) => assistant.answersIn(person, id)))).flat()
  const refused = answers.filter(({ metadata }) => JSON.stringify(metadata).includes('limit_reached'))
  expect(refused.length).toBeGreaterThan(0)
  const [usage] = await usageOf(person)
  expect(usage?.tokens).toBeGreaterThan(0)
  expect(usage?.tokens).toBeLessThanOrEqual(8_000)
})

const addPages = (person: Person, documentId: string, from: number, count: number) =>
  db.admin.query(
    `insert into document_pages (document_id, owner, page, text, confidence)
     select $1, $2, n, 'text', 90 from generate_series($3::integer, $3::integer + $4::integer - 1) n`,
    [documentId, person.sub, from, count],
  )

test('recognised pages count, and none is stored beyond the limit', async () => {
  const person = await db.createPerson()
  const { documentId } = await addReadDocument(db.database, person, 'scan.pdf', ['A page with text of its own.'])
  expect(await usageOf(person)).toMatchObject([{ documents: 1, pages: 0 }])
  await setQuotas(db.database, { pagesPerPerson: 10 })
  await addPages(person, documentId, 2, 8)
  await expect(addPages(person, documentId, 10, 3)).rejects.toThrow(
    'You had 8 of 10 pages recognised today. More can be read after midnight (UTC).',
  )
  const added = await Promise.allSettled([10, 11, 12, 13].map((page) => addPages(person, documentId, page, 1)))
  expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
  expect(await usageOf(person)).toMatchObject([{ documents: 1, pages: 10 }])
})

test('a copy of a scan has its pages recognised no second time', async () => {
  const person = await db.createPerson()
  const { documentId } = await addReadDocument(db.database, person, 'scan.pdf', ['A page with text of its own.'])
  await addPages(person, documentId, 2, 8)
  await setQuotas(db.database, { pagesPerPerson: 8 })
  await db.database.asUser(person, async (scope) => {
    const spaceId = randomUUID()
    await scope.query("insert into spaces (id, name) values ($1, 'Lamps')", [spaceId])
    await scope.query('select copy_document($1, $2)', [documentId, spaceId])
  })
  expect(await usageOf(person)).toMatchObject([{ documents: 2, pages: 8 }])
})

test('a fold keeps every sum, and forgets days after their time', async () => {
  const person = await db.createPerson()
  await use(person, { tokens: 5, cost: 7, questions: 2 }, 3)
  await use(person, { tokens: 6, cost: 8, questions: 1 }, 3)
  await use(person, { questions: 1 }, 401)
  await use(person, { questions: 4 })
  const before = await usageOf(person)
  expect(before.map(({ questions, tokens, cost }) => ({ questions, tokens, cost }))).toEqual([
    { questions: 3, tokens: 11, cost: 15 },
    { questions: 4, tokens: 0, cost: 0 },
  ])
  await Promise.all([foldUsage(db.database), foldUsage(db.database)])
  await use(person, { questions: 1 }, 3)
  await foldUsage(db.database)
  const after = await usageOf(person)
  expect(after.map(({ questions }) => questions)).toEqual([4, 4])
  const { rows } = await db.admin.query<{ days: number }>('select count(*)::integer as days from daily_usage where owner = $1 and day < utc_today()', [person.sub]) // prettier-ignore
  expect(rows).toEqual([{ days: 1 }])
})

test('use is read by the person alone, and sums of all by the service alone', async () => {
  const [person, other] = [await db.createPerson(), await db.createPerson()]
  await use(person, { questions: 3, tokens: 10 })
  await use(other, { questions: 2 })
  expect(await usageOf(other)).toMatchObject([{ questions: 2, tokens: 0 }])
  await expect(db.database.asUser(other, (scope) => scope.query('select * from all_daily_usage(30)'))).rejects.toThrow(
    /permission denied/,
  )
  const { rows } = await db.database.serviceStatement('select people, questions, tokens from all_daily_usage(30)', [])
  expect(rows).toEqual([{ people: 2, questions: 5, tokens: 10 }])
  await expect(
    db.database.asUser(other, (scope) => scope.query('select * from reserve_usage($1, 1, 1, 1, 0, 0)', [randomUUID()])),
  ).rejects.toThrow(/permission denied/)
})
