/** Servers are killed or stopped during an answer: every question gets one complete answer. */
import { randomUUID } from 'node:crypto'
import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openListener } from '#server/database/listen.ts'
import { createLog } from '#server/base/log.ts'
import { type AlcoveProcess, createDataDir, startAlcove } from '#test/alcove.ts'
import { createEmptyDatabase, type EmptyDatabase } from '#test/database.ts'
import { startStubModel, type StubModel } from '#test/stub-model.ts'

const MODEL = 'openai-compatible/stub'
let folder: Awaited<ReturnType<typeof createDataDir>>
let stub: StubModel
let database: EmptyDatabase
let environment: Record<string, string>

beforeAll(async () => {
  database = await createEmptyDatabase()
  folder = await createDataDir()
  stub = await startStubModel({ models: 'stub' })
  environment = {
    DATA_DIR: folder.dataDir,
    ...database.environment,
    OPENAI_COMPATIBLE_BASE_URL: stub.baseUrl,
  }
})
afterAll(async () => {
  await stub.stop()
  await database.admin.end()
  await folder.remove()
})

async function signUp(alcove: AlcoveProcess): Promise<{ client: SupabaseClient; userId: string }> {
  const client = createClient(alcove.url, (await alcove.config()).supabaseAnonKey, { auth: { persistSession: false } })
  const { data, error } = await client.auth.signUp({ email: `${randomUUID()}@example.test`, password: randomUUID() })
  if (error ?? !data.user) throw error ?? new Error('no account')
  return { client, userId: data.user.id }
}

async function ask({ client, userId }: Awaited<ReturnType<typeof signUp>>, question: string): Promise<string> {
  const conversationId = randomUUID()
  const created = await client.from('conversations').insert({ id: conversationId, uid: userId, model_name: MODEL })
  const asked = await client
    .from('messages')
    .insert({ conversation_id: conversationId, content: question, sender_role: 1 })
  expect([created.error, asked.error]).toEqual([null, null])
  return conversationId
}

/** Resolves when this many conversations have stored answers; rejects at the test's time limit. */
async function answers(conversationIds: readonly string[]): Promise<{ conversation_id: string; content: string }[]> {
  const listener = await openListener(database.adminConnection, createLog('silent'))
  const read = async () =>
    (
      await database.admin.query<{ conversation_id: string; content: string }>(
        'select conversation_id, content from messages where sender_role = 2 and conversation_id = any($1)',
        [conversationIds],
      )
    ).rows
  const done = Promise.withResolvers<undefined>()
  const check = () =>
    void read().then((rows) => rows.length >= conversationIds.length && done.resolve(undefined), done.reject)
  await listener.on('realtime_broadcast', check)
  check()
  await done.promise
  await listener.close()
  return read()
}

/** Resolves once that worker has written part of the answer. */
async function isBeingWritten(conversationId: string): Promise<string> {
  const worker = async () =>
    (
      await database.admin.query<{ worker: string }>(
        `select r.worker from replies r join reply_parts p on p.reply_id = r.id and p.attempt = r.attempt
         where r.conversation_id = $1 and p.payload ->> 'type' = 'text' limit 1`,
        [conversationId],
      )
    ).rows[0]?.worker
  await expect.poll(worker).toBeDefined()
  return (await worker()) ?? ''
}

const workerOf = (workers: readonly AlcoveProcess[], name: string): AlcoveProcess => {
  const found = workers.find(({ pid }) => name.startsWith(`${pid}@`))
  if (!found) throw new Error(`no server is the worker ${name}`)
  return found
}

test('a reply that was cut off by kill -9 is finished after the next start, once', async () => {
  let alcove = await startAlcove(environment)
  const conversationId = await ask(await signUp(alcove), 'Hello [[stub tokens=150 tps=50]]')
  await isBeingWritten(conversationId)
  await alcove.end('SIGKILL')
  alcove = await startAlcove(environment)
  expect(await answers([conversationId])).toEqual([{ conversation_id: conversationId, content: await stub.text(150) }])
  const left = await database.admin.query(
    `select from reply_parts union all select from replies where state in ('queued', 'running')`,
  )
  expect(left.rowCount).toBe(0)
  await alcove.end()
})

test('a reply that is being written at SIGTERM goes back to the queue and is finished by the other node', async () => {
  const nodes = await Promise.all([startAlcove(environment), startAlcove(environment)])
  const conversationId = await ask(await signUp(nodes[0]), 'Hello [[stub tokens=100 tps=50]]')
  const writing = workerOf(nodes, await isBeingWritten(conversationId))
  expect(await writing.end('SIGTERM')).toBe(0)
  expect(await answers([conversationId])).toEqual([{ conversation_id: conversationId, content: await stub.text(100) }])
  await Promise.all(nodes.map((node) => node.end()))
})

test('two nodes on one database answer each question once', async () => {
  const nodes = await Promise.all([startAlcove(environment), startAlcove(environment)])
  const people = await Promise.all([signUp(nodes[0]), signUp(nodes[1]), signUp(nodes[0])])
  const conversationIds = await Promise.all(
    Array.from({ length: 30 }, (_, index) => ask(people[index % 3] ?? people[0], 'Hello [[stub tokens=30 tps=300]]')),
  )
  const text = await stub.text(30)
  const stored = await answers(conversationIds)
  expect(stored.map(({ content }) => content)).toEqual(conversationIds.map(() => text))
  expect(new Set(stored.map(({ conversation_id }) => conversation_id)).size).toBe(30)
  await Promise.all(nodes.map((node) => node.end()))
})

test('a stop that one node is told ends the answer that the other one writes', async () => {
  const nodes = await Promise.all([startAlcove(environment), startAlcove(environment)])
  const person = await signUp(nodes[0])
  const conversationId = await ask(person, 'Hello [[stub tokens=3000 tps=50]]')
  const writing = workerOf(nodes, await isBeingWritten(conversationId))
  const { data } = await person.client.auth.getSession()
  const told = nodes[0] === writing ? nodes[1] : nodes[0]
  const { status } = await fetch(`${told.url}/api/conversations/${conversationId}/stop`, {
    method: 'POST',
    headers: { authorization: `Bearer ${data.session?.access_token ?? ''}` },
  })
  expect(status).toBe(202)
  const [answer] = await answers([conversationId])
  const whole = await stub.text(3000)
  expect(answer?.content).not.toBe('')
  expect(whole.startsWith(answer?.content ?? whole)).toBe(true)
  expect(answer?.content.length).toBeLessThan(whole.length / 2)
  await Promise.all(nodes.map((node) => node.end()))
})

test('a process that is stopped past its lease and wakes again writes nothing', async () => {
  const nodes = await Promise.all([startAlcove(environment), startAlcove(environment)])
  const conversationId = await ask(await signUp(nodes[0]), 'Hello [[stub tokens=200 tps=40]]')
  const sleeper = workerOf(nodes, await isBeingWritten(conversationId))
  sleeper.signal('SIGSTOP')
  const whole = { conversation_id: conversationId, content: await stub.text(200) }
  expect(await answers([conversationId])).toEqual([whole])
  sleeper.signal('SIGCONT')
  // After waking, it notices at its next renewal that it has lost the lease.
  await expect
    .poll(() => fetch(`${sleeper.url}/metrics`).then((answer) => answer.text()), { timeout: 20_000 })
    .toContain('alcove_replies_running 0')
  expect(await answers([conversationId])).toEqual([whole])
  await Promise.all(nodes.map((node) => node.end()))
})
