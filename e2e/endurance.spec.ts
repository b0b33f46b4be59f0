/**
 * Kills and stops servers at random moments while two nodes take and answer questions. Ten in `npm test`, two hundred
 * in `npm run endurance` (or `ENDURANCE=<count>`).
 */
import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient, REALTIME_SUBSCRIBE_STATES, type SupabaseClient } from '@supabase/supabase-js'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import {
  conversationTopic,
  REPLY_EVENT,
  replyInProgress,
  type ReplyInProgress,
  type ReplyPart,
  replyPart,
} from '#contract/reply-events.ts'
import { createLog } from '#server/base/log.ts'
import { openListener } from '#server/database/listen.ts'
import { type AlcoveProcess, createDataDir, startAlcove } from '#test/alcove.ts'
import { startBalancer } from '#test/balancer.ts'
import { createEmptyDatabase } from '#test/database.ts'
import { live } from '#test/realtime.ts'
import { startStubModel } from '#test/stub-model.ts'
import { hasGap, mergePart, mergeSnapshot, type ReplyView } from '#web/lib/messages/reply-parts.ts'

const REPLIES = Number(process.env['ENDURANCE'] ?? 10)
const TOKENS = 60
/** Longer than a lease, so that a node that sleeps this long loses its replies. */
const SLEEP_MS = 7_000
/**
 * Few enough that a question is often dispatched to the node that stores it, and enough that nodes die with open
 * replies.
 */
const MAX_OPEN = Math.max(5, REPLIES / 10)
/** A page without news asks again with the same id. */
const RETRY_AFTER_MS = 1_000

interface Answer {
  conversation_id: string
  content: string
}

const answerRow = z.object({ conversation_id: z.string(), sender_role: z.number(), content: z.string() })

interface Viewer {
  /** Resolves with the text shown at the end, once the channel is joined. */
  readonly ended: Promise<string>
  /** Every shown text that is no prefix of the answer. */
  readonly strayed: readonly string[]
  /** Whether the parts gave the complete text before the stored answer came. */
  readonly hasAll: () => boolean
}

interface Viewers {
  watch(conversationId: string): Promise<Viewer>
}

interface ViewerOptions {
  readonly client: SupabaseClient
  readonly text: string
  /** The reply in progress, or null. Retries until a node answers. */
  readonly readWritten: (conversationId: string) => Promise<ReplyInProgress | null>
}

/** Viewers that follow replies over the sockets of any running node, with the page's own functions. */
async function openViewers({ client, text, readWritten }: ViewerOptions): Promise<Viewers> {
  const arrivals = new Map<string, (content: string) => void>()
  const takeRow = (row: unknown) => {
    const { conversation_id, sender_role, content } = answerRow.parse(row)
    if (sender_role === 2) arrivals.get(conversation_id)?.(content)
  }
  const readRows = async () => {
    const { data } = await client.from('messages').select()
    // A dead node answers nothing; the rows are read at the next join.
    for (const row of data ?? []) takeRow(row)
  }
  const rows = client
    .channel('rows')
    .on('postgres_changes', { event: 'INSERT', schema: 'public', table: 'messages' }, (change) => takeRow(change.new))
    .on('system', {}, () => void readRows())
  await live(rows)

  return {
    watch(conversationId) {
      const { promise: ended, resolve: end } = Promise.withResolvers<string>()
      const strayed: string[] = []
      let view: ReplyView | null = null
      const show = (next: ReplyView) => {
        view = next
        if (!text.startsWith(next.text)) strayed.push(next.text)
      }
      const catchUp = async () => {
        const written = await readWritten(conversationId)
        if (written) show(mergeSnapshot(view, written))
        else await readRows()
      }
      const channel = client.channel(conversationTopic(conversationId), { config: { private: true } })
      arrivals.set(conversationId, (content) => {
        arrivals.delete(conversationId)
        end(content)
        void client.removeChannel(channel)
      })
      channel.on('broadcast', { event: REPLY_EVENT }, ({ payload }) => {
        const next = mergePart(view, replyPart.parse(payload))
        show(next)
        if (hasGap(next)) void catchUp()
      })
      return new Promise((resolve) => {
        channel.subscribe((status) => {
          if (status !== REALTIME_SUBSCRIBE_STATES.SUBSCRIBED) return
          void catchUp()
          resolve({ ended, strayed, hasAll: () => view?.text === text })
        })
      })
    },
  }
}

/** Undefined for a request that no node accepted. */
function unlessUnreachable(error: unknown): undefined {
  if (error instanceof TypeError || (error instanceof DOMException && error.name === 'TimeoutError')) return undefined
  throw error
}

