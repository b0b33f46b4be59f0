import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createLog } from '#server/base/log.ts'
import { temporaryDatabase } from '#test/database.ts'
import type { JobHandler } from './handler.ts'
import { installJobs, JOBS_SCHEMA_VERSION } from './install.ts'
import { holdJobLocks, type JobLocks } from './job-locks.ts'
import { type Jobs, startJobs } from './start.ts'

const log = createLog('silent')

function recorder(options: Partial<JobHandler> = {}) {
  const seen: unknown[] = []
  const waiting: (() => void)[] = []
  const handler: JobHandler = {
    concurrency: 1,
    expireInSeconds: 60,
    async run(data) {
      seen.push(data)
      for (const resolve of waiting.splice(0)) resolve()
    },
    ...options,
  }
  const next = () => new Promise<void>((resolve) => waiting.push(resolve))
  return { seen, handler, next }
}

function stopAtEnd(jobs: Jobs): Jobs {
  onTestFinished(() => jobs.stop())
  return jobs
}

test('the expected schema version is the one of the installed package', async () => {
  const manifest: unknown = JSON.parse(await readFile('node_modules/pg-boss/package.json', 'utf8'))
  expect(manifest).toMatchObject({ pgboss: { schema: JOBS_SCHEMA_VERSION } })
})

test('a requested job runs at once, without waiting for a poll', async () => {
  const { connection, adminConnection } = await temporaryDatabase()
  await installJobs(adminConnection)
  await installJobs(adminConnection)
  const { seen, handler, next } = recorder()
  const jobs = stopAtEnd(startJobs({ connection, log, handlers: { greet: handler }, sweepIntervalMs: 60_000 }))
  await jobs.started
  const run = next()
  jobs.enqueue('greet', { key: 'a', data: { word: 'hello' } })
  await run
  expect(seen).toEqual([{ word: 'hello' }])
})

test('a job that throws is run again', async () => {
  const { connection, adminConnection } = await temporaryDatabase()
  await installJobs(adminConnection)
  let tries = 0
  const twice = Promise.withResolvers<undefined>()
  const { handler } = recorder({
    run: async () => {
      tries += 1
      if (tries === 1) throw new Error('not this time')
      twice.resolve(undefined)
    },
  })
  const jobs = stopAtEnd(startJobs({ connection, log, handlers: { greet: handler } }))
  await jobs.started
  jobs.enqueue('greet', { key: 'a', data: {} })
  await twice.promise
  expect(tries).toBe(2)
})

test('jobs that wait run together, those with precedence first, and all again if their run throws', async () => {
  const { connection, adminConnection } = await temporaryDatabase()
  await installJobs(adminConnection)
  const batches: string[][] = []
  const ended = Promise.withResolvers<undefined>()
  const { handler } = recorder({
    batch: {
      size: 2,
      run: async (data) => {
        batches.push(data.map((one) => (one as { word: string }).word).toSorted())
        if (batches.length === 1) throw new Error('not this time')
        if (new Set(batches.slice(1).flat()).size === 5) ended.resolve(undefined)
      },
    },
    findWork: async () =>
      ['a', 'b', 'c', 'd', 'e'].map((word, index) => ({ key: word, data: { word }, priority: -index })),
  })
  stopAtEnd(startJobs({ connection, log, handlers: { greet: handler }, sweepIntervalMs: 60_000 }))
  await ended.promise
  expect(batches.slice(0, 2)).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ])
  for (const batch of batches) expect(batch.length).toBeLessThanOrEqual(2)
})

test('a sweep leaves a key to the queue that already has it', async () => {
  const { connection, adminConnection, admin } = await temporaryDatabase()
  await installJobs(adminConnection)
  const released = Promise.withResolvers<undefined>()
  const began = Promise.withResolvers<undefined>()
  const done = Promise.withResolvers<undefined>()
  const seen: string[] = []
  const together: JobHandler = {
    concurrency: 1,
    expireInSeconds: 60,
    run: async () => {
      began.resolve(undefined)
      await released.promise
    },
    findWork: async () => [{ key: 'a', data: {} }],
  }
  const alone: JobHandler = {
    concurrency: 1,
    expireInSeconds: 60,
    leavesKeysTo: ['together'],
    run: async (data) => {
      seen.push(JSON.stringify(data))
      if (seen.length === 1) done.resolve(undefined)
    },
    findWork: async () => [
      { key: 'a', data: { key: 'a' } },
      { key: 'b', data: { key: 'b' } },
    ],
  }
  stopAtEnd(startJobs({ connection, log, handlers: { together, alone }, sweepIntervalMs: 60_000 }))
  await Promise.all([began.promise, done.promise])
  const { rows } = await admin.query(`select singleton_key from pgboss.job where name = 'alone'`)
  expect(rows).toEqual([{ singleton_key: 'b' }])
  expect(seen).toEqual(['{"key":"b"}'])
  released.resolve(undefined)
})

