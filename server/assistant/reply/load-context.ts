import { READING_STEP } from '#contract/reply-events.ts'
import { awaitDocuments, waitLimitOf } from '#server/assistant/retrieval/await-documents.ts'
import type { ConnectedServer } from '#server/connections/tool-servers.ts'
import { GENERIC_PLANS } from '#server/database/scope.ts'
import type { Embedder } from '#server/providers/embed.ts'
import type { Providers } from '#server/providers/provider-registry.ts'
import type { Attempt } from './attempt.ts'
import { loadPictures, readContext, type ReplyContext } from './context.ts'
import type { ReplyDependencies } from './dependencies.ts'
import { createTraceRecorder, type TraceRecorder } from './trace-recorder.ts'

export interface LoadedContext {
  readonly context: ReplyContext
  readonly trace: TraceRecorder
  readonly providers: Providers
  readonly servers: readonly ConnectedServer[]
  readonly embedder: Embedder | null
}

export async function loadContext(attempt: Attempt, dependencies: ReplyDependencies): Promise<LoadedContext> {
  const { reply, writer, signal, stopwatch } = attempt
  const { embedderOf = () => Promise.resolve(null), providersOf, toolServers, documentWaitLimitMs } = dependencies
  // Resolved before taking a read connection: holding one connection while waiting for another can exhaust the pool.
  const embedding = embedderOf(reply.owner, reply.hasOwnProviders)
  const [read, embedder] = await Promise.all([readOnceReady(attempt, embedding, documentWaitLimitMs), embedding])
  const [context, providers, servers] = await Promise.all([
    loadPictures(read, dependencies, signal),
    providersOf(reply.owner, read.hasConnected.providers),
    read.hasConnected.toolServers ? toolServers.listFor(reply.owner) : [],
  ])
  stopwatch.lap('found')
  if (reply.kind === 'continue') {
    writer.append({ type: 'restart' })
    writer.append({ type: 'text', text: context.unfinished.text })
  }
  return { context, trace: createTraceRecorder(context.trace), providers, servers, embedder }
}

async function readOnceReady(
  { reply, writer, read, signal, takePriority, releasePriority }: Attempt,
  embedding: Promise<Embedder | null>,
  documentWaitLimitMs: number,
): Promise<ReplyContext> {
  const showStep = (status: string) => {
    if (reply.kind !== 'continue') writer.append({ type: 'tool', tool: { name: READING_STEP, status } })
  }
  let waitsSince: number | undefined
  for (;;) {
    const context = await read((scope) => readContext(scope, reply, embedding), GENERIC_PLANS)
    const { unread } = context
    const waitedMs = waitsSince === undefined ? 0 : performance.now() - waitsSince
    const waitLimitMs = waitLimitOf(unread, documentWaitLimitMs) - waitedMs
    if (unread.awaitedIds.length === 0 || waitLimitMs <= 0) {
      if (waitsSince !== undefined) showStep('done')
      return context
    }
    if (waitsSince === undefined) showStep('running')
    waitsSince ??= performance.now()
    // Background work reads the documents, so it must not be throttled during the wait.
    releasePriority()
    await awaitDocuments(unread, read, { waitLimitMs, signal })
    takePriority()
  }
}
