import type { Database, Scope } from '#server/database/scope.ts'
import { type ClaimedDocument, lockAttempt } from '#server/documents/store/ingestion.ts'

/** The document is deleted, or another worker has begun a newer attempt. */
export class StaleAttemptError extends Error {}

/** Locks the attempt, so that a superseded worker writes nothing. @throws StaleAttemptError */
export async function writeInAttempt(
  database: Database,
  document: ClaimedDocument,
  write: (scope: Scope) => Promise<void>,
): Promise<void> {
  await database.asService(async (scope) => {
    if (!(await lockAttempt(scope, document))) throw new StaleAttemptError()
    await write(scope)
  })
}
