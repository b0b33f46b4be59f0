import type { Scope } from '#server/database/scope.ts'
import { JOBS_SCHEMA } from './install.ts'

export interface JobQueue {
  readonly queue: string
  readonly waiting: number
  readonly running: number
  readonly oldestWaitsS: number
}

/** The jobs of all servers by queue, with the seconds that the oldest has waited. Run as the service. */
export async function readJobQueues(scope: Scope): Promise<JobQueue[]> {
  const { rows } = await scope.prepared<JobQueue & Record<string, unknown>>(
    `select name as queue, count(*) filter (where state in ('created', 'retry'))::int as waiting,
       count(*) filter (where state = 'active')::int as running,
       coalesce(extract(epoch from now() - min(created_on) filter (where state in ('created', 'retry'))), 0)::float as "oldestWaitsS"
     from ${JOBS_SCHEMA}.job where state in ('created', 'retry', 'active') group by name`,
  )
  return rows
}
