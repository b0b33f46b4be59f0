/** Uses the model that the owner chose, else the operator's, and then deletes the vectors of former models. */
import { z } from 'zod'
import { AppError, isTimeout } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import { toAppError } from '#server/database/errors.ts'
import { isDisabled } from '#server/database/disabled-accounts.ts'
import { ENFORCE_QUOTAS, requireFileRoom } from '#server/database/quotas.ts'
import type { Database } from '#server/database/scope.ts'
import type { JobHandlers } from '#server/jobs/handler.ts'
import type { Embedder } from '#server/providers/embed.ts'
import {
  deleteFailure,
  deleteOtherModels,
  findOwner,
  insertVectors,
  isPaused,
  listDocumentsToEmbed,
  listPassagesWithoutVector,
  markEmbedded,
  type ModelsInUse,
  storeFailure,
} from './vector-store.ts'

const EMBED_JOB = 'documents.embed'
const TIMEOUT_MS = 60_000
const DUE_AT_ONCE = 200

const embedJob = z.object({ documentId: z.uuid() })

export interface EmbeddingParts extends Partial<ModelsInUse> {
  readonly database: Database
  /** Null: the person's passages get no vectors. */
  readonly embedderOf: (owner: string) => Promise<Embedder | null>
  readonly log: Log
}

const LATE = 'The model did not answer within a minute.'
const FULL = 'No room is left for vectors. Deleting documents makes room.'

export function createEmbeddingJobs(parts: EmbeddingParts): JobHandlers {
  const { database, embedderOf, defaultModel = null, serverAddresses = [], log } = parts

  async function embedDocument(documentId: string, signal: AbortSignal): Promise<void> {
    const owner = await database.asService((scope) => findOwner(scope, documentId))
    if (owner === undefined || (await isDisabled(database, owner))) return
    const embedder = await embedderOf(owner)
    if (!embedder) return
    const { model } = embedder
    if (await database.asService((scope) => isPaused(scope, owner, model))) return
    try {
      await database.asService((scope) => requireFileRoom(scope, owner))
      await embedWith(embedder, { documentId, owner }, signal)
    } catch (thrown) {
      signal.throwIfAborted()
      const error = isTimeout(thrown) ? new AppError('unavailable', LATE, { cause: thrown }) : toAppError(thrown)
      const isFull = error instanceof AppError && error.code === 'too_large'
      if (error instanceof AppError) {
        const message = isFull ? FULL : error.message
        await database.asService((scope) => storeFailure(scope, { owner, model, message }))
      }
      if (!isFull) throw error
      // The passages are found by their words meanwhile.
      log.info({ owner }, 'no room is left for vectors')
    }
  }

  async function embedWith(
    embedder: Embedder,
    { documentId, owner }: { readonly documentId: string; readonly owner: string },
    signal: AbortSignal,
  ): Promise<void> {
    const { model, batch } = embedder
    for (;;) {
      // The person may have ended their choice, or their account may be disabled: then nothing more is sent.
      if ((await embedderOf(owner))?.model !== model || (await isDisabled(database, owner))) return
      const passages = await database.asService((scope) =>
        listPassagesWithoutVector(scope, { documentId, model, limit: batch }),
      )
      if (passages.length === 0) break
      const texts = passages.map(({ heading, page_text, start, end }) =>
        [heading, page_text.slice(start, end)].filter((part) => part !== null).join('\n'),
      )
      const timeout = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
      const vectors = await embedder.embed(texts, { signal: timeout })
      const isStored = await database.asService((scope) => insertVectors(scope, model, { passages, vectors }), {
        settings: ENFORCE_QUOTAS,
      })
      if (!isStored) return
    }
    await database.asService(async (scope) => {
      if (!(await markEmbedded(scope, { documentId, owner, model }))) return
      await deleteFailure(scope, owner)
      const complete = await deleteOtherModels(scope, documentId, model)
      if (complete !== undefined) log.info({ owner, model }, 'the library has vectors of the new model')
    })
  }

  return {
    [EMBED_JOB]: {
      concurrency: 1,
      expireInSeconds: 3_600,
      run: (data, { signal }) => embedDocument(embedJob.parse(data).documentId, signal),
      async findWork() {
        const due = await database.asService((scope) =>
          listDocumentsToEmbed(scope, { defaultModel, serverAddresses, limit: DUE_AT_ONCE }),
        )
        return due.map((documentId) => ({ key: documentId, data: { documentId } }))
      },
    },
  }
}
