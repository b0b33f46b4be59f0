/**
 * A member is removed while everything is on its way on three whole servers: an answer that is being written, an export, the
 * download of a file, and open channels. All of it ends with the removal, and nothing readable follows, whether the servers notify each other by PostgreSQL or NATS.
 */
import { open, readdir } from 'node:fs/promises'
import path from 'node:path'
import type { RealtimeChannel } from '@supabase/supabase-js'
import { createClient } from '@supabase/supabase-js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { conversationTopic, REPLY_EVENT } from '#contract/reply-events.ts'
import { type AlcoveProcess, createDataDir, startAlcove } from '#test/alcove.ts'
import { createEmptyDatabase } from '#test/database.ts'
import { hasNats, type NatsServer, startNatsServer } from '#test/nats.ts'
import { openSpaceClients, type SignedUp, type SpaceClients } from '#test/space-clients.ts'
import { startStubModel, type StubModel } from '#test/stub-model.ts'
import { subscribed } from '#test/realtime.ts'

/** More than the buffers of two sockets hold. */
const LARGE_BYTES = 64 * 1024 * 1024
const FILE_TEXT = 'The keeper of the lighthouse is Ruth Winterbourne.'

let stub: StubModel
let folder: Awaited<ReturnType<typeof createDataDir>>
let nodes: AlcoveProcess[]
let admin: Awaited<ReturnType<typeof createEmptyDatabase>>['admin']
let people: SpaceClients
let owner: SignedUp
let member: SignedUp
let space: string

async function start(natsUrl: string | undefined): Promise<void> {
  const created = await createEmptyDatabase()
  ;({ admin } = created)
  stub = await startStubModel({ models: 'stub', tokens: 5_000, tps: 20 })
  folder = await createDataDir()
  const startNode = () =>
    startAlcove({
      DATA_DIR: folder.dataDir,
      ...created.environment,
      ...(natsUrl === undefined ? {} : { NATS_URL: natsUrl }),
      AUTH_AUTOCONFIRM: 'true',
      OPENAI_COMPATIBLE_BASE_URL: stub.baseUrl,
      LOG_LEVEL: 'warn',
    })
  nodes = [await startNode(), ...(await Promise.all([startNode(), startNode()]))]
  people = await openSpaceClients(nodes[0]?.url ?? '')
  ;[owner, member] = [await people.signUp('Ada'), await people.signUp('Ben')]
  space = await people.createSpace(owner, 'Lighthouse')
  await people.join(owner, member, space, 'editor')
}

async function stop(): Promise<void> {
  await Promise.all(nodes.map((node) => node.end('SIGKILL')))
  await stub.stop()
  await admin.end()
  await folder.remove()
}

/** Begins to read a response, which then waits; `rest` reads on until it ends. */
async function beginReading(url: string, { token }: SignedUp) {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  expect(response.status).toBe(200)
  if (!response.body) throw new Error('the response has no body')
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  expect((await reader.read()).value?.length).toBeGreaterThan(0)
  const rest = async (): Promise<number> => {
    for (let bytes = 0; ;) {
      const { done, value } = await reader.read()
      if (done) return bytes
      bytes += value.length
    }
  }
  return { rest }
}

