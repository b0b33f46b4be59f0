/** A worker on a test database that answers with the stand-in model, and what a person sees of its answers. */
import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { type MessageRow } from '#contract/message.ts'
import { type ReplyPart } from '#contract/reply-events.ts'
import { createReplies } from '#server/assistant/replies.ts'
import { createReplyLog } from '#server/assistant/reply-log.ts'
import { startWorker, type Worker, type WorkerOptions } from '#server/assistant/worker.ts'
import { createLog } from '#server/base/log.ts'
import { addMessage, listMessages } from '#server/conversations/queries.ts'
import { type Listener } from '#server/database/listen.ts'
import { type Claims } from '#server/database/scope.ts'
import { createProviders, type Providers } from '#server/providers/choose.ts'
import { type TestDatabase } from './database.ts'
import { type StubModel } from './stub-model.ts'

export type Person = Claims & { sub: string }

export const STUB_MODEL = 'openai-compatible/stub'

export interface Watched {
  /** Everything that has come so far. */
  readonly parts: readonly ReplyPart[]
  /** Resolves with everything so far once a part of this type has come. */
  readonly until: (type: ReplyPart['type']) => Promise<ReplyPart[]>
}

export interface TestAssistant {
  /** Starts a worker that ends with the test. */
  startWorker(options?: Partial<WorkerOptions>): Promise<Worker>
  startConversation(person: Person, given?: { model?: string; title?: string }): Promise<string>
  ask(person: Person, conversationId: string, content: string): Promise<MessageRow>
  /** Resolves with all live parts of a conversation so far once one of this type has come. */
  watch(conversationId: string): Promise<Watched>
  messagesIn(person: Person, conversationId: string): Promise<MessageRow[]>
}

/** The stand-in model behind every provider. @param silenceMs longest silence before an answer is given up. */
export function createStubProviders(stub: StubModel, silenceMs = 10_000): Providers {
  const keyed = { apiKey: 'k', baseUrl: stub.baseUrl }
  return createProviders({ anthropic: keyed, openai: keyed, compatible: { ...keyed, apiKey: undefined }, silenceMs })
}

export async function createTestAssistant(
  { database, admin }: TestDatabase,
  listener: Listener,
  stub: StubModel,
): Promise<TestAssistant> {
  const log = createLog('silent')
  const none = { apiKey: undefined, baseUrl: undefined }
  const providers = createProviders({
    anthropic: { apiKey: 'k', baseUrl: stub.baseUrl },
    openai: none,
    compatible: { apiKey: undefined, baseUrl: stub.baseUrl },
    silenceMs: 10_000,
  })
  await admin.query(
    `insert into models (name, version, model_identifier, provider, family, context_window)
     values ('stub', '1', $1, 'OpenAI-compatible', 'stub', 32000)`,
    [STUB_MODEL],
  )
  return {
    async startWorker(options) {
      const replies = createReplies(database, randomUUID())
      const replyLog = createReplyLog(database, log)
      const worker = await startWorker({
        database,
        providers,
        listener,
        log,
        capacity: 50,
        replies,
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
    messagesIn: (person, conversationId) => database.asUser(person, (scope) => listMessages(scope, conversationId)),
  }
}