test('due work without a job is found, and only once while its job waits', async () => {
  const { connection, adminConnection, admin } = await temporaryDatabase()
  await installJobs(adminConnection)
  const { seen, handler, next } = recorder({
    findWork: async () => (seen.length === 0 ? [{ key: 'lost', data: { found: true } }] : []),
  })
  const run = next()
  const jobs = stopAtEnd(startJobs({ connection, log, handlers: { search: handler } }))
  await jobs.started
  await run
  expect(seen).toEqual([{ found: true }])
  const rows = await admin.query(`select from pgboss.job where name = 'search'`)
  expect(rows.rowCount).toBe(1)
})

test('finished jobs are kept for minutes, also in a queue that an earlier version created', async () => {
  const { connection, adminConnection, admin } = await temporaryDatabase()
  await installJobs(adminConnection)
  const before = startJobs({ connection, log, handlers: { greet: recorder().handler } })
  await before.started
  await before.stop()
  await admin.query(`update pgboss.queue set deletion_seconds = 86400`)
  const { handler, next } = recorder()
  const jobs = stopAtEnd(startJobs({ connection, log, handlers: { greet: handler } }))
  await jobs.started
  const run = next()
  jobs.enqueue('greet', { key: 'a', data: {} })
  await run
  const { rows } = await admin.query(`select deletion_seconds from pgboss.job where name = 'greet'`)
  expect(rows).toEqual([{ deletion_seconds: 600 }])
})

test('the next server retries a job of a dead one', async () => {
  const { connection, adminConnection, admin } = await temporaryDatabase()
  await installJobs(adminConnection)
  const first = recorder()
  const before = startJobs({ connection, log, handlers: { greet: first.handler } })
  await before.started
  await before.stop()
  // The state after a killed server: an active job without a lock.
  await admin.query(
    `insert into pgboss.job (id, name, data, state, started_on, singleton_key, policy, retry_limit)
     values ($1, 'greet', '{"n":1}', 'active', now() - interval '1 minute', 'a', 'exclusive', 2)`,
    [randomUUID()],
  )
  const second = recorder()
  const run = second.next()
  const jobs = stopAtEnd(startJobs({ connection, log, handlers: { greet: second.handler } }))
  await jobs.started
  await run
  expect(second.seen).toEqual([{ n: 1 }])
})

test('a job that was claimed just before its server died does not wait for the regular sweep', async () => {
  const { connection, adminConnection, admin } = await temporaryDatabase()
  await installJobs(adminConnection)
  const before = startJobs({ connection, log, handlers: { greet: recorder().handler } })
  await before.started
  await before.stop()
  await admin.query(
    `insert into pgboss.job (id, name, data, state, started_on, singleton_key, policy, retry_limit)
     values ($1, 'greet', '{"n":1}', 'active', now(), 'a', 'exclusive', 0)`,
    [randomUUID()],
  )
  const second = recorder()
  const run = second.next()
  const jobs = stopAtEnd(
    startJobs({ connection, log, handlers: { greet: second.handler }, sweepIntervalMs: 3_600_000 }),
  )
  await jobs.started
  await run
  expect(second.seen).toEqual([{ n: 1 }])
})

