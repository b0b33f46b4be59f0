/** Runs a worker on a test database with the stub model, and records the replies that a person sees. */
import { randomUUID } from 'node:crypto'
import { afterAll, onTestFinished } from 'vitest'
import type { MessageRow } from '#contract/message.ts'
import type { ReplyPart } from '#contract/reply-events.ts'
import { createReplyClaims } from '#server/assistant/lease/claims.ts'
import { startWorker, type Worker, type WorkerOptions } from '#server/assistant/queue/worker.ts'
import { createReplyLog } from '#server/assistant/reply/reply-log.ts'
import { createLog } from '#server/base/log.ts'
import { addMessage, listMessages } from '#server/conversations/queries.ts'
import { type Listener, openListener } from '#server/database/listen.ts'
import type { Claims } from '#server/database/scope.ts'
import { createProviders, type ResolveProviders } from '#server/providers/provider-registry.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { startStubModel, type StubModel } from './stub-model.ts'

export type Person = Claims & { sub: string }

export const STUB_MODEL = 'openai-compatible/stub'

export interface Watched {
  readonly parts: readonly ReplyPart[]
  /** Resolves with all parts once a part of this type arrives. */
  readonly until: (type: ReplyPart['type']) => Promise<ReplyPart[]>
}

export interface TestAssistant {
  readonly startWorker: (options?: Partial<WorkerOptions>) => Promise<Worker>
  readonly startConversation: (person: Person, given?: { model?: string; title?: string }) => Promise<string>
  readonly ask: (person: Person, conversationId: string, content: string) => Promise<MessageRow>
  /** Follows a conversation's live parts until the test ends. */
  readonly watch: (conversationId: string) => Promise<Watched>
  readonly messagesIn: (person: Person, conversationId: string) => Promise<MessageRow[]>
  readonly answersIn: (person: Person, conversationId: string) => Promise<MessageRow[]>
}

export const textOf = (parts: readonly ReplyPart[]): string => parts.map(({ text = '' }) => text).join('')

/** @param idleTimeoutMs idle timeout of a reply. */
export function createStubProviders(stub: Pick<StubModel, 'baseUrl'>, idleTimeoutMs = 10_000): ResolveProviders {
  const keyed = { apiKey: 'k', baseUrl: stub.baseUrl }
  const compatible = { ...keyed, apiKey: undefined }
  const providers = createProviders({ anthropic: keyed, openai: keyed, compatible, idleTimeoutMs })
  return () => Promise.resolve(providers)
}

/**
 * Creates a database, a stub model and an assistant for one test file; they end with the file.
 * @param options defaults of the stub model.
 */
export async function openTestAssistant(options?: Parameters<typeof startStubModel>[0]) {
  const db = await createTestDatabase()
  const stub = await startStubModel(options)
  const listener = await openListener(db.connection, createLog('silent'))
  afterAll(async () => {
    await listener.close()
    await stub.stop()
    await db.drop()
  })
  return { db, stub, listener, assistant: await createTestAssistant(db, listener, stub) }
}

async function createTestAssistant(
  { database, serviceChannel, admin }: TestDatabase,
  listener: Listener,
  stub: StubModel,
): Promise<TestAssistant> {
  const log = createLog('silent')
  const messagesIn = (person: Person, conversationId: string) =>
    database.asUser(person, async (scope) => JSON.parse(await listMessages(scope, conversationId)) as MessageRow[])
  const none = { apiKey: undefined, baseUrl: undefined }
  const providers = createProviders({
    anthropic: { apiKey: 'k', baseUrl: stub.baseUrl },
    openai: none,
    compatible: { apiKey: undefined, baseUrl: stub.baseUrl },
    idleTimeoutMs: 10_000,
  })
  await admin.query(
    `insert into models (name, version, model_identifier, provider, family, context_window)
     values ('stub', '1', $1, 'OpenAI-compatible', 'stub', 32000)`,
    [STUB_MODEL],
  )
  return {
    async startWorker(options) {
      const replies = createReplyClaims(serviceChannel, randomUUID())
      const replyLog = createReplyLog(serviceChannel, log)
      const worker = await startWorker({
        database,
        providersOf: () => Promise.resolve(providers),
        listener,
        log,
        capacity: 50,
        documentWaitLimitMs: 30_000,
        passageTokens: 6_000,
        asksForOtherWords: true,
        replyClaims: replies,
        replyLog,
        ...options,
      })
      onTestFinished(() => worker.stop())
      return worker
    },
    async startConversation({ sub }, { model = STUB_MODEL, title } = {}) {
      const id = randomUUID()
      await admin.query('insert into conversations (id, uid, model_name, title) values ($1, $2, $3, $4)', [
        id,
        sub,
        model,
        title,
      ])
      return id
    },
    ask: (person, conversationId, content) =>
      database.asUser(person, async (scope) => (await addMessage(scope, conversationId, { content })).row),
    async watch(conversationId) {
      const parts: ReplyPart[] = []
      const waiting = new Set<() => void>()
      const stop = await listener.on('realtime_broadcast', (payload) => {
        const envelope = JSON.parse(payload) as { topic?: string; payload?: ReplyPart }
        if (envelope.topic !== `conversation:${conversationId}` || !envelope.payload) return
        parts.push(envelope.payload)
        for (const check of waiting) check()
      })
      onTestFinished(stop)
      return {
        parts,
        until: (type) =>
          new Promise((resolve) => {
            const check = () => {
              if (!parts.some((part) => part.type === type)) return
              waiting.delete(check)
              resolve([...parts])
            }
            waiting.add(check)
            check()
          }),
      }
    },
    messagesIn,
    answersIn: async (person, conversationId) =>
      (await messagesIn(person, conversationId)).filter(({ sender_role }) => sender_role === 2),
  }
}
