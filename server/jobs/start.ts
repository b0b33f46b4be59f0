/** Runs slow work on pg-boss: durable, retried, and at most one job per key. */
import type pg from 'pg'
import type { JobInsert, PgBoss } from 'pg-boss'
import { messageOf } from '#server/base/errors.ts'
import { rejectOnFailure, runInFailureScope } from '#server/base/failure-scope.ts'
import type { Log } from '#server/base/log.ts'
import { repeat } from '#server/base/repeat.ts'
import { traceOperation } from '#server/base/tracing.ts'
import { createGuardedSocket } from '#server/database/guarded-client.ts'
import type { JobHandler, JobHandlers, JobRequest } from './handler.ts'
import { JOBS_SCHEMA } from './install.ts'
import { CLAIM_GRACE_S, holdJobLocks } from './job-locks.ts'

export interface Jobs {
  readonly started: Promise<void>
  /** Returns at once and never throws: `findWork` finds lost requests. */
  enqueue(name: string, request: JobRequest): void
  stop(timeoutMs?: number): Promise<void>
}

export interface JobsOptions {
  readonly connection: pg.ClientConfig
  readonly log: Log
  readonly handlers: JobHandlers
  readonly after?: Promise<unknown>
  readonly sweepIntervalMs?: number
}

/** People cause jobs at will, for example by renaming a document again and again; finished ones go soon. */
const DELETE_AFTER_S = 600
const MAINTENANCE_INTERVAL_S = 300
/** Polling finds retries; new jobs notify. */
const POLL_SECONDS = 2

interface Kind {
  readonly name: string
  readonly handler: JobHandler
  /** A worker whose job released its slot takes no other. */
  readonly workers: string[]
  yielded: number
  readonly waitingToYield: Set<() => void>
}

const createKind = (name: string, handler: JobHandler): Kind => ({
  name,
  handler,
  workers: [],
  yielded: 0,
  waitingToYield: new Set(),
})

/** Limits the running jobs of a kind that gave up their slot. */
const MAX_YIELDED = 64

