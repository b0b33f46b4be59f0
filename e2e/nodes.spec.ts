/**
 * Three nodes share one database behind an unaware balancer. Two people ask continuously while each node in turn is
 * killed and restarted: every question is stored and answered once, rows stay private, and both people recover within
 * ten seconds, whatever the notification channel.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { conversationTopic, REPLY_EVENT, replyPart } from '#contract/reply-events.ts'
import { type AlcoveProcess, createDataDir, startAlcove } from '#test/alcove.ts'
import { createEmptyDatabase } from '#test/database.ts'
import { type Balancer, startBalancer } from '#test/balancer.ts'
import { hasNats, startNatsServer } from '#test/nats.ts'
import { startStubModel } from '#test/stub-model.ts'
import { live, subscribed } from '#test/realtime.ts'

const MODEL = 'openai-compatible/stub'
const TOKENS = 30
const LANES = 2
const BACK_WITHIN_MS = 10_000

const message = z.object({ id: z.string(), conversation_id: z.string(), sender_role: z.number(), content: z.string() })
const conversation = z.object({ id: z.string(), uid: z.string() })
type Message = z.output<typeof message>
type Conversation = z.output<typeof conversation>

/** A client that follows the page's rules: live rows, and a full read after each rejoin. */
interface Person {
  readonly userId: string
  readonly conversationIds: readonly string[]
  readonly messages: ReadonlyMap<string, Message>
  readonly conversations: ReadonlyMap<string, Conversation>
  /** Ids of streamed replies, with the conversation of their channel. */
  readonly heardReplies: ReadonlyMap<string, string>
  /** Ids of the questions. */
  readonly asked: Set<string>
  /** Resolves as soon as the person's data fulfils the condition. */
  until(isFulfilled: () => boolean): Promise<void>
  insert(table: 'messages' | 'conversations', row: Readonly<Record<string, unknown>>): Promise<void>
  readAll(): Promise<{ messages: Message[]; conversations: Conversation[] }>
  leave(): Promise<void>
}

/** Like the page: retries a request without an answer, and accepts an existing row as stored. */
async function insertSurely(
  client: SupabaseClient,
  table: string,
  row: Readonly<Record<string, unknown>>,
): Promise<void> {
  for (;;) {
    const { error, status } = await client.from(table).insert(row)
    if (!error || error.code === '23505') return
    if (status !== 0 && status < 500) throw error
    await delay(100)
  }
}

async function readSurely(client: SupabaseClient, table: string): Promise<unknown[]> {
  for (;;) {
    const { data, error, status }: { data: unknown[] | null; error: Error | null; status: number } = await client
      .from(table)
      .select()
    if (data) return data
    if (status !== 0 && status < 500) throw error ?? new Error('nothing was read')
    await delay(100)
  }
}

/**
 * A new connection for each request, since the balancer places connections and a question is answered where it
 * arrives: with kept connections a node may never be asked.
 */
const fetchAnywhere: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers)
  headers.set('connection', 'close')
  return fetch(input, { ...init, headers })
}

async function openPerson({ url }: Balancer, anonKey: string): Promise<Person> {
  const client = createClient(url, anonKey, { auth: { persistSession: false }, global: { fetch: fetchAnywhere } })
  const { data, error } = await client.auth.signUp({ email: `${randomUUID()}@example.test`, password: randomUUID() })
  if (error ?? !data.user) throw error ?? new Error('no account')
  const userId = data.user.id
  const messages = new Map<string, Message>()
  const conversations = new Map<string, Conversation>()
  const heardReplies = new Map<string, string>()
  const checks = new Set<() => void>()
  const look = () => {
    for (const check of checks) check()
  }
  const keep = (rows: { messages?: readonly unknown[]; conversations?: readonly unknown[] }) => {
    for (const row of z.array(message).parse(rows.messages ?? [])) messages.set(row.id, row)
    for (const row of z.array(conversation).parse(rows.conversations ?? [])) conversations.set(row.id, row)
    look()
  }
  const readAll = async () => ({
    messages: z.array(message).parse(await readSurely(client, 'messages')),
    conversations: z.array(conversation).parse(await readSurely(client, 'conversations')),
  })

  const conversationIds = Array.from({ length: LANES }, () => randomUUID())
  for (const id of conversationIds) await insertSurely(client, 'conversations', { id, uid: userId, model_name: MODEL })
  // Without filters: only the row policies separate the two people.
  const rows = client
    .channel('rows')
    .on('postgres_changes', { event: 'INSERT', schema: 'public', table: 'messages' }, (change) =>
      keep({ messages: [change.new] }),
    )
    .on('postgres_changes', { event: '*', schema: 'public', table: 'conversations' }, (change) =>
      keep({ conversations: [change.new] }),
    )
    .on('system', {}, () => void readAll().then(keep))
  await live(rows)
  for (const id of conversationIds) {
    const replies = client
      .channel(conversationTopic(id), { config: { private: true } })
      .on('broadcast', { event: REPLY_EVENT }, ({ payload }) => heardReplies.set(replyPart.parse(payload).replyId, id))
    await subscribed(replies)
  }
  return {
    userId,
    conversationIds,
    messages,
    conversations,
    heardReplies,
    asked: new Set(),
    until(isFulfilled) {
      return new Promise((resolve) => {
        const check = () => {
          if (!isFulfilled()) return
          checks.delete(check)
          resolve()
        }
        checks.add(check)
        check()
      })
    },
    insert: (table, row) => insertSurely(client, table, row),
    readAll,
    leave: async () => {
      await client.removeAllChannels()
    },
  }
}

