/** Alcove on one or two nodes and the bare server on one PostgreSQL, with one stub model. */
import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import pg from 'pg'
import { createLog } from '#server/base/log.ts'
import { startEmbedded } from '#server/database/embedded.ts'
import type { ReplyPart } from '#contract/reply-events.ts'
import { type AlcoveProcess, createDataDir, startAlcove } from '#test/alcove.ts'
import { startStubModel, type StubModel } from '#test/stub-model.ts'
import { type BareServer, startBareServer } from './bare-server.ts'
import { clockMs } from './clock.ts'
import { live } from './signed-in.ts'

export interface Watched {
  text: string
  attempt: number
  firstAt: number
  lastAt: number
  /** Resolves at the last part, which reports how the reply ended. */
  readonly ended: Promise<void>
}

export interface Asker {
  readonly client: SupabaseClient
  readonly token: string
  follow(viewer: SupabaseClient): Promise<{ conversationId: string; watched: Watched; again: () => Watched }>
  /** Resolves with the time at which the question was sent. */
  ask(conversationId: string, content: string): Promise<number>
}

export interface ReplyStage {
  readonly node: AlcoveProcess
  /** Starts a second node on the database at the first call. */
  second(): Promise<AlcoveProcess>
  readonly bare: BareServer
  readonly stub: StubModel
  readonly admin: pg.Pool
  /** The database with `pg_stat_statements`, which counts the statements of the whole cluster. */
  readonly statistics: pg.Client
  signUp(node: AlcoveProcess): Promise<Asker>
  open(asker: Asker, node: AlcoveProcess): Promise<SupabaseClient>
  close(): Promise<void>
}

const MODEL = 'openai-compatible/stub'
const DATABASE = 'bench'

function watch(): { watched: Watched; take: (part: ReplyPart) => void } {
  const { promise: ended, resolve } = Promise.withResolvers<undefined>()
  const watched = { text: '', attempt: 0, firstAt: 0, lastAt: 0, ended: ended.then(() => undefined) }
  return {
    watched,
    take(part) {
      if (part.attempt > watched.attempt) Object.assign(watched, { attempt: part.attempt, text: '' })
      if (part.type === 'text') {
        watched.text += part.text ?? ''
        watched.lastAt = clockMs()
        watched.firstAt ||= watched.lastAt
      }
      if (part.type === 'done' || part.type === 'stopped' || part.type === 'error') resolve(undefined)
    },
  }
}

/** @param token of a session on another node */
async function connect(node: AlcoveProcess, token?: string): Promise<SupabaseClient> {
  const { supabaseAnonKey } = await node.config()
  return createClient(
    node.url,
    supabaseAnonKey,
    token === undefined ? { auth: { persistSession: false } } : { accessToken: () => Promise.resolve(token) },
  )
}

async function asAsker(client: SupabaseClient, userId: string, token: string): Promise<Asker> {
  await client.realtime.setAuth(token)
  return {
    client,
    token,
    async follow(viewer) {
      const conversationId = randomUUID()
      const { error } = await client
        .from('conversations')
        .insert({ id: conversationId, uid: userId, model_name: MODEL, title: 'bench' })
      if (error) throw error
      let current = watch()
      const channel = viewer.channel(`conversation:${conversationId}`, { config: { private: true } })
      channel.on('broadcast', { event: 'reply' }, ({ payload }) => current.take(payload as ReplyPart))
      await live(channel)
      return { conversationId, watched: current.watched, again: () => (current = watch()).watched }
    },
    async ask(conversationId, content) {
      const sentAt = clockMs()
      const { error } = await client
        .from('messages')
        .insert({ conversation_id: conversationId, content, sender_role: 1 })
      if (error) throw error
      return sentAt
    },
  }
}

/** Starts twice: PostgreSQL loads the statistics module only at its start. */
async function startCounting(dataDir: string, password: string) {
  const start = async () => {
    const postgres = await startEmbedded(dataDir, password, createLog('warn'))
    const client = new pg.Client({ ...postgres.admin, database: 'postgres' })
    await client.connect()
    return { postgres, client }
  }
  const uncounted = await start()
  await uncounted.client.query(`alter system set shared_preload_libraries = 'pg_stat_statements'`)
  await uncounted.client.end()
  await uncounted.postgres.stop()
  const { postgres, client: statistics } = await start()
  await statistics.query('create extension pg_stat_statements')
  return { postgres, statistics }
}

export async function startReplyStage(): Promise<ReplyStage> {
  const { dataDir, remove } = await createDataDir()
  await mkdir(dataDir, { mode: 0o711 })
  const password = randomUUID()
  const { postgres, statistics } = await startCounting(dataDir, password)
  await statistics.query(`create database ${DATABASE}`)
  const connection = { ...postgres.admin, database: DATABASE }
  const stub = await startStubModel({ models: 'stub' })
  const environment = {
    DATA_DIR: `${dataDir}-nodes`,
    DATABASE_URL: `postgres://postgres:${password}@localhost/${DATABASE}?host=${encodeURIComponent(String(connection.host))}`,
    ALCOVE_SECRET: randomUUID() + randomUUID(),
    AUTH_AUTOCONFIRM: 'true',
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'warn',
    OPENAI_COMPATIBLE_BASE_URL: stub.baseUrl,
  }
  const node = await startAlcove(environment)
  let other: Promise<AlcoveProcess> | undefined
  const admin = new pg.Pool(connection)
  const bare = await startBareServer(connection, stub.baseUrl)
  const clients: SupabaseClient[] = []
  return {
    node,
    second: () => (other ??= startAlcove(environment)),
    bare,
    stub,
    admin,
    statistics,
    async signUp(node) {
      const client = await connect(node)
      clients.push(client)
      const { data, error } = await client.auth.signUp({
        email: `${randomUUID()}@example.test`,
        password: randomUUID(),
      })
      if (error ?? !data.session) throw error ?? new Error('there is no session')
      return asAsker(client, data.session.user.id, data.session.access_token)
    },
    async open({ token }, node) {
      const client = await connect(node, token)
      clients.push(client)
      return client
    },
    async close() {
      for (const client of clients) await client.removeAllChannels()
      await Promise.all([node.end(), other?.then((started) => started.end()), bare.stop(), stub.stop()])
      await Promise.all([admin.end(), statistics.end()])
      await postgres.stop()
      await remove()
    },
  }
}
