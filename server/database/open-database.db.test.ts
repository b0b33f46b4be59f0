import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { createLog } from '#server/base/log.ts'
import { temporaryDatabase } from '#test/database.ts'
import { openDatabase } from './open-database.ts'
import type { ApiRole, Claims, Scope } from './scope.ts'

const WHO = `select current_user as role, auth.uid() as uid, current_setting('request.method', true) as method`

/** One connection, so that the next caller would see any leftover state. */
async function openNarrowDatabase() {
  const temporary = await temporaryDatabase()
  const { close, ...opened } = openDatabase({ ...temporary.connection, max: 1 }, createLog('silent'))
  onTestFinished(close)
  return { ...opened, createPerson: () => temporary.createPerson(), admin: temporary.admin }
}

const who = async (scope: Scope) =>
  (await scope.query<{ role: string; uid: string | null; method: string | null }>(WHO)).rows[0]

test('leaves nothing of one caller to the next on the same connection, not even after a failure', async () => {
  const { database, createPerson } = await openNarrowDatabase()
  const [first, second] = [await createPerson(), await createPerson()]
  const settings = { 'request.method': 'POST' }
  expect(await database.asUser(first, who, { settings })).toEqual({
    role: 'authenticated',
    uid: first.sub,
    method: 'POST',
  })
  await expect(database.asUser(first, (scope) => scope.query('select 1 / 0'), { settings })).rejects.toThrow(
    'division by zero',
  )
  expect(await database.asUser(second, who)).toEqual({ role: 'authenticated', uid: second.sub, method: '' })
  expect(await database.asUser({ role: 'anon' }, who)).toMatchObject({ role: 'anon', uid: null })
  expect(await database.asService(who)).toMatchObject({ role: 'service_role', uid: null })
})

test('concurrent callers each have their own claims', async () => {
  const { database, createPerson } = await openNarrowDatabase()
  const people = await Promise.all(Array.from({ length: 6 }, () => createPerson()))
  const seen = await Promise.all(people.map((person) => database.asUser(person, who)))
  expect(seen.map((row) => row?.uid)).toEqual(people.map(({ sub }) => sub))
})

test('runs nothing where the role cannot be set', async () => {
  const { database } = await openNarrowDatabase()
  const table = `t_${randomUUID().replaceAll('-', '')}`
  await expect(
    database.asUser({ role: 'postgres' as ApiRole }, (scope) => scope.query(`create table public.${table} ()`)),
  ).rejects.toThrow(/permission denied to set role/)
  const found = await database.asService((scope) => scope.query('select to_regclass($1) as made', [`public.${table}`]))
  expect(found.rows).toEqual([{ made: null }])
})

test('a single service statement commits, or leaves nothing behind', async () => {
  const { database, createPerson } = await openNarrowDatabase()
  const { sub } = await createPerson()
  const insert = `insert into conversations (uid, model_name) values ($1, 'm') returning current_user as role`
  expect((await database.serviceStatement(insert, [sub])).rows).toEqual([{ role: 'service_role' }])
  await expect(database.serviceStatement(insert, [randomUUID()])).rejects.toMatchObject({ code: '23503' })
  const counted = await database.serviceStatement('select count(*) from conversations')
  expect(counted.rows).toEqual([{ count: 1 }])
})

test('a single user statement reports failures of the statement and the commit, and the connection stays usable', async () => {
  const { database, createPerson, admin } = await openNarrowDatabase()
  const person = await createPerson()
  await admin.query(`create table public.steps (id int primary key, after int references public.steps deferrable initially deferred);
    grant select, insert on public.steps to authenticated`)
  const add = (values: string) =>
    database.userStatement(person, { text: `insert into public.steps values ${values}`, values: [] })
  expect((await add('(1, 2), (2, null)')).rowCount).toBe(2)
  await expect(add('(3, 4)')).rejects.toMatchObject({ code: '23503' })
  await expect(add('(1, null)')).rejects.toMatchObject({ code: '23505' })
  const stored = await database.asUser(person, (scope) => scope.query('select id from public.steps order by id'))
  expect(stored.rows).toEqual([{ id: 1 }, { id: 2 }])
  expect(await database.asUser({ role: 'anon' }, who)).toMatchObject({ role: 'anon', uid: null })
})

