/** Sums up what people used by day, and forgets it after a bounded time. */
import type { Database } from '#server/database/scope.ts'
import type { JobHandlers } from '#server/jobs/handler.ts'

const FOLD_JOB = 'usage.fold'
const INTERVAL_MS = 60 * 60_000
/** A year of charts, and the month of a limit on costs. */
export const USAGE_DAYS_KEPT = 400

export async function foldUsage(database: Database): Promise<void> {
  await database.serviceStatement('select fold_usage($1)', [USAGE_DAYS_KEPT])
}

export function createUsageJobs(database: Database): JobHandlers {
  let nextAt = 0
  return {
    [FOLD_JOB]: {
      concurrency: 1,
      expireInSeconds: 600,
      run: () => foldUsage(database),
      async findWork() {
        if (performance.now() < nextAt) return []
        nextAt = performance.now() + INTERVAL_MS
        return [{ key: 'all', data: {} }]
      },
    },
  }
}
