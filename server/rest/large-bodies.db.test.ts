/** Large bodies of one caller, which are written one after another. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Person } from '#test/assistant.ts'
import { type RestTestService, startRestService } from '#test/rest-service.ts'

const LARGE = 'x'.repeat(300_000)
const SMALL = 'a short title'

let service: RestTestService
beforeAll(async () => {
  service = await startRestService()
})
afterAll(() => service.close())

async function createConversation({ sub }: Person): Promise<string> {
  const id = randomUUID()
  await service.db.admin.query(`insert into conversations (id, uid, model_name) values ($1, $2, 'alcove-reader')`, [
    id,
    sub,
  ])
  return id
}

async function rename(person: Person, conversation: string, title: string): Promise<number> {
  const headers = { ...(await service.headersOf(person)), 'content-type': 'application/json' }
  const body = JSON.stringify({ title })
  return (await fetch(`${service.url}/conversations?id=eq.${conversation}`, { method: 'PATCH', headers, body })).status
}

async function titleOf(conversation: string): Promise<string | null | undefined> {
  const { rows } = await service.db.admin.query<{ title: string | null }>(
    'select title from conversations where id = $1',
    [conversation],
  )
  return rows[0]?.title
}

test('one of them waits for another, and neither small ones nor other callers wait', async () => {
  const [person, other] = [await service.db.createPerson(), await service.db.createPerson()]
  const [locked, waiting, small] = [
    await createConversation(person),
    await createConversation(person),
    await createConversation(person),
  ]
  const others = await createConversation(other)
  const lock = await service.db.admin.connect()
  await lock.query('begin')
  await lock.query('select from conversations where id = $1 for update', [locked])
  const first = rename(person, locked, LARGE)
  await expect
    .poll(async () => {
      const { rowCount } = await service.db.admin.query(`select from pg_stat_activity where wait_event_type = 'Lock'`)
      return rowCount
    })
    .toBe(1)
  const second = rename(person, waiting, LARGE)
  expect(await rename(other, others, LARGE)).toBe(204)
  expect(await rename(person, small, SMALL)).toBe(204)
  expect(await Promise.all([titleOf(waiting), titleOf(small)])).toEqual([null, SMALL])
  await lock.query('rollback')
  lock.release()
  expect(await Promise.all([first, second])).toEqual([204, 204])
  expect(await titleOf(waiting)).toBe(LARGE)
})
