/** Runs slow work on pg-boss: durable, retried, one at a time per key. Which kinds there are is told by the handlers. */
import type pg from 'pg'
import type { JobInsert, PgBoss } from 'pg-boss'
import { messageOf } from '#server/base/errors.ts'
import { type Log } from '#server/base/log.ts'
import { type JobHandler, type JobHandlers, type JobRequest } from './handler.ts'
import { JOBS_SCHEMA } from './install.ts'
import { CLAIM_GRACE_S, holdJobLocks } from './job-locks.ts'

export interface Jobs {
  /** Settles once jobs are worked on; rejects where that is impossible. */
  readonly started: Promise<void>
  /**
   * Asks for work, now. Returns at once and never throws: what is not asked for successfully is found by `findWork`.
   */
  enqueue(name: string, request: JobRequest): void
  /** Takes no more jobs, aborts those that run and waits for them up to `timeoutMs`. */
  stop(timeoutMs?: number): Promise<void>
}

export interface JobsOptions {
  /** The server's login role. */
  readonly connection: pg.ClientConfig
  readonly log: Log
  readonly handlers: JobHandlers
  /** Nothing is loaded or connected before this settles, such as the server's listening. */
  readonly after?: Promise<unknown>
  /** How often lost work is looked for. */
  readonly sweepIntervalMs?: number
}

/** Only retries are found by polling; new jobs are announced. */
const POLL_SECONDS = 2

interface Kind {
  readonly name: string
  readonly handler: JobHandler
  /** Ids of those that take jobs, without those whose job stepped aside. */
  readonly workers: string[]
  /** How many jobs stepped aside. */
  aside: number
  /** Jobs that would step aside if there were room, the longest waiting first. */
  readonly wantAside: Set<() => void>
}

/** Jobs of a kind that may have stepped aside; one more keeps its place until one of them is over. */
const MOST_ASIDE = 64

