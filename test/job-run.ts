import type { JobRun } from '#server/jobs/handler.ts'

export const jobRun = (
  signal = new AbortController().signal,
  enqueue: JobRun['enqueue'] = () => undefined,
): JobRun => ({ signal, yieldSlot: () => undefined, enqueue })