test(
  `${REPLIES} replies survive kill -9 and SIGSTOP at random moments, each answered once`,
  { timeout: 90_000 + REPLIES * 4_000 },
  async () => {
    const database = await createEmptyDatabase()
    const { admin } = database
    const folder = await createDataDir()
    const stub = await startStubModel({ models: 'stub', tokens: TOKENS, tps: 30 })
    const environment = {
      DATA_DIR: folder.dataDir,
      ...database.environment,
      OPENAI_COMPATIBLE_BASE_URL: stub.baseUrl,
      LOG_LEVEL: 'error',
    }
    const nodes: AlcoveProcess[] = [await startAlcove(environment), await startAlcove(environment)]
    const balancer = await startBalancer()
    const balance = () => balancer.use(nodes.map(({ url }) => url))
    balance()
    onTestFinished(async () => {
      await balancer.close()
      await Promise.all(nodes.map((node) => node.end('SIGKILL')))
      await stub.stop()
      await admin.end()
      await folder.remove()
    })

    const [first] = nodes
    if (!first) throw new Error('no node')
    const { supabaseAnonKey } = await first.config()
    const client = createClient(balancer.url, supabaseAnonKey, { auth: { persistSession: false } })
    const { data } = await client.auth.signUp({ email: `${randomUUID()}@example.test`, password: randomUUID() })
    const owner = data.user?.id
    const headers = {
      apikey: supabaseAnonKey,
      authorization: `Bearer ${data.session?.access_token}`,
      'content-type': 'application/json',
    }

    const parts = new Map<string, ReplyPart[]>()
    const listener = await openListener(database.adminConnection, createLog('silent'))
    onTestFinished(() => listener.close())
    await listener.on('realtime_broadcast', (payload) => {
      const envelope = JSON.parse(payload) as { topic?: string; payload?: unknown }
      const part = replyPart.safeParse(envelope.payload)
      const id = envelope.topic?.split(':')[1]
      if (part.success && id !== undefined) parts.set(id, [...(parts.get(id) ?? []), part.data])
    })

    const text = await stub.text(TOKENS)
    const viewers = await openViewers({
      client,
      text,
      async readWritten(conversationId) {
        for (;;) {
          const response = await fetch(`${balancer.url}/api/conversations/${conversationId}/reply`, {
            headers,
            signal: AbortSignal.timeout(RETRY_AFTER_MS),
          }).catch(unlessUnreachable)
          if (response?.status === 204) return null
          if (response?.ok) return replyInProgress.parse(await response.json())
          if (response && response.status < 500) throw new Error(`${response.status} ${await response.text()}`)
          await delay(100)
        }
      },
    })
    onTestFinished(async () => {
      await client.removeAllChannels()
    })

    const conversationIds = Array.from({ length: REPLIES }, () => randomUUID())
    let repeats = 0
    const post = (path: string, body: Record<string, unknown>): Promise<Response | undefined> =>
      fetch(`${nodes[randomInt(2)]?.url}${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(RETRY_AFTER_MS),
      }).catch(unlessUnreachable)
    /** Like the page: `/rest/v1` first, then `/api`, which recognises a repeated request. */
    async function ask(conversationId: string): Promise<void> {
      await admin.query(`insert into conversations (id, uid, model_name) values ($1, $2, 'openai-compatible/stub')`, [
        conversationId,
        owner,
      ])
      watched.push(await viewers.watch(conversationId))
      const question = { id: randomUUID(), content: 'Hello' }
      let response = await post('/rest/v1/messages', { ...question, conversation_id: conversationId, sender_role: 1 })
      while (!response?.ok) {
        repeats += 1
        response = await post(`/api/conversations/${conversationId}/messages`, question)
        // A stopping node may still answer with a server error.
        if (response && !response.ok && response.status < 500)
          throw new Error(`${response.status} ${await response.text()}`)
      }
    }
    const answers = async () =>
      (await admin.query<Answer>('select conversation_id, content from messages where sender_role = 2')).rows

    const watched: Viewer[] = []
    const asking: Promise<void>[] = []
    let kills = 0
    for (let answered = 0; answered < REPLIES; answered = (await answers()).length) {
      const next = conversationIds.slice(asking.length, answered + MAX_OPEN)
      asking.push(...next.map((id) => ask(id)))
      await delay(randomInt(next.length === 0 ? 200 : 0, 1_500))
      const index = randomInt(2)
      const node = nodes[index]
      if (!node) continue
      kills += 1
      if (randomInt(2) === 0) {
        await node.end('SIGKILL')
        nodes[index] = await startAlcove(environment)
        balance()
      } else {
        node.signal('SIGSTOP')
        await delay(SLEEP_MS)
        node.signal('SIGCONT')
      }
    }
    await Promise.all(asking)

    const stored = await answers()
    const ends = await Promise.all(watched.map(({ ended }) => ended))
    const whole = watched.filter(({ hasAll }) => hasAll()).length
    console.log(
      `${REPLIES} replies, ${kills} nodes killed or stopped, ${repeats} questions asked again, ${whole} put together by their viewers`,
    )
    expect(whole).toBeGreaterThan(REPLIES / 10)
    expect(ends).toEqual(conversationIds.map(() => text))
    expect(watched.flatMap(({ strayed }) => strayed)).toEqual([])
    expect(kills).toBeGreaterThan(0)
    expect(new Set(stored.map(({ conversation_id }) => conversation_id)).size).toBe(REPLIES)
    expect(stored.map(({ content }) => content)).toEqual(conversationIds.map(() => text))
    const { rows: asked } = await admin.query('select id from messages where sender_role = 1')
    expect(asked).toHaveLength(REPLIES)
    for (const id of conversationIds) {
      const view = (parts.get(id) ?? []).reduce<ReplyView | null>(mergePart, null)
      expect(view?.text).toBe(text)
    }
  },
)
