export interface JobRun {
  /** Aborted when the server stops: the job should end within a second or two, and runs again later. */
  readonly signal: AbortSignal
  /** Gives up the job's slot, so that the next one begins: for jobs that wait for another limit, or take long. */
  readonly stepAside: () => void
}

export interface JobRequest {
  /** At most one job of a name waits or runs for one key. */
  readonly key: string
  readonly data: Readonly<Record<string, unknown>>
  /** Higher goes first; default 0. */
  readonly priority?: number
}

/** One kind of slow work. `run` must be idempotent: a server may die after the work and before recording it. */
export interface JobHandler {
  /** The job is retried where this throws. */
  run(data: unknown, run: JobRun): Promise<void>
  /** Jobs at once in one server, those without a slot not counted. */
  readonly concurrency: number
  /** A longer run is aborted and retried. */
  readonly expireInSeconds: number
  /** Finds due work in the tables. Called at the start and at intervals, so that a lost job is created again. */
  findWork?(): Promise<readonly JobRequest[]>
}

export type JobHandlers = Readonly<Record<string, JobHandler>>
