import { createLog } from '#server/base/log.ts'
import type { Database } from '#server/database/scope.ts'
import type { Embedder } from '#server/providers/embed.ts'
import { createEmbeddingJobs } from '#server/search/vectors/embed-job.ts'
import { jobRun } from './job-run.ts'

/**
 * Runs the product's job for documents whose passages lack vectors of this model.
 * @param only the document, by default all of everybody
 * @returns the number of documents
 */
export async function embedLibrary(database: Database, embedder: Embedder, only?: string): Promise<number> {
  const [job] = Object.values(
    createEmbeddingJobs({
      database,
      embedderOf: () => Promise.resolve(embedder),
      defaultModel: embedder.model,
      log: createLog('silent'),
    }),
  )
  const due = ((await job?.findWork?.()) ?? []).filter(({ key }) => only === undefined || key === only)
  for (const { data } of due) await job?.run(data, jobRun())
  return due.length
}
