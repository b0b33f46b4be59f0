/** A figure that is read when it is asked for. */
export interface Gauge {
  readonly help: string
  readonly read: () => number
  /** Only grows, from zero at the start of the process. */
  readonly isCounter?: boolean
}

export type Gauges = Readonly<Record<string, Gauge>>

/** Work that waits in the database, for all servers. */
export interface Queue {
  readonly queue: string
  readonly waiting: number
  readonly running: number
  /** Seconds since the oldest that waits was queued; 0 if none waits. */
  readonly oldestWaitsS: number
}

export const QUEUE_FIGURES = {
  alcove_queue_waiting: { help: 'Jobs and questions that wait, in the database.', figure: 'waiting' },
  alcove_queue_running: { help: 'Jobs and questions that a server works on.', figure: 'running' },
  alcove_queue_oldest_wait_seconds: { help: 'Age of the oldest that waits.', figure: 'oldestWaitsS' },
} as const satisfies Record<string, { help: string; figure: Exclude<keyof Queue, 'queue'> }>
