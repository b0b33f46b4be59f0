import { retryDeadlock } from '#server/database/deadlocks.ts'
import type { Database, Scope } from '#server/database/scope.ts'
import { type ClaimedDocument, lockAttempt } from '#server/documents/store/ingestion.ts'

/** Stages at which a test may interrupt. */
export type IngestStage = 'claimed' | 'pages stored' | 'parsed' | 'indexed'

/** The document is deleted, or another worker has begun a newer attempt. */
export class StaleAttemptError extends Error {}

/**
 * Locks the attempt, so that a superseded worker writes nothing. `write` must change nothing but rows: it runs again if the
 * deletion of the document or its owner ends it. @throws StaleAttemptError
 */
export async function writeInAttempt(
  database: Database,
  document: ClaimedDocument,
  write: (scope: Scope) => Promise<void>,
): Promise<void> {
  await retryDeadlock(() =>
    database.asService(async (scope) => {
      if (!(await lockAttempt(scope, document))) throw new StaleAttemptError()
      await write(scope)
    }),
  )
}