test('the sweep of another server leaves a running job alone', async () => {
  const { connection, adminConnection, admin } = await temporaryDatabase()
  await installJobs(adminConnection)
  const begun = Promise.withResolvers<undefined>()
  const finish = Promise.withResolvers<undefined>()
  const { handler } = recorder({
    run: async () => {
      begun.resolve(undefined)
      await finish.promise
    },
  })
  const working = stopAtEnd(startJobs({ connection, log, handlers: { greet: handler } }))
  await working.started
  working.enqueue('greet', { key: 'a', data: {} })
  await begun.promise
  await admin.query(`update pgboss.job set started_on = now() - interval '1 minute' where name = 'greet'`)
  const other = recorder()
  const idle = startJobs({ connection, log, handlers: { greet: other.handler } })
  await idle.started
  await idle.stop()
  expect(other.seen).toEqual([])
  finish.resolve(undefined)
})

test('a job that gives up its slot lets the next one begin, and afterwards they run one by one again', async () => {
  const { connection, adminConnection } = await temporaryDatabase()
  await installJobs(adminConnection)
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  let running = 0
  let most = 0
  const { handler } = recorder({
    run: async (data, { yieldSlot }) => {
      const { name } = data as { name: string }
      begun.push(name)
      if (name === 'patient') yieldSlot()
      else running += 1
      most = Math.max(most, running)
      await new Promise<void>((resolve) => ends.set(name, resolve))
      if (name !== 'patient') running -= 1
    },
  })
  const jobs = stopAtEnd(startJobs({ connection, log, handlers: { greet: handler }, sweepIntervalMs: 3_600_000 }))
  await jobs.started
  const hasBegun = (count: number) => expect.poll(() => begun.length, { timeout: 10_000 }).toBe(count)
  jobs.enqueue('greet', { key: 'patient', data: { name: 'patient' } })
  await hasBegun(1)
  for (const name of ['a', 'b', 'c', 'd']) jobs.enqueue('greet', { key: name, data: { name } })
  await hasBegun(2)
  ends.get('patient')?.()
  for (const count of [3, 4, 5]) {
    ends.get(begun.at(-1) ?? '')?.()
    await hasBegun(count)
  }
  ends.get(begun.at(-1) ?? '')?.()
  expect(begun.toSorted()).toEqual(['a', 'b', 'c', 'd', 'patient'])
  expect(most).toBe(1)
})

test('a job that could not give up its slot does so when another one ends', async () => {
  const { connection, adminConnection } = await temporaryDatabase()
  await installJobs(adminConnection)
  const ends: (() => void)[] = []
  const last = Promise.withResolvers<undefined>()
  const { handler } = recorder({
    run: async (data, { yieldSlot }) => {
      if ((data as { isLast: boolean }).isLast) return last.resolve(undefined)
      yieldSlot()
      await new Promise<void>((resolve) => ends.push(resolve))
    },
  })
  const jobs = stopAtEnd(startJobs({ connection, log, handlers: { greet: handler }, sweepIntervalMs: 3_600_000 }))
  await jobs.started
  const most = 65
  for (let n = 0; n < most; n += 1) jobs.enqueue('greet', { key: String(n), data: { isLast: false }, priority: 1 })
  await expect.poll(() => ends.length, { timeout: 60_000 }).toBe(most)
  jobs.enqueue('greet', { key: 'last', data: { isLast: true } })
  ends[0]?.()
  await last.promise
  for (const end of ends) end()
})

test('stopping aborts running jobs', async () => {
  const { connection, adminConnection } = await temporaryDatabase()
  await installJobs(adminConnection)
  const begun = Promise.withResolvers<undefined>()
  const { handler } = recorder({
    run: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        begun.resolve(undefined)
        signal.addEventListener('abort', () => reject(new Error('stopped')))
      }),
  })
  const jobs = startJobs({ connection, log, handlers: { greet: handler } })
  await jobs.started
  jobs.enqueue('greet', { key: 'a', data: {} })
  await begun.promise
  await jobs.stop()
})

test('neither people nor anonymous callers reach the queue', async () => {
  const created = await temporaryDatabase()
  const { adminConnection, database } = created
  await installJobs(adminConnection)
  const person = await created.createPerson()
  for (const claims of [person, { role: 'anon' as const }]) {
    const attempt = database.asUser(claims, (scope) => scope.query('select from pgboss.job'))
    await expect(attempt).rejects.toThrow(/permission denied for schema pgboss/)
  }
})

