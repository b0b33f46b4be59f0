import type { JobRun } from '#server/jobs/handler.ts'

export const jobRun = (signal = new AbortController().signal): JobRun => ({ signal, yieldSlot: () => undefined })
