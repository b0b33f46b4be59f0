import { retryDeadlock } from '#server/database/deadlocks.ts'
import type { Database } from '#server/database/scope.ts'
import { listStale, lockSearchable } from '#server/documents/store/ingestion.ts'
import { readPages } from '#server/documents/store/pages.ts'
import type { JobHandlers } from '#server/jobs/handler.ts'
import { reindexDocument } from '#server/search/index/index-document.ts'
import { TOKENIZER_VERSION } from '#server/search/text/tokenizer.ts'
import { documentJob, EXPIRE_S, requestFor } from './document-job.ts'

export const REINDEX_JOB = 'documents.reindex'

const STALE_CHECK_INTERVAL_MS = 60_000

/** Indexes documents again from stored pages after a rename or a new tokenizer version. */
export function createReindexJob(database: Database): JobHandlers {
  let nextStaleCheckAt = 0
  return {
    [REINDEX_JOB]: {
      concurrency: 1,
      expireInSeconds: EXPIRE_S,
      run: (data) => reindex(database, documentJob.parse(data).documentId),
      async findWork() {
        // A rename enqueues its job itself; this finds lost jobs and new tokenizer versions.
        if (performance.now() < nextStaleCheckAt) return []
        nextStaleCheckAt = performance.now() + STALE_CHECK_INTERVAL_MS
        const stale = await database.asService((scope) => listStale(scope, TOKENIZER_VERSION))
        return stale.map(({ id }) => requestFor(id))
      },
    },
  }
}

/** Searches use the old index until the transaction commits. */
async function reindex(database: Database, documentId: string): Promise<void> {
  await retryDeadlock(() =>
    database.asService(async (scope) => {
      const document = await lockSearchable(scope, documentId)
      if (document) await reindexDocument(scope, document, readPages(scope, documentId))
    }),
  )
}
