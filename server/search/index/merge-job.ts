import { z } from 'zod'
import type { Database } from '#server/database/scope.ts'
import type { JobHandlers } from '#server/jobs/handler.ts'
import { findMerges, mergeSegments } from './segments.ts'

const MERGE_JOB = 'documents.merge'

const mergeJob = z.object({ owner: z.uuid() })

export function createIndexJobs({ database }: { readonly database: Database }): JobHandlers {
  return {
    [MERGE_JOB]: {
      concurrency: 1,
      expireInSeconds: 600,
      async run(data) {
        const { owner } = mergeJob.parse(data)
        // A merge may make one of the next size due.
        for (;;) {
          const due = await database.asService((scope) => findMerges(scope, owner))
          if (due.length === 0) return
          for (const { segments } of due) await mergeSegments(database, owner, segments)
        }
      },
      async findWork() {
        const due = await database.asService((scope) => findMerges(scope))
        return [...new Set(due.map(({ owner }) => owner))].map((owner) => ({ key: owner, data: { owner } }))
      },
    },
  }
}
