/** Uses the model of the owner, else the operator's, and then deletes the vectors of former models. */
import { z } from 'zod'
import { AppError } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import { toAppError } from '#server/database/errors.ts'
import { ENFORCE_QUOTAS, requireFileRoom } from '#server/database/quotas.ts'
import type { Database } from '#server/database/scope.ts'
import type { JobHandlers } from '#server/jobs/handler.ts'
import type { Embedder } from '#server/providers/embed.ts'
import {
  deleteOtherModels,
  findOwner,
  insertVectors,
  listDocumentsToEmbed,
  listPassagesWithoutVector,
  markEmbedded,
} from './vector-store.ts'

const EMBED_JOB = 'documents.embed'
const BATCH_PASSAGES = 32
const TIMEOUT_MS = 60_000
const DUE_AT_ONCE = 200
/** After a failure of an owner's provider, or without room, only that owner's documents wait. */
const PAUSE_MS = 300_000

const embedJob = z.object({ documentId: z.uuid() })

export interface EmbeddingParts {
  readonly database: Database
  /** Null: the person's passages get no vectors. */
  readonly embedderOf: (owner: string) => Promise<Embedder | null>
  readonly defaultModel?: string | null | undefined
  readonly log: Log
}

export function createEmbeddingJobs({ database, embedderOf, defaultModel = null, log }: EmbeddingParts): JobHandlers {
  const pausedUntil = new Map<string, number>()
  const isPaused = (owner: string) => (pausedUntil.get(owner) ?? 0) > Date.now()

  async function embedDocument(documentId: string, signal: AbortSignal): Promise<void> {
    const owner = await database.asService((scope) => findOwner(scope, documentId))
    if (owner === undefined || isPaused(owner)) return
    const embedder = await embedderOf(owner)
    if (!embedder) return
    try {
      await database.asService((scope) => requireFileRoom(scope, owner))
      await embedWith(embedder, documentId, signal)
    } catch (thrown) {
      signal.throwIfAborted()
      const error = toAppError(thrown)
      if (error instanceof AppError || error instanceof DOMException) pausedUntil.set(owner, Date.now() + PAUSE_MS)
      if (!(error instanceof AppError && error.code === 'too_large')) throw thrown
      // The passages are found by their words meanwhile.
      log.info({ owner }, 'no room is left for vectors')
    }
  }

  async function embedWith(embedder: Embedder, documentId: string, signal: AbortSignal): Promise<void> {
    const { model } = embedder
    for (;;) {
      const passages = await database.asService((scope) =>
        listPassagesWithoutVector(scope, { documentId, model, limit: BATCH_PASSAGES }),
      )
      if (passages.length === 0) break
      const texts = passages.map(({ heading, page_text, start, end }) =>
        [heading, page_text.slice(start, end)].filter((part) => part !== null).join('\n'),
      )
      const timeout = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
      const vectors = await embedder.embed(texts, { signal: timeout })
      await database.asService((scope) => insertVectors(scope, model, { passages, vectors }), {
        settings: ENFORCE_QUOTAS,
      })
    }
    await database.asService(async (scope) => {
      await markEmbedded(scope, documentId, model)
      const owner = await deleteOtherModels(scope, documentId, model)
      if (owner !== undefined) log.info({ owner, model }, 'the library has vectors of the new model')
    })
  }

  return {
    [EMBED_JOB]: {
      concurrency: 1,
      expireInSeconds: 3_600,
      run: (data, { signal }) => embedDocument(embedJob.parse(data).documentId, signal),
      async findWork() {
        const except = [...pausedUntil.keys()].filter(isPaused)
        for (const owner of pausedUntil.keys()) if (!isPaused(owner)) pausedUntil.delete(owner)
        const due = await database.asService((scope) =>
          listDocumentsToEmbed(scope, { defaultModel, except, limit: DUE_AT_ONCE }),
        )
        return due.map((documentId) => ({ key: documentId, data: { documentId } }))
      },
    },
  }
}
