/**
 * A conversation that many people follow: `npm run bench -- spaces-live [members] [questions]`. The first text of an answer in a
 * space of 50 members, ten of whom read along, against a conversation of one's own; and rows inserted while 200 members follow the
 * conversation: each must reach each of them once. Against one member.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '@supabase/supabase-js'
import { connectToFolder } from '#test/fill-conversation.ts'
import { startStubModel } from '#test/stub-model.ts'
import { QUESTION } from './first-text.ts'
import { compared, inTurn, quantile, rounded } from './measure.ts'
import { type Client, live, type SignedIn, startSignedIn } from './signed-in.ts'

const MEMBERS_OF_ANSWER = 50
const READERS = 10
const INSERTS = 40
const INSERT_EVERY_MS = 100
const SETTLE_POLLS = 100
const JOINED_AT_ONCE = 10

async function signUp({ alcove }: SignedIn): Promise<{ readonly id: string; readonly client: Client }> {
  const { supabaseAnonKey } = await alcove.config()
  const client = createClient(alcove.url, supabaseAnonKey, { auth: { persistSession: false } })
  const { data, error } = await client.auth.signUp({ email: `${randomUUID()}@example.test`, password: randomUUID() })
  if (error ?? !data.session) throw error ?? new Error('there is no session')
  await client.realtime.setAuth(data.session.access_token)
  return { id: data.session.user.id, client }
}

async function startConversation(client: Client, space: string | null): Promise<string> {
  const id = randomUUID()
  const row = { id, model_name: 'openai-compatible/stub', space_id: space, is_shared: space !== null }
  const { error } = await client.from('conversations').insert(row)
  if (error) throw error
  return id
}

/** Resolves with a function that asks, and resolves with the milliseconds until the asker's other client has the first text. */
async function followAnswers(asking: Client, watching: Client, conversation: string): Promise<() => Promise<number>> {
  let [onText, onDone] = [(_at: number): void => undefined, (): void => undefined]
  const channel = watching.channel(`conversation:${conversation}`, { config: { private: true } })
  channel.on('broadcast', { event: 'reply' }, ({ payload }: { payload: { type: string } }) => {
    if (payload.type === 'text') onText(performance.now())
    if (payload.type === 'done') onDone()
  })
  await live(channel)
  return async function ask() {
    const text = Promise.withResolvers<number>()
    const done = Promise.withResolvers<undefined>()
    onText = text.resolve
    onDone = () => done.resolve(undefined)
    const startedAt = performance.now()
    const question = { conversation_id: conversation, content: QUESTION, sender_role: 1 }
    const { error } = await asking.from('messages').insert(question)
    if (error) throw error
    const elapsed = (await text.promise) - startedAt
    await done.promise
    return elapsed
  }
}

const followReplies = (client: Client, conversation: string): Promise<void> =>
  live(client.channel(`conversation:${conversation}`, { config: { private: true } }))

export async function run([members = '200', questions = '40']: string[]): Promise<Record<string, unknown>> {
  const stub = await startStubModel({ models: 'stub' })
  const session = await startSignedIn({
    OPENAI_COMPATIBLE_BASE_URL: stub.baseUrl,
    AUTH_AUTOCONFIRM: 'true',
    RATE_LIMITS: 'off',
  })
  const admin = await connectToFolder(session.dataDir)
  const [asking, watching] = [await session.open(), await session.open()]
  const made = await asking.from('spaces').insert({ name: 'A space' }).select('id').single<{ id: string }>()
  if (made.error) throw made.error
  const space = made.data.id
  const people: Awaited<ReturnType<typeof signUp>>[] = []
  const addMembers = async (count: number) => {
    while (people.length < count) {
      const person = await signUp(session)
      await admin.query(`insert into space_members (space_id, user_id, role) values ($1, $2, 'reader')`, [
        space,
        person.id,
      ])
      people.push(person)
    }
  }

  await addMembers(MEMBERS_OF_ANSWER - 1)
  const [own, shared] = [await startConversation(asking, null), await startConversation(asking, space)]
  for (const { client } of people.slice(0, READERS)) await followReplies(client, shared)
  const [askOwn, askShared] = [
    await followAnswers(asking, watching, own),
    await followAnswers(asking, watching, shared),
  ]
  await inTurn(5, askShared, askOwn)
  const firstText = compared(await inTurn(Number(questions), askShared, askOwn))
  for (const { client } of people) await client.removeAllChannels()

  await addMembers(Number(members) - 1)
  const heard: { readonly id: string; readonly at: number }[] = []
  const follow = async ({ client }: { readonly client: Client }): Promise<void> => {
    const wanted = {
      event: 'INSERT',
      schema: 'public',
      table: 'messages',
      filter: `conversation_id=eq.${shared}`,
    } as const
    const channel = client.channel(randomUUID()).on('postgres_changes', wanted, (change) => {
      heard.push({ id: (change.new as { id: string }).id, at: performance.now() })
    })
    await live(channel, { hasChanges: true })
  }
  async function measure(followers: number) {
    heard.length = 0
    const sentAt = new Map<string, number>()
    for (let count = 0; count < INSERTS; count += 1) {
      const id = randomUUID()
      sentAt.set(id, performance.now())
      await admin.query(
        `insert into messages (id, conversation_id, content, sender_role) values ($1, $2, 'An answer.', 2)`,
        [id, shared],
      )
      await delay(INSERT_EVERY_MS)
    }
    for (let poll = 0; heard.length < INSERTS * followers && poll < SETTLE_POLLS; poll += 1)
      await delay(INSERT_EVERY_MS)
    const counts = Map.groupBy(heard, ({ id }) => id)
    const latencies = heard.map(({ id, at }) => at - (sentAt.get(id) ?? Number.NaN))
    return {
      p95Ms: quantile(latencies, 0.95),
      inexact: [...sentAt.keys()].filter((id) => counts.get(id)?.length !== followers).length,
    }
  }
  const [first, ...others] = people
  if (!first) throw new Error('there are no members')
  await follow(first)
  const alone = await measure(1)
  for (let at = 0; at < others.length; at += JOINED_AT_ONCE)
    await Promise.all(others.slice(at, at + JOINED_AT_ONCE).map(follow))
  const together = await measure(people.length)

  for (const { client } of people) await client.removeAllChannels()
  await admin.end()
  await session.close()
  await stub.stop()
  return {
    firstText,
    changes: {
      followers: people.length,
      p95Ms: rounded(together.p95Ms),
      onePersonP95Ms: rounded(alone.p95Ms),
      ratio: rounded(together.p95Ms / alone.p95Ms),
      inexact: together.inexact + alone.inexact,
    },
  }
}
