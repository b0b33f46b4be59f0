export interface JobRun {
  /** Aborted when the server stops: the job should end within two seconds, and runs again later. */
  readonly signal: AbortSignal
  /** Releases the job's slot while it waits for another limit or takes long. */
  readonly yieldSlot: () => void
  /** As `Jobs.enqueue`, for work that another queue is to go on with. */
  readonly enqueue: (name: string, request: JobRequest) => void
}

export interface JobRequest {
  /** At most one job of a name waits or runs for one key. */
  readonly key: string
  readonly data: Readonly<Record<string, unknown>>
  readonly priority?: number
}

/** `run` must be idempotent: a server may die after the work and before recording it. */
export interface JobHandler {
  run(data: unknown, run: JobRun): Promise<void>
  /** Runs jobs that wait together. If it throws, all are repeated. */
  readonly batch?: { readonly size: number; run(data: readonly unknown[], run: JobRun): Promise<void> }
  readonly concurrency: number
  readonly expireInSeconds: number
  /** Other queues that do the same work: `findWork` finds nothing for a key that one of them has. */
  readonly leavesKeysTo?: readonly string[]
  /** Finds due work at the start and at intervals, which recreates lost jobs. */
  findWork?(): Promise<readonly JobRequest[]>
}

export type JobHandlers = Readonly<Record<string, JobHandler>>