test('the login role reaches the queue only as the service role', async () => {
  const { connection, adminConnection } = await temporaryDatabase()
  await installJobs(adminConnection)
  const client = new pg.Client(connection)
  await client.connect()
  onTestFinished(() => client.end())
  await expect(client.query('select from pgboss.job')).rejects.toThrow(/permission denied/)
})

test('jobs that begin, end and are looked for at the same time send one statement after the other', async () => {
  const { connection, adminConnection } = await temporaryDatabase()
  await installJobs(adminConnection)
  const warnings: string[] = []
  const hear = ({ message }: Error): number => warnings.push(message)
  process.on('warning', hear)
  const locks = await holdJobLocks({ ...connection, options: '-c role=service_role' }, log)
  onTestFinished(async () => {
    process.off('warning', hear)
    await locks.release()
  })
  const held: string[] = []
  const run = (id: string) => locks.withLocks([id], () => Promise.resolve(void held.push(id)))
  await Promise.all([run(randomUUID()), locks.freeAbandoned(['greet']), run(randomUUID()), run(randomUUID())])
  await new Promise(setImmediate)
  expect(held).toHaveLength(3)
  expect(warnings).toEqual([])
})

async function openJobLocks() {
  const { connection, adminConnection, admin } = await temporaryDatabase()
  await installJobs(adminConnection)
  const open = async () => {
    const locks = await holdJobLocks({ ...connection, options: '-c role=service_role' }, log)
    onTestFinished(() => locks.release())
    return locks
  }
  const countLocks = async () => {
    const { rows } = await admin.query<{ count: number }>(
      `select count(*)::int as count from pg_locks l join pg_stat_activity a using (pid)
       where l.locktype = 'advisory' and l.granted and a.application_name = 'alcove jobs'`,
    )
    return rows[0]?.count
  }
  const cutConnections = () =>
    admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'alcove jobs'`)
  return { open, countLocks, cutConnections }
}

const runNothing = () => Promise.resolve()
const isReachable = async (locks: JobLocks) =>
  locks.freeAbandoned(['greet']).then(
    () => true,
    () => false,
  )

test('a job that still runs on this server is not begun here again, and its lock ends with it', async () => {
  const { open, countLocks } = await openJobLocks()
  const locks = await open()
  const job = randomUUID()
  await locks.withLocks([job], async () => {
    await expect(locks.withLocks([job], runNothing)).rejects.toThrow('this server still runs this job')
    expect(await countLocks()).toBe(1)
  })
  expect(await countLocks()).toBe(0)
})

test('a job whose lock failed with its connection is not locked on the next one', async () => {
  const { open, countLocks, cutConnections } = await openJobLocks()
  const locks = await open()
  await cutConnections()
  await expect(locks.withLocks([randomUUID()], runNothing)).rejects.toThrow()
  await expect.poll(() => isReachable(locks), { timeout: 10_000 }).toBe(true)
  expect(await countLocks()).toBe(0)
})

test('a job that another server still runs is refused at once, and free when it has ended there', async () => {
  const { open, countLocks } = await openJobLocks()
  const [first, second] = [await open(), await open()]
  const [job, other] = [randomUUID(), randomUUID()]
  await first.withLocks([job], async () => {
    await expect(second.withLocks([other, job], runNothing)).rejects.toThrow('another server still runs this job')
    expect(await countLocks()).toBe(1)
  })
  await second.withLocks([job], runNothing)
  expect(await countLocks()).toBe(0)
})

test('a server whose job another one took over reconnects while that one runs it', async () => {
  const { open, countLocks, cutConnections } = await openJobLocks()
  const first = await open()
  const job = randomUUID()
  await first.withLocks([job], async () => {
    await cutConnections()
    const second = await open()
    await second.withLocks([job], async () => {
      await expect.poll(() => isReachable(first), { timeout: 10_000 }).toBe(true)
    })
    expect(await countLocks()).toBe(0)
  })
  expect(await countLocks()).toBe(0)
})

test('a job that runs is locked again on the next connection, and unlocked there', async () => {
  const { open, countLocks, cutConnections } = await openJobLocks()
  const locks = await open()
  await locks.withLocks([randomUUID()], async () => {
    await cutConnections()
    await expect.poll(() => isReachable(locks), { timeout: 10_000 }).toBe(true)
    expect(await countLocks()).toBe(1)
  })
  expect(await countLocks()).toBe(0)
})
