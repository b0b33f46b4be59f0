/** An account that is disabled while its questions are answered and while others wait. */
import { expect, test } from 'vitest'
import { createReplyClaims } from '#server/assistant/lease/claims.ts'
import { retryReply } from '#server/conversations/reply-queries.ts'
import { retryDeadlock } from '#server/database/deadlocks.ts'
import type { Person } from '#test/assistant.ts'
import { openTestAssistant } from '#test/assistant.ts'

const { db, assistant } = await openTestAssistant()
const { ask, answersIn, watch } = assistant

const setBan = ({ sub }: Person, until: string | null) =>
  retryDeadlock(() => db.admin.query('update auth.users set banned_until = $2 where id = $1', [sub, until]))
const disable = (person: Person) => setBan(person, '2500-01-01')

const statesOf = async ({ sub }: Person) =>
  (
    await db.admin.query<{ state: string }>('select state from replies where owner = $1 order by created_at, id', [sub])
  ).rows.map(({ state }) => state)

test('its running answer ends with the text so far, waiting questions are not asked, and it may ask again when enabled', async () => {
  await assistant.startWorker()
  const [person, other] = [await db.createPerson(), await db.createPerson()]
  const conversationId = await assistant.startConversation(person)
  const elsewhere = await assistant.startConversation(other)
  const [watched, watchedElsewhere] = [await watch(conversationId), await watch(elsewhere)]
  await ask(person, conversationId, 'Hello [[stub tokens=4000 tps=50]]')
  await watched.until('text')
  await ask(person, conversationId, 'And then? [[stub tokens=5]]')
  await ask(other, elsewhere, 'Hello [[stub tokens=200 tps=400]]')

  await disable(person)
  await expect.poll(() => statesOf(person)).toEqual(['stopped', 'stopped'])
  await watchedElsewhere.until('done')
  const [begun, waiting, ...more] = await answersIn(person, conversationId)
  expect(begun?.content.length).toBeGreaterThan(0)
  expect(waiting).toMatchObject({ content: '', token_out: null })
  expect(more).toEqual([])

  await setBan(person, null)
  await retryReply(db.database, person, conversationId)
  await expect.poll(() => statesOf(person)).toEqual(['stopped', 'done'])
})

test('a question that is stored after the account was disabled is claimed as one to stop, and so is its renewal', async () => {
  const [person, other] = [await db.createPerson(), await db.createPerson()]
  for (const asker of [person, other]) await ask(asker, await assistant.startConversation(asker), 'Hello')
  const claims = createReplyClaims(db.serviceChannel, 'w')
  const claimed = await claims.claim(2)
  expect(claimed.map(({ stopRequested }) => stopRequested)).toEqual([false, false])
  await disable(person)
  // As a transaction that began before would have left it.
  await db.admin.query('update replies set stop_requested = false')
  const renewed = await claims.renew(claimed)
  expect(new Map(claimed.map(({ id, owner }) => [owner, renewed.get(id)?.stopRequested]))).toEqual(
    new Map([
      [person.sub, true],
      [other.sub, false],
    ]),
  )
  await claims.release(claimed)
  expect(new Map((await claims.claim(2)).map(({ owner, stopRequested }) => [owner, stopRequested]))).toEqual(
    new Map([
      [person.sub, true],
      [other.sub, false],
    ]),
  )
  await db.admin.query('delete from replies')
})

test('an answer stops when its account is deleted', async () => {
  const person = await db.createPerson()
  const conversationId = await assistant.startConversation(person)
  await assistant.startWorker()
  const { until } = await watch(conversationId)
  await ask(person, conversationId, 'Hello [[stub tokens=4000 tps=50]]')
  await until('text')
  const stopped = Promise.withResolvers<string>()
  const client = await db.admin.connect()
  client.on('notification', ({ payload = '' }) => {
    stopped.resolve(payload)
  })
  await client.query('listen reply_stop')
  const running = await db.admin.query<{ id: string }>('select id from replies where owner = $1', [person.sub])
  await retryDeadlock(() => db.admin.query('delete from auth.users where id = $1', [person.sub]))
  expect(await stopped.promise).toBe(running.rows[0]?.id)
  client.release(true)
})