test('a repeated statement of requests stays planned, and shows each caller their own rows', async () => {
  const { database, createPerson } = await openNarrowDatabase()
  const people = [await createPerson(), await createPerson()]
  const text = 'select c.uid, $1::text as given from conversations c order by c.id'
  const isPlanned = `select count(*) as plans from pg_prepared_statements where statement = $1`
  const plans: unknown[] = []
  for (const [index, person] of [...people, ...people, ...people].entries()) {
    await database.asUser(person, async (scope) => {
      await scope.query(`insert into conversations (model_name) values ('m')`)
      const { rows } = await scope.preparedOnRepeat<{ uid: string; given: string }>(text, [String(index)])
      expect(rows).toEqual(Array.from(rows, () => ({ uid: person.sub, given: String(index) })))
      expect(rows).toHaveLength(1 + Math.floor(index / 2))
      plans.push((await scope.query(isPlanned, [text])).rows[0]?.['plans'])
    })
  }
  expect(plans).toEqual([0, 0, 1, 1, 1, 1])
  expect(
    (await database.asUser({ role: 'service_role' }, (scope) => scope.preparedOnRepeat(text, ['all']))).rows,
  ).toHaveLength(6)
  await expect(
    database.asUser({ role: 'anon' }, (scope) => scope.preparedOnRepeat(text, ['none'])),
  ).rejects.toMatchObject({
    code: '42501',
  })
})

test('long statements of requests are not prepared, and many others end no later one’s plan', async () => {
  const { database, createPerson } = await openNarrowDatabase()
  const person = await createPerson()
  const counting = `select count(*)::int as prepared from pg_prepared_statements where statement like $1`
  const repeat = (texts: readonly string[]) =>
    database.asUser(person, async (scope) => {
      for (const text of texts) for (let use = 0; use < 4; use += 1) await scope.preparedOnRepeat(text)
    })
  const countPrepared = async (pattern: string) =>
    (await database.asUser(person, (scope) => scope.query<{ prepared: number }>(counting, [pattern]))).rows[0]?.prepared
  await repeat([`select '${'long'.repeat(3_000)}'`])
  expect(await countPrepared(`select 'long%`)).toBe(0)
  await repeat(Array.from({ length: 300 }, (_, index) => `select 'flood', ${index}`))
  expect(await countPrepared(`select 'flood'%`)).toBe(100)
  await repeat([`select 'honest'`])
  expect(await countPrepared(`select 'honest'%`)).toBe(1)
  // One that was ended is prepared again.
  await repeat([`select 'flood', 0`])
  expect(await countPrepared(`select 'flood', 0`)).toBe(1)
  const failing = `select 1 / $1::int, 'failing'`
  for (let use = 0; use < 4; use += 1) {
    const divided = database.asUser(person, (scope) => scope.preparedOnRepeat(failing, [0]))
    await expect(divided).rejects.toMatchObject({ code: '22012' })
  }
  await repeat(Array.from({ length: 150 }, (_, index) => `select 'later', ${index}`))
  expect(await countPrepared(`%'failing'%`)).toBe(0)
})

test('a read-only transaction rejects writes', async () => {
  const { database, createPerson } = await openNarrowDatabase()
  const person = await createPerson()
  const write = (scope: Scope) => scope.query(`insert into conversations (model_name) values ('m')`)
  await expect(database.asUser(person, write, { readOnly: true })).rejects.toMatchObject({ code: '25006' })
})

test('a batch reads with the own claims of each person, whatever the read before has set', async () => {
  const { database, batchReader, createPerson } = await openNarrowDatabase()
  const [first, second] = [await createPerson(), await createPerson()]
  const spoiling = `select set_config('role', 'service_role', true), set_config('request.jwt.claims', '{}', true)`
  const answers = await batchReader.readAsEach('authenticated', [
    { claims: first, text: WHO, values: [] },
    { claims: first, text: spoiling, values: [] },
    { claims: second, text: WHO, values: [] },
  ])
  expect([answers[0], answers[2]].map((answer) => answer?.rows[0])).toMatchObject([
    { role: 'authenticated', uid: first.sub },
    { role: 'authenticated', uid: second.sub },
  ])
  expect(await database.asUser({ role: 'anon' }, who)).toMatchObject({ role: 'anon', uid: null })
})