/** Makes the stored bytes of the only file large, so that its download lasts as long as its reader likes. */
async function enlargeFile(): Promise<void> {
  const blobs = path.join(folder.dataDir, 'blobs')
  for (const entry of await readdir(blobs, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = await open(path.join(entry.parentPath, entry.name), 'r+')
    try {
      if ((await file.stat()).size === FILE_TEXT.length) await file.truncate(LARGE_BYTES)
    } finally {
      await file.close()
    }
  }
}

async function fillConversation(conversation: string): Promise<void> {
  // A setting is that of one connection: on another one of the pool, each message would want an answer.
  const connection = await admin.connect()
  try {
    await connection.query(`begin; set local alcove.copies_answered = 'on'`)
    await connection.query(
      `insert into messages (conversation_id, content, sender_role, author)
     select $1, string_agg(gen_random_uuid()::text, ' '), 1, $2
     from generate_series(1, 2000) as message, generate_series(1, 600) as word group by message`,
      [conversation, member.id],
    )
    await connection.query('commit')
  } finally {
    connection.release(true)
  }
}

async function removeWhileReading(): Promise<Readonly<Record<string, number>>> {
  const document = await people.addDocument(owner, 'keeper.txt', FILE_TEXT, space)
  await enlargeFile()
  const filled = await people.startConversation(member, space)
  await fillConversation(filled)
  const asked = await people.startConversation(member, space, 'openai-compatible/stub')
  await people.askOnly(member, asked, 'Who is the keeper of the lighthouse?')

  let removedAt = Number.POSITIVE_INFINITY
  const ends: Record<string, number> = {}
  const note = (what: string) => (ends[what] = Math.round(performance.now() - removedAt))
  const late: string[] = []
  const closings: Promise<void>[] = []
  let parts = 0
  const apikey = (await nodes[0]?.config())?.supabaseAnonKey ?? ''
  for (const [index, { url }] of nodes.entries()) {
    const client = createClient(url, apikey, { accessToken: () => Promise.resolve(member.token) })
    await client.realtime.setAuth()
    for (const topic of [`space:${space}`, conversationTopic(asked)]) {
      let isClosed = false
      const channel: RealtimeChannel = client.channel(topic, { config: { private: true } })
      channel.on('broadcast', { event: REPLY_EVENT }, () => {
        parts += 1
        if (isClosed) late.push(`a part on node ${index}`)
      })
      const closed = Promise.withResolvers<undefined>()
      channel.on('system', {}, ({ status }: { status: string }) => {
        if (status !== 'error') return
        isClosed = true
        note(`${topic.split(':')[0] ?? ''} on node ${index}`)
        closed.resolve(undefined)
      })
      await subscribed(channel)
      closings.push(closed.promise)
    }
  }
  const running = async () =>
    (await admin.query<{ state: string }>('select state from replies where conversation_id = $1', [asked])).rows
  await expect.poll(() => parts).toBeGreaterThan(3)
  expect(await running()).toEqual([{ state: 'running' }])
  const reading = await Promise.all(
    nodes.flatMap(({ url }) => [
      beginReading(`${url}/api/documents/${document}/file`, member),
      beginReading(`${url}/api/account/export`, member),
    ]),
  )

  const removal = owner.client.from('space_members').delete().eq('space_id', space).eq('user_id', member.id)
  removedAt = performance.now()
  await removal.throwOnError()
  const stopped = expect
    .poll(running, { interval: 20 })
    .toEqual([{ state: 'stopped' }])
    .then(() => note('answer'))
  await Promise.all([...closings, stopped])
  const rests = await Promise.allSettled(reading.map(({ rest }) => rest()))
  note('downloads and exports')

  // Buffers of the sockets may have arrived, but neither a whole file nor a whole archive.
  expect(rests.map(({ status }) => status)).toEqual(rests.map(() => 'rejected'))
  for (const { url } of nodes)
    for (const place of [
      `/api/documents/${document}`,
      `/api/documents/${document}/file`,
      `/api/conversations/${asked}`,
      `/api/conversations/${filled}/messages`,
    ]) {
      const answer = await fetch(url + place, { headers: { authorization: `Bearer ${member.token}` } })
      expect(answer.status, place).toBe(404)
    }
  expect(late).toEqual([])
  return ends
}

describe.each([
  { by: 'PostgreSQL', isAvailable: true },
  { by: 'NATS', isAvailable: hasNats },
])('with notifications by $by', ({ by, isAvailable }) => {
  let nats: NatsServer | undefined
  beforeAll(async () => {
    if (!isAvailable) return
    if (by === 'NATS') nats = await startNatsServer()
    await start(nats?.url)
  })
  afterAll(async () => {
    if (isAvailable) await stop()
    await nats?.stop()
  })

  test.runIf(isAvailable)(
    'nothing of a space reaches a member after the removal, on any of three servers',
    async ({ annotate }) => {
      await annotate(`ms after the removal: ${JSON.stringify(await removeWhileReading())}`)
    },
  )
})
