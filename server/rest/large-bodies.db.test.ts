/** Large bodies of one caller, which are read one after another. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TokenVerifier } from '#server/access/tokens.ts'
import { AppError } from '#server/base/errors.ts'
import { createLog } from '#server/base/log.ts'
import type { Person } from '#test/assistant.ts'
import { type RestTestService, startRestService } from '#test/rest-service.ts'
import { createRestRoutes } from './routes.ts'
import { createSchemaCache } from './schema-cache.ts'

const log = createLog('silent')
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

test('neither another of the same caller nor other callers wait while the statement of one waits', async () => {
  const [person, other] = [await service.db.createPerson(), await service.db.createPerson()]
  const [locked, large, small] = [
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
  expect(await rename(person, large, LARGE)).toBe(204)
  expect(await rename(other, others, LARGE)).toBe(204)
  expect(await rename(person, small, SMALL)).toBe(204)
  expect(await Promise.all([titleOf(large), titleOf(small)])).toEqual([LARGE, SMALL])
  await lock.query('rollback')
  lock.release()
  expect(await first).toBe(204)
})

test('many at once are all written', async () => {
  const person = await service.db.createPerson()
  const ids = await Promise.all(Array.from({ length: 20 }, () => createConversation(person)))
  const statuses = await Promise.all(ids.map((id) => rename(person, id, LARGE)))
  expect(new Set(statuses)).toEqual(new Set([204]))
})

test('one whose session ends while it waits for its turn is not written', async () => {
  let verified = 0
  const tokens: TokenVerifier = {
    async verify(token) {
      verified += 1
      if (verified > 1) throw new AppError('unauthenticated', 'This session has ended. Sign in again.')
      return service.tokens.verify(token)
    },
  }
  const { database } = service.db
  const schemaCache = createSchemaCache({ database, schemas: ['public'], listener: service.listener, log })
  const rest = createRestRoutes({ database, tokens, schemaCache, log })
  const person = await service.db.createPerson()
  const id = await createConversation(person)
  const headers = { ...(await service.headersOf(person)), 'content-type': 'application/json' }
  const answer = await rest.request(`/conversations?id=eq.${id}`, {
    method: 'PATCH',
    headers,
    body: JSON.stringify({ title: LARGE }),
  })
  expect(answer.status).toBe(401)
  expect(await titleOf(id)).toBeNull()
})