const answersIn = (person: Person, conversationId: string): number =>
  [...person.messages.values()].filter((row) => row.conversation_id === conversationId && row.sender_role === 2).length

/** Asks one question after another, each once the previous one is answered. */
async function keepAsking(person: Person, conversationId: string, mayGoOn: () => boolean): Promise<void> {
  for (let count = 1; mayGoOn(); count += 1) {
    const id = randomUUID()
    person.asked.add(id)
    await person.insert('messages', { id, conversation_id: conversationId, content: 'Hello', sender_role: 1 })
    await person.until(() => answersIn(person, conversationId) >= count)
  }
}

async function killInTurn(bus: string): Promise<void> {
  const { admin, environment } = await createEmptyDatabase()
  const nats = bus === 'NATS' ? await startNatsServer() : undefined
  const folder = await createDataDir()
  const stub = await startStubModel({ models: 'stub', tokens: TOKENS, tps: 60 })
  const balancer = await startBalancer()
  const start = () =>
    startAlcove({
      DATA_DIR: folder.dataDir,
      ...environment,
      ...(nats && { NATS_URL: nats.url }),
      OPENAI_COMPATIBLE_BASE_URL: stub.baseUrl,
      LOG_LEVEL: 'warn',
    })
  const nodes: AlcoveProcess[] = await Promise.all([start(), start(), start()])
  balancer.use(nodes.map(({ url }) => url))
  onTestFinished(async () => {
    await balancer.close()
    await Promise.all(nodes.map((node) => node.end('SIGKILL')))
    await nats?.stop()
    await stub.stop()
    await admin.end()
    await folder.remove()
  })

  const anonKey = (await nodes[0]?.config())?.supabaseAnonKey ?? ''
  const people = [await openPerson(balancer, anonKey), await openPerson(balancer, anonKey)]
  let isOver = false
  const asking = Promise.all(
    people.flatMap((person) => person.conversationIds.map((id) => keepAsking(person, id, () => !isOver))),
  )

  for (const [index, node] of [...nodes].entries()) {
    const isWriting = `select from replies where state = 'running' and worker like $1`
    await expect.poll(async () => (await admin.query(isWriting, [`${node.pid}@%`])).rowCount).toBeGreaterThan(0)
    await node.end('SIGKILL')
    const isBack = people.map(async (person) => {
      const id = randomUUID()
      await person.insert('conversations', { id, uid: person.userId, model_name: MODEL })
      await person.until(() => person.conversations.has(id))
    })
    const inTime = await Promise.race([Promise.all(isBack), delay(BACK_WITHIN_MS, 'too late', { ref: false })])
    expect(inTime, `after node ${index} was killed`).not.toBe('too late')
    nodes[index] = await start()
    balancer.use(nodes.map(({ url }) => url))
  }
  isOver = true
  await asking

  const text = await stub.text(TOKENS)
  for (const person of people) {
    const stored = await admin.query<Message>(
      `select id, conversation_id, sender_role, content from messages
       where conversation_id = any($1) order by conversation_id, position`,
      [person.conversationIds],
    )
    const questions = stored.rows.filter((row) => row.sender_role === 1)
    expect(new Set(questions.map(({ id }) => id))).toEqual(person.asked)
    // Questions and answers alternate in each conversation: none is missing or repeated.
    expect(stored.rows.map((row) => row.sender_role)).toEqual(stored.rows.map((_, place) => (place % 2) + 1))
    expect(new Set(stored.rows.filter((row) => row.sender_role === 2).map((row) => row.content))).toEqual(
      new Set([text]),
    )
    // Live rows and reads after rejoins equal a fresh read, without rows of other people.
    const fresh = await person.readAll()
    expect(new Set(person.messages.values())).toEqual(new Set(fresh.messages))
    expect(new Set(person.conversations.keys())).toEqual(new Set(fresh.conversations.map(({ id }) => id)))
    expect(fresh.conversations.every(({ uid }) => uid === person.userId)).toBe(true)
    expect(person.heardReplies.size).toBeGreaterThan(0)
    const replies = await admin.query<{ id: string; conversation_id: string }>(
      'select id, conversation_id from replies where conversation_id = any($1)',
      [person.conversationIds],
    )
    const placeOf = new Map(replies.rows.map((row) => [row.id, row.conversation_id]))
    expect([...person.heardReplies].filter(([id, place]) => placeOf.get(id) !== place)).toEqual([])
    await person.leave()
  }
}

test.for(hasNats ? ['NOTIFY', 'NATS'] : ['NOTIFY'])(
  'nodes that are killed in turn lose no message, answer nothing twice and tell nobody of the rows of others, over %s',
  killInTurn,
)