/** Returns at once; everything else happens after `after`. */
export function startJobs({
  connection,
  log,
  handlers,
  after = Promise.resolve(),
  sweepIntervalMs = 5_000,
}: JobsOptions): Jobs {
  const stopping = new AbortController()
  const running = new Set<Promise<void>>()
  const kinds = Object.entries(handlers).map(([name, handler]): Kind => ({
    name,
    handler,
    workers: [],
    aside: 0,
    wantAside: new Set(),
  }))
  let boss: PgBoss | undefined
  let locks: Awaited<ReturnType<typeof holdJobLocks>> | undefined
  let sweeper: NodeJS.Timeout | undefined
  let secondSweep: NodeJS.Timeout | undefined
  let sweeping: Promise<void> = Promise.resolve()

  async function start(): Promise<void> {
    await after
    if (stopping.signal.aborted) return
    const asService = { ...connection, options: '-c role=service_role' }
    locks = await holdJobLocks(asService, log)
    const { PgBoss } = await import('pg-boss')
    boss = new PgBoss({
      ...bossConnection(asService),
      schema: JOBS_SCHEMA,
      migrate: false,
      createSchema: false,
      schedule: false,
      reindex: false,
      useListenNotify: true,
      max: 4,
      superviseIntervalSeconds: 30,
      monitorIntervalSeconds: 30,
    })
    boss.on('error', (error) => log.warn({ err: error }, 'the job queue met an error'))
    boss.on('warning', ({ message, data }) => log.warn({ data }, message))
    await boss.start()
    for (const {
      name,
      handler: { expireInSeconds },
    } of kinds) {
      await boss.createQueue(name, {
        policy: 'exclusive',
        notify: true,
        expireInSeconds,
        retryLimit: 2,
        retryDelay: 1,
        retryBackoff: true,
        deleteAfterSeconds: 86_400,
      })
      // A queue that was there keeps what it was created with.
      await boss.updateQueue(name, { expireInSeconds })
    }
    await sweep(boss, locks)
    for (const kind of kinds) while (kind.workers.length < kind.handler.concurrency) await addWorker(boss, locks, kind)
    const sweepAgain = () => {
      if (boss && locks) sweeping = sweep(boss, locks)
    }
    // What a killed server had claimed a moment before cannot be told from a job that is about to be locked.
    secondSweep = setTimeout(sweepAgain, CLAIM_GRACE_S * 1000)
    sweeper = setInterval(sweepAgain, sweepIntervalMs)
  }

  /** One worker runs one job at a time. */
  async function addWorker(queue: PgBoss, held: NonNullable<typeof locks>, kind: Kind): Promise<void> {
    const { name, handler, workers } = kind
    const options = { pollingIntervalSeconds: POLL_SECONDS, notifyPollingIntervalSeconds: POLL_SECONDS }
    const worker = await queue.work(name, options, async ([job]) => {
      if (!job) return
      const isAside = () => !workers.includes(worker)
      const stepAside = () => {
        if (isAside() || stopping.signal.aborted) return
        if (kind.aside >= MOST_ASIDE) {
          kind.wantAside.add(stepAside)
          return
        }
        kind.wantAside.delete(stepAside)
        workers.splice(workers.indexOf(worker), 1)
        kind.aside += 1
        addWorker(queue, held, kind).catch((error: unknown) => {
          log.error({ err: error, job: name }, 'no other job can begin beside one that waits')
        })
      }
      const run = held.during(job.id, () => handler.run(job.data, { signal: stopping.signal, stepAside }))
      running.add(run)
      try {
        await run
      } catch (error) {
        if (!stopping.signal.aborted) log.error({ err: error, job: name, data: job.data }, 'a job failed')
        throw error
      } finally {
        running.delete(run)
        kind.wantAside.delete(stepAside)
        if (isAside()) {
          kind.aside -= 1
          const [next] = kind.wantAside
          next?.()
          await queue.offWork(name, { id: worker, wait: false })
        }
        // A notification wakes for one job; the ones that came with it would wait for the next poll.
        for (const idle of workers) queue.notifyWorker(idle)
      }
    })
    workers.push(worker)
  }

  /** Frees the jobs of dead servers, and asks for work that no job stands for. */
  async function sweep(queue: PgBoss, held: NonNullable<typeof locks>): Promise<void> {
    try {
      for (const { name, id } of await held.freeAbandoned(Object.keys(handlers))) {
        log.warn({ job: name, id }, 'a job of a server that is gone is taken up again')
        for (const idle of kinds.find((kind) => kind.name === name)?.workers ?? []) queue.notifyWorker(idle)
      }
      for (const { name, handler } of kinds) {
        const due = (await handler.findWork?.()) ?? []
        if (due.length > 0) await queue.insert(name, due.map(toInsert))
      }
    } catch (error) {
      if (!stopping.signal.aborted) log.warn({ err: error }, 'lost jobs could not be looked for')
    }
  }

  const started = start()
  started.catch((error: unknown) => {
    if (!stopping.signal.aborted) log.error({ err: error }, 'the job queue did not start')
  })

  return {
    started,
    enqueue(name, request) {
      boss?.insert(name, [toInsert(request)]).catch((error: unknown) => {
        log.warn({ err: error, job: name }, `a job will be found later: ${messageOf(error)}`)
      })
    },
    async stop(timeoutMs = 5_000) {
      stopping.abort(new Error('the server is stopping'))
      await started.catch(() => undefined)
      clearTimeout(secondSweep)
      clearInterval(sweeper)
      await sweeping
      const timeout = new Promise((resolve) => setTimeout(resolve, timeoutMs).unref())
      await Promise.race([Promise.allSettled(running), timeout])
      await boss?.stop({ graceful: true, timeout: 1_000 })
      await locks?.release()
    },
  }
}

const toInsert = ({ key, data, priority = 0 }: JobRequest): JobInsert => ({ data, singletonKey: key, priority })

/** pg-boss takes fewer kinds of connection options than pg. */
function bossConnection({ host, port, user, password, database, ssl, connectionString, options }: pg.ClientConfig) {
  return Object.fromEntries(
    Object.entries({ host, port, user, password, database, ssl, connectionString, options }).filter(
      ([, value]) => value !== undefined,
    ),
  )
}
