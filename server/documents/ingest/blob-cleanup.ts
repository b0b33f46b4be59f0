/** Removes the bytes of deleted documents, and the bytes that a crash left between storing and inserting. */
import type { Log } from '#server/base/log.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import type { Database } from '#server/database/scope.ts'
import {
  forgetDiscardedBlob,
  hasDiscardedBlobs,
  listDiscardedBlobs,
  listOrphans,
} from '#server/documents/store/discarded-blobs.ts'
import type { JobHandlers, JobRequest } from '#server/jobs/handler.ts'
import { EXPIRE_S } from './document-job.ts'

export const DISCARD_JOB = 'blobs.discard'
export const DISCARD_REQUEST: JobRequest = { key: 'all', data: {} }
const SWEEP_JOB = 'blobs.sweep'

export const BLOB_SWEEP_INTERVAL_MS = 6 * 60 * 60_000
/** No upload takes longer; the request that stores a blob also inserts the row that names it. */
const MIN_ORPHAN_AGE_MS = 24 * 60 * 60_000
const BATCH = 500

interface BlobCleanupParts {
  readonly database: Database
  readonly blobs: BlobStore
}

export function createBlobJobs({ database, blobs, log }: BlobCleanupParts & { readonly log: Log }): JobHandlers {
  let nextSweepAt = 0
  return {
    [DISCARD_JOB]: {
      concurrency: 1,
      expireInSeconds: 600,
      run: () => removeDiscardedBlobs(database, blobs),
      findWork: async () => ((await database.asService(hasDiscardedBlobs)) ? [DISCARD_REQUEST] : []),
    },
    [SWEEP_JOB]: {
      concurrency: 1,
      expireInSeconds: EXPIRE_S,
      async run(_data, { signal }) {
        await reportSweep({ database, blobs, log }, signal)
      },
      async findWork() {
        if (performance.now() < nextSweepAt) return []
        nextSweepAt = performance.now() + BLOB_SWEEP_INTERVAL_MS
        return [{ key: 'all', data: {} }]
      },
    },
  }
}

/** For processes whose uploads may end between storing and inserting. */
export async function reportSweep(
  { database, blobs, log }: BlobCleanupParts & { readonly log: Log },
  signal?: AbortSignal,
): Promise<void> {
  const removed = await sweepBlobs({ database, blobs }, signal === undefined ? {} : { signal })
  if (removed > 0) log.warn({ removed }, 'removed bytes that no row names')
  try {
    const unfinished = (await blobs.removeUnfinished?.(new Date(Date.now() - MIN_ORPHAN_AGE_MS))) ?? 0
    if (unfinished > 0) log.warn({ unfinished }, 'removed parts of unfinished uploads')
  } catch (error) {
    // Keys of some stores may not list uploads; then a rule of the bucket ends them.
    log.info({ err: error }, 'the store does not list unfinished uploads')
  }
}

/** Removing bytes twice is harmless, so their note is deleted last. */
export async function removeDiscardedBlobs(database: Database, blobs: BlobStore): Promise<void> {
  for (;;) {
    const paths = await database.asService(listDiscardedBlobs)
    if (paths.length === 0) return
    for (const path of paths) {
      await blobs.remove(path)
      await database.asService((scope) => forgetDiscardedBlob(scope, path))
    }
  }
}

/** Returns the number of removed blobs. Queries the tables after listing a batch, so that no new row is missed. */
export async function sweepBlobs(
  { database, blobs }: BlobCleanupParts,
  { now = Date.now(), signal }: { readonly now?: number; readonly signal?: AbortSignal } = {},
): Promise<number> {
  let removed = 0
  let batch: string[] = []
  const sweep = async () => {
    const orphans = await database.asService((scope) => listOrphans(scope, batch))
    for (const id of orphans) await blobs.remove(id)
    removed += orphans.length
    batch = []
  }
  for await (const { id, modifiedAt } of blobs.list()) {
    signal?.throwIfAborted()
    if (now - modifiedAt.getTime() < MIN_ORPHAN_AGE_MS) continue
    batch.push(id)
    if (batch.length === BATCH) await sweep()
  }
  if (batch.length > 0) await sweep()
  return removed
}
