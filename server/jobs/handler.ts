export interface JobRun {
  /** Aborted when the server stops: the job should let go within a second or two, and will be run again. */
  readonly signal: AbortSignal
  /** Lets the next job of the kind begin: this one waits for something that is limited elsewhere, or keeps short ones waiting. */
  readonly stepAside: () => void
}

export interface JobRequest {
  /** At most one job of a name waits or runs for one key. */
  readonly key: string
  readonly data: Readonly<Record<string, unknown>>
  /** Higher goes first; 0 where nothing is said. */
  readonly priority?: number
}

/** One kind of slow work. Running twice must do no harm: a server may die after the work and before saying so. */
export interface JobHandler {
  /** Throwing means: try again later. */
  run(data: unknown, run: JobRun): Promise<void>
  /** How many run at once in one server, without those that stepped aside. */
  readonly concurrency: number
  /** A run that takes longer is given up and tried again. */
  readonly expireInSeconds: number
  /** Work that the tables show to be due, asked at the start and again and again, so that no lost job is lost work. */
  findWork?(): Promise<readonly JobRequest[]>
}

export type JobHandlers = Readonly<Record<string, JobHandler>>
