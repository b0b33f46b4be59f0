import type { Scope } from '#server/database/scope.ts'

/** Questions that wait for an answer on any server, with the seconds that the oldest has waited. Run as the service. */
export async function readReplyQueue(scope: Scope) {
  const { rows } = await scope.prepared<{ queue: string; waiting: number; running: number; oldestWaitsS: number }>(
    `select 'replies' as queue, count(*) filter (where state = 'queued')::int as waiting,
       count(*) filter (where state = 'running')::int as running,
       coalesce(extract(epoch from now() - min(created_at) filter (where state = 'queued')), 0)::float as "oldestWaitsS"
     from replies where state in ('queued', 'running')`,
  )
  return rows
}