test('a read for many answers in their order, each as its own person, whatever the read before has set', async () => {
  const { database, batchReader, createPerson } = await openNarrowDatabase()
  // Claims in an array literal: quotes, backslashes, braces and commas must stay.
  const names = ['Ada', String.raw`"a\", {b},NULL`, "it's\n\t'é"]
  const people: Claims[] = []
  for (const name of names) people.push({ ...(await createPerson()), user_metadata: { name } })
  const given = ["it's", null, String.raw`{"a": "\\"}`]
  const whoWith = {
    text: `select w.*, auth.jwt() -> 'user_metadata' as metadata, $1::text[] as given from (${WHO}) w`,
    values: [given],
  }
  const spoiling = {
    text: `select set_config('role', 'service_role', true), set_config('request.jwt.claims', '{}', true) from unnest($1::int[])`,
    values: [[1]],
  }
  for (const run of ['prepares it', 'uses the prepared one']) {
    const answers = await batchReader.readAsEach('authenticated', [
      { claims: { role: 'authenticated' }, ...spoiling },
      { people, ...whoWith },
      { people, ...spoiling },
      { people: people.toReversed(), ...whoWith },
      { people, text: 'select 1 from unnest($1::uuid[])', values: [[]] },
    ])
    const found = ({ sub, user_metadata: metadata }: Claims) => ({
      found: [{ role: 'authenticated', uid: sub, metadata, given }],
    })
    expect(answers[1]?.rows, run).toMatchObject(people.map(found))
    expect(answers[3]?.rows, run).toMatchObject(people.toReversed().map(found))
    expect(answers[4]?.rows, run).toEqual(people.map(() => ({ found: [] })))
  }
  expect(await database.asUser({ role: 'anon' }, who)).toMatchObject({ role: 'anon', uid: null })
})

test('only the login role reads as others', async () => {
  const { admin, database, createPerson } = await openNarrowDatabase()
  const [attacker, victim] = [await createPerson(), await createPerson()]
  const call = `select found_rows from realtime.read_as_each('service_role', array[$1], 'select 1', '[]')`
  for (const claims of [attacker, { role: 'anon' } as const, { role: 'service_role' } as const]) {
    const reading = database.asUser(claims, (scope) => scope.query(call, [JSON.stringify(victim)]))
    await expect(reading).rejects.toMatchObject({ code: '42501' })
  }
  const { rows } = await admin.query(
    `select grantee from information_schema.routine_privileges where routine_name = 'read_as_each' and grantee <> grantor`,
  )
  expect(rows).toEqual([{ grantee: 'authenticator' }])
})

test('further reads of a batch see the snapshot of the first ones, each as its own person', async () => {
  const { admin, database, batchReader, createPerson } = await openNarrowDatabase()
  const [first, second] = [await createPerson(), await createPerson()]
  const id = randomUUID()
  await admin.query(`insert into conversations (id, uid, title, model_name) values ($1, $2, 'Before', 'm')`, [
    id,
    first.sub,
  ])
  const read = { text: 'select title from conversations where id = $1', values: [id] }
  const changing = await admin.connect()
  await changing.query('select pg_advisory_lock(7)')
  const changes: Promise<unknown>[] = []
  const answers = await batchReader.readAsEach('authenticated', [{ claims: first, ...read }], () => {
    changes.push(
      changing.query(`update conversations set title = 'After', uid = $2 where id = $1`, [id, second.sub]),
      changing.query('select pg_advisory_unlock(7)'),
    )
    const untilChanged = { text: 'select pg_advisory_xact_lock(7)', values: [] }
    return [untilChanged, read].flatMap((next) => [first, second].map((claims) => ({ claims, ...next })))
  })
  await Promise.all(changes)
  changing.release()
  expect([0, 3, 4].map((index) => answers[index]?.rows)).toEqual([[{ title: 'Before' }], [{ title: 'Before' }], []])
  expect((await database.asUser(second, (scope) => scope.query(read.text, read.values))).rows).toEqual([
    { title: 'After' },
  ])
  const failing = { claims: first, text: 'select 1 / $1::int', values: [0] }
  await expect(batchReader.readAsEach('authenticated', [{ claims: first, ...read }], () => [failing])).rejects.toThrow(
    'division by zero',
  )
})

test('a batch fails as a whole, and cannot write', async () => {
  const { database, batchReader, createPerson } = await openNarrowDatabase()
  const person = await createPerson()
  const after = { claims: person, text: WHO, values: [] }
  const failing = { claims: person, text: 'select 1 / $1::int', values: [0] }
  await expect(batchReader.readAsEach('authenticated', [failing, after])).rejects.toThrow('division by zero')
  const writing = { claims: person, text: `insert into conversations (model_name) values ('m')`, values: [] }
  await expect(batchReader.readAsEach('authenticated', [writing])).rejects.toMatchObject({ code: '25006' })
  expect(await database.asUser(person, who)).toMatchObject({ uid: person.sub })
})

