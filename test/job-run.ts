import { type JobRun } from '#server/jobs/handler.ts'

/** What a handler is given where a test runs it itself: nobody waits for its place. */
export const jobRun = (signal = new AbortController().signal): JobRun => ({ signal, stepAside: () => undefined })
