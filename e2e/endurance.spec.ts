/**
 * Servers are killed and stopped at random moments while questions are asked of two nodes and answered by them. Ten in
 * `npm test`, two hundred in `npm run endurance` (or `ENDURANCE=<count>`).
 */
import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '@supabase/supabase-js'
import { expect, onTestFinished, test } from 'vitest'
import { type ReplyPart, replyPart } from '#contract/reply-events.ts'
import { createLog } from '#server/base/log.ts'
import { openListener } from '#server/database/listen.ts'
import { type AlcoveProcess, createDataDir, startAlcove } from '#test/alcove.ts'
import { createEmptyDatabase } from '#test/database.ts'
import { startStubModel } from '#test/stub-model.ts'

const REPLIES = Number(process.env['ENDURANCE'] ?? 10)
const TOKENS = 60
/** Longer than a lease, so that whoever sleeps this long has lost its replies. */
const SLEEP_MS = 7_000
/** So few wait for their answers that a question is often handed to the node that stores it, and so many that nodes die among them. */
const MOST_OPEN = Math.max(5, REPLIES / 10)
/** A page that hears nothing asks again, with the same id. */
const PATIENCE_MS = 1_000

interface Answer {
  conversation_id: string
  content: string
}

/** What a viewer of one conversation would show who follows the rules: a newer attempt replaces, the order is that of seq. */
function shown(parts: readonly ReplyPart[]): string {
  const attempt = Math.max(0, ...parts.map((part) => part.attempt))
  const bySeq = new Map(
    parts.filter((part) => part.attempt === attempt && part.type === 'text').map((part) => [part.seq, part.text ?? '']),
  )
  return [...bySeq]
    .toSorted(([one], [other]) => one - other)
    .map(([, text]) => text)
    .join('')
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
    onTestFinished(async () => {
      await Promise.all(nodes.map((node) => node.end('SIGKILL')))
      await stub.stop()
      await admin.end()
      await folder.remove()
    })

    const [first] = nodes
    if (!first) throw new Error('no node')
    const { supabaseAnonKey } = await first.config()
    const client = createClient(first.url, supabaseAnonKey, { auth: { persistSession: false } })
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

    const conversationIds = Array.from({ length: REPLIES }, () => randomUUID())
    let repeats = 0
    const post = (path: string, body: Record<string, unknown>): Promise<Response | undefined> =>
      fetch(`${nodes[randomInt(2)]?.url}${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(PATIENCE_MS),
      }).catch((error: unknown) => {
        if (error instanceof TypeError || (error instanceof DOMException && error.name === 'TimeoutError'))
          return undefined
        throw error
      })
    /** As the page does: through `/rest/v1`, and where that fails through `/api`, which takes a repeat for what it is. */
    async function ask(conversationId: string): Promise<void> {
      await admin.query(`insert into conversations (id, uid, model_name) values ($1, $2, 'openai-compatible/stub')`, [
        conversationId,
        owner,
      ])
      const question = { id: randomUUID(), content: 'Hello' }
      let response = await post('/rest/v1/messages', { ...question, conversation_id: conversationId, sender_role: 1 })
      while (!response?.ok) {
        repeats += 1
        response = await post(`/api/conversations/${conversationId}/messages`, question)
        // A node that ends may still say so.
        if (response && !response.ok && response.status < 500)
          throw new Error(`${response.status} ${await response.text()}`)
      }
    }
    const answers = async () =>
      (await admin.query<Answer>('select conversation_id, content from messages where sender_role = 2')).rows

    const asking: Promise<void>[] = []
    let kills = 0
    for (let answered = 0; answered < REPLIES; answered = (await answers()).length) {
      const next = conversationIds.slice(asking.length, answered + MOST_OPEN)
      asking.push(...next.map((id) => ask(id)))
      await delay(randomInt(next.length === 0 ? 200 : 0, 1_500))
      const index = randomInt(2)
      const node = nodes[index]
      if (!node) continue
      kills += 1
      if (randomInt(2) === 0) {
        await node.end('SIGKILL')
        nodes[index] = await startAlcove(environment)
      } else {
        node.signal('SIGSTOP')
        await delay(SLEEP_MS)
        node.signal('SIGCONT')
      }
    }
    await Promise.all(asking)

    const stored = await answers()
    const text = await stub.text(TOKENS)
    console.log(`${REPLIES} replies, ${kills} nodes killed or stopped, ${repeats} questions asked again`)
    expect(kills).toBeGreaterThan(0)
    expect(new Set(stored.map(({ conversation_id }) => conversation_id)).size).toBe(REPLIES)
    expect(stored.map(({ content }) => content)).toEqual(conversationIds.map(() => text))
    const { rows: asked } = await admin.query('select id from messages where sender_role = 1')
    expect(asked).toHaveLength(REPLIES)
    for (const id of conversationIds) expect(shown(parts.get(id) ?? [])).toBe(text)
  },
)