test('a write with a group flush is durable when it resolves', async () => {
  const { database, createPerson } = await openNarrowDatabase()
  const person = await createPerson()
  const setting = `select current_setting('synchronous_commit') as commits`
  const written = await database.asUser(
    person,
    async (scope) => {
      await scope.query(`insert into conversations (model_name) values ('m')`)
      return (await scope.query(`${setting}, pg_current_wal_insert_lsn() as position`)).rows[0]
    },
    { groupFlush: true },
  )
  const { rows } = await database.asService((scope) =>
    scope.query(`${setting}, pg_current_wal_flush_lsn() > $1::pg_lsn as "isFlushed"`, [written?.['position']]),
  )
  expect([written, ...rows]).toMatchObject([{ commits: 'off' }, { commits: 'on', isFlushed: true }])
  const insert = (scope: Scope) =>
    scope.query(`insert into conversations (model_name, uid) values ('m', gen_random_uuid())`)
  await expect(database.asUser(person, insert, { groupFlush: true })).rejects.toMatchObject({ code: '42501' })
})

test('waiting for a flush holds no connection', async () => {
  const { database, serviceChannel, createPerson } = await openNarrowDatabase()
  const person = await createPerson()
  const insert = `insert into conversations (uid, model_name) values ($1, 'm') returning pg_current_wal_insert_lsn() as position`
  const ahead = await Promise.all(
    Array.from({ length: 10 }, () => serviceChannel.statement<{ position: string }>(insert, [person.sub])),
  )
  // The pool has only this connection.
  expect(await database.asUser(person, who)).toMatchObject({ uid: person.sub })
  await Promise.all(ahead.map(({ flushed }) => flushed()))
  const written = ahead.flatMap(({ rows }) => rows)
  const { rows } = await database.asService((scope) =>
    scope.query(
      `select bool_and(pg_current_wal_flush_lsn() > position) as "areFlushed"
       from unnest($1::pg_lsn[]) as written (position)`,
      [written.map(({ position }) => position)],
    ),
  )
  expect([written.length, rows]).toEqual([10, [{ areFlushed: true }]])
})

test('the service channel runs on connections of its own', async () => {
  const { database, serviceChannel, createPerson, admin } = await openNarrowDatabase()
  const person = await createPerson()
  const standing = `select current_user as role, auth.role() as claimed, current_setting('synchronous_commit') as commits,
    pg_backend_pid() as pid`
  const ask = async () => (await serviceChannel.statement<{ pid: number }>(standing, [])).rows[0]
  const first = await ask()
  expect(first).toMatchObject({ role: 'service_role', claimed: 'service_role', commits: 'off' })
  await expect(serviceChannel.statement('select 1 / $1::int', [0])).rejects.toThrow('division by zero')
  expect(await ask()).toEqual(first)
  expect(await database.asUser(person, who)).toMatchObject({ role: 'authenticated', uid: person.sub })
  await admin.query('select pg_terminate_backend($1)', [first?.pid])
  await expect
    .poll(() =>
      ask().then(
        (row) => row?.pid,
        () => first?.pid,
      ),
    )
    .not.toBe(first?.pid)
  expect(await ask()).toMatchObject({ role: 'service_role', claimed: 'service_role', commits: 'off' })
})

test('the pool keeps a minimum of idle connections', async () => {
  const temporary = await temporaryDatabase()
  const { database, close } = openDatabase(
    { ...temporary.connection, application_name: 'kept', idleTimeoutMillis: 1 },
    createLog('silent'),
  )
  onTestFinished(close)
  const connected = `select count(*) as connections from pg_stat_activity where application_name = 'kept'`
  const ask = () => database.serviceStatement<{ connections: number }>(connected)
  await Promise.all(Array.from({ length: 20 }, ask))
  await expect.poll(async () => (await ask()).rows[0]?.connections).toBe(4)
})

test('plans inline the claims of the caller and call no function for them', async () => {
  const { database, createPerson } = await openNarrowDatabase()
  const person = await createPerson()
  const { rows } = await database.asUser(person, (scope) =>
    scope.query<{ 'QUERY PLAN': string }>('explain (verbose) select from conversations'),
  )
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  expect(plan).toContain('request.jwt.claims')
  expect(plan).not.toMatch(/auth\.(?:uid|jwt)\(/)
})
