import { deleteInBatches, inBatch } from '#server/database/batches.ts'
import type { Database } from '#server/database/scope.ts'
import type { JobHandlers } from '#server/jobs/handler.ts'

const CLEANUP_JOB = 'spaces.cleanup'
const INTERVAL_MS = 6 * 60 * 60_000

/**
 * Links and invitations that have ended, and what happened in spaces more than a year ago. Answers count as unread for
 * thirty days: an older mark no longer matters.
 */
const ENDED = [
  `delete from share_links where ${inBatch('share_links where expires_at < now()')}`,
  `delete from space_invitations where ${inBatch('space_invitations where expires_at < now()')}`,
  `delete from space_events where ${inBatch(`space_events where created_at < now() - interval '1 year'`)}`,
  `delete from conversation_reads where ${inBatch(`conversation_reads where read_at < now() - interval '30 days'`)}`,
]

export function createSpaceJobs(database: Database): JobHandlers {
  let nextAt = 0
  return {
    [CLEANUP_JOB]: {
      concurrency: 1,
      expireInSeconds: 600,
      run: () => deleteEnded(database),
      async findWork() {
        if (performance.now() < nextAt) return []
        nextAt = performance.now() + INTERVAL_MS
        return [{ key: 'all', data: {} }]
      },
    },
  }
}

/** Runs as the service. */
export async function deleteEnded(database: Database): Promise<void> {
  for (const statement of ENDED) await deleteInBatches(() => database.serviceStatement(statement))
}