export function startJobs({
  connection,
  log,
  handlers,
  after = Promise.resolve(),
  sweepIntervalMs = 5_000,
}: JobsOptions): Jobs {
  const stopping = new AbortController()
  const running = new Set<Promise<void>>()
  const kinds = Object.entries(handlers).map(([name, handler]) => createKind(name, handler))
  let boss: PgBoss | undefined
  let locks: Awaited<ReturnType<typeof holdJobLocks>> | undefined
  let sweeper: NodeJS.Timeout | undefined
  let secondSweep: NodeJS.Timeout | undefined
  /** On a slow database a sweep takes longer than the interval. */
  let sweeping: Promise<void> | undefined

  async function start(): Promise<void> {
    await after
    if (stopping.signal.aborted) return
    const asService = { ...connection, options: '-c role=service_role' }
    locks = await holdJobLocks(asService, log)
    boss = await createBoss(asService, log)
    // Its timers repeat, and its connections have guards of their own.
    await runInFailureScope(() => undefined, boss.start.bind(boss))
    await createQueues(boss, kinds)
    await sweep(boss, locks)
    for (const kind of kinds) while (kind.workers.length < kind.handler.concurrency) await addWorker(boss, locks, kind)
    const sweepAgain = () => {
      if (!boss || !locks) return
      sweeping ??= sweep(boss, locks).finally(() => {
        sweeping = undefined
      })
    }
    // The first sweep skips jobs claimed within the grace time, which may not be locked yet.
    secondSweep = setTimeout(sweepAgain, CLAIM_GRACE_S * 1000)
    sweeper = repeat(sweepAgain, sweepIntervalMs)
  }

  async function addWorker(queue: PgBoss, held: NonNullable<typeof locks>, kind: Kind): Promise<void> {
    const { name, handler, workers } = kind
    const options = {
      pollingIntervalSeconds: POLL_SECONDS,
      notifyPollingIntervalSeconds: POLL_SECONDS,
      batchSize: handler.batch?.size ?? 1,
    }
    const worker = await queue.work(name, options, async (jobs) => {
      const hasYielded = () => !workers.includes(worker)
      const yieldSlot = () => {
        if (hasYielded() || stopping.signal.aborted) return
        if (kind.yielded >= MAX_YIELDED) {
          kind.waitingToYield.add(yieldSlot)
          return
        }
        kind.waitingToYield.delete(yieldSlot)
        workers.splice(workers.indexOf(worker), 1)
        kind.yielded += 1
        addWorker(queue, held, kind).catch((error: unknown) => {
          log.error({ err: error, job: name }, 'no worker could be added for a job that gave up its slot')
        })
      }
      const data = jobs.map((job) => job.data)
      const runJobs = async (failed: AbortSignal) => {
        const run = { signal: AbortSignal.any([stopping.signal, failed]), yieldSlot, enqueue }
        if (handler.batch) await handler.batch.run(data, run)
        else for (const one of data) await handler.run(one, run)
      }
      const run = held.withLocks(
        jobs.map(({ id }) => id),
        () => traceOperation('job', name, () => rejectOnFailure(runJobs), { jobs: jobs.length }),
      )
      running.add(run)
      try {
        await run
      } catch (error) {
        if (!stopping.signal.aborted) log.error({ err: error, job: name, data }, 'a job failed')
        throw error
      } finally {
        running.delete(run)
        kind.waitingToYield.delete(yieldSlot)
        if (hasYielded()) {
          kind.yielded -= 1
          const [next] = kind.waitingToYield
          next?.()
          await queue.offWork(name, { id: worker, wait: false })
        }
        // A notification wakes one worker for one job; further jobs would wait for the next poll.
        for (const idle of workers) queue.notifyWorker(idle)
      }
    })
    workers.push(worker)
  }

  async function sweep(queue: PgBoss, held: NonNullable<typeof locks>): Promise<void> {
    try {
      for (const { name, id } of await held.freeAbandoned(Object.keys(handlers))) {
        log.warn({ job: name, id }, 'a job of a dead server is retried')
        for (const idle of kinds.find((kind) => kind.name === name)?.workers ?? []) queue.notifyWorker(idle)
      }
      for (const { name, handler } of kinds) {
        const due = (await handler.findWork?.()) ?? []
        if (due.length === 0) continue
        const keys = due.map(({ key }) => key)
        const taken = handler.leavesKeysTo ? await held.listTakenKeys(handler.leavesKeysTo, keys) : new Set()
        const lost = due.filter(({ key }) => !taken.has(key))
        if (lost.length > 0) await queue.insert(name, lost.map(toInsert))
      }
    } catch (error) {
      if (!stopping.signal.aborted) log.warn({ err: error }, 'the sweep for lost jobs failed')
    }
  }

  const unsent = new Map<string, JobRequest[]>()

  /** Requests of one turn of the event loop share a statement. */
  function enqueue(name: string, request: JobRequest): void {
    const waiting = unsent.get(name)
    if (waiting) {
      waiting.push(request)
      return
    }
    const requests = [request]
    unsent.set(name, requests)
    setImmediate(() => {
      unsent.delete(name)
      boss?.insert(name, requests.map(toInsert)).catch((error: unknown) => {
        log.warn({ err: error, job: name }, `a job will be found later: ${messageOf(error)}`)
      })
    })
  }

  const started = start()
  started.catch((error: unknown) => {
    if (!stopping.signal.aborted) log.error({ err: error }, 'the job queue did not start')
  })

  return {
    started,
    enqueue,
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

async function createBoss(connection: pg.ClientConfig, log: Log): Promise<PgBoss> {
  const { PgBoss } = await import('pg-boss')
  const boss = new PgBoss({
    ...bossConnection(connection),
    schema: JOBS_SCHEMA,
    migrate: false,
    createSchema: false,
    schedule: false,
    reindex: false,
    useListenNotify: true,
    max: 4,
    superviseIntervalSeconds: 30,
    monitorIntervalSeconds: 30,
    maintenanceIntervalSeconds: MAINTENANCE_INTERVAL_S,
  })
  boss.on('error', (error) => log.warn({ err: error }, 'the job queue reported an error'))
  boss.on('warning', ({ message, data }) => log.warn({ data }, message))
  return boss
}

async function createQueues(boss: PgBoss, kinds: readonly Kind[]): Promise<void> {
  for (const { name, handler } of kinds) {
    const { expireInSeconds } = handler
    await boss.createQueue(name, {
      policy: 'exclusive',
      notify: true,
      expireInSeconds,
      retryLimit: 2,
      retryDelay: 1,
      retryBackoff: true,
      deleteAfterSeconds: DELETE_AFTER_S,
    })
    // `createQueue` does not change an existing queue.
    await boss.updateQueue(name, { expireInSeconds, deleteAfterSeconds: DELETE_AFTER_S })
  }
}

const toInsert = ({ key, data, priority = 0 }: JobRequest): JobInsert => ({ data, singletonKey: key, priority })

function bossConnection({ host, port, user, password, database, ssl, connectionString, options }: pg.ClientConfig) {
  return {
    ...Object.fromEntries(
      Object.entries({ host, port, user, password, database, ssl, connectionString, options }).filter(
        ([, value]) => value !== undefined,
      ),
    ),
    stream: createGuardedSocket,
  }
}
