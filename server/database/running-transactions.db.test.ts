import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDatabase } from '#test/database.ts'
import type { Scope } from './scope.ts'

const LOCK = 7_312
const WAIT = `select pg_advisory_xact_lock(${LOCK})`
const isEnded = { code: 'unauthenticated', details: { reason: 'ended' } }

/** A table of which each transaction writes one row, then waits until the test lets it go on. */
async function openWaitingDatabase() {
  const temporary = await temporaryDatabase()
  const { admin, database, running } = temporary
  await admin.query(
    'create table public.written (id text primary key); grant select, insert on public.written to authenticated, service_role',
  )
  const holder = await admin.connect()
  await holder.query(`select pg_advisory_lock(${LOCK})`)
  const letGo = () => holder.query('select pg_advisory_unlock_all()')
  onTestFinished(async () => {
    await letGo()
    holder.release()
  })
  const waiting = async () =>
    (await admin.query('select from pg_locks where locktype = $1 and not granted and objid = $2', ['advisory', LOCK]))
      .rowCount
  return {
    database,
    running,
    session: async () => ({ ...(await temporary.createPerson()), session_id: randomUUID() }),
    isWaiting: (count: number) => expect.poll(waiting).toBe(count),
    written: async () =>
      (await admin.query<{ id: string }>('select id from written order by id')).rows.map(({ id }) => id),
    letGo,
  }
}

/** Longer than polls take on a slow machine. */
const PATIENT = { settings: { lock_timeout: '60000', statement_timeout: '60000' } }

const writeAndWait = (id: string) => async (scope: Scope) => {
  await scope.query('insert into written values ($1)', [id])
  await scope.query(WAIT)
  return id
}

test('a transaction that runs when its session ends writes nothing; those of other sessions go on', async () => {
  const { database, running, session, isWaiting, written, letGo } = await openWaitingDatabase()
  const [ended, other] = [await session(), await session()]
  const inEnded = database.asUser(ended, writeAndWait('ended'), PATIENT)
  const inAnother = database.asUser({ ...ended, session_id: randomUUID() }, writeAndWait('another session'), PATIENT)
  const ofAnother = database.asUser(other, writeAndWait('another person'), PATIENT)
  await isWaiting(3)
  expect(running.sessions()).toContain(ended.session_id)
  running.endSession(ended.session_id)
  await expect(inEnded).rejects.toMatchObject(isEnded)
  await isWaiting(2)
  await letGo()
  expect(await Promise.all([inAnother, ofAnother])).toEqual(['another session', 'another person'])
  expect(await written()).toEqual(['another person', 'another session'])
  expect(running.sessions()).toEqual([])
})

test('a single statement ends with its session too', async () => {
  const { database, running, session, isWaiting, written, letGo } = await openWaitingDatabase()
  const claims = await session()
  const text = `insert into written select 'late' from (${WAIT}) as waited`
  const inEnded = database.userStatement(claims, { text, values: [] }, PATIENT)
  await isWaiting(1)
  running.endSession(claims.session_id)
  await expect(inEnded).rejects.toMatchObject(isEnded)
  await letGo()
  expect(await written()).toEqual([])
})

test('a transaction between two statements does not commit once its session has ended, and none begins', async () => {
  const { database, running, session, written } = await openWaitingDatabase()
  const claims = await session()
  const late = database.asUser(claims, async (scope) => {
    await scope.query(`insert into written values ('late')`)
    running.endSession(claims.session_id)
  })
  await expect(late).rejects.toMatchObject(isEnded)
  await expect(database.asUser(claims, (scope) => scope.query('select 1'))).rejects.toMatchObject(isEnded)
  const single = { text: `insert into written values ('later')`, values: [] }
  await expect(database.userStatement(claims, single)).rejects.toMatchObject(isEnded)
  expect(await written()).toEqual([])
  const again = { ...claims, session_id: randomUUID() }
  await database.asUser(again, (scope) => scope.query(`insert into written values ('again')`))
  expect(await written()).toEqual(['again'])
})

test('a statement that begins after the end of its session was missed by its connection is cancelled again', async () => {
  const { database, running, session, written } = await openWaitingDatabase()
  const claims = await session()
  const { promise: isBetween, resolve } = Promise.withResolvers<undefined>()
  const { promise: goOn, resolve: letGoOn } = Promise.withResolvers<undefined>()
  const late = database.asUser(
    claims,
    async (scope) => {
      await scope.query(`insert into written values ('late')`)
      const waiting = scope.query(WAIT)
      resolve(undefined)
      await goOn
      await waiting
    },
    PATIENT,
  )
  const isRefused = expect(late).rejects.toMatchObject(isEnded)
  await isBetween
  running.endSession(claims.session_id)
  letGoOn(undefined)
  await isRefused
  expect(await written()).toEqual([])
})

test('a transaction that waits for its connection does not begin once its session has ended', async () => {
  const { database, running, session, isWaiting, written, letGo } = await openWaitingDatabase()
  const claims = await session()
  const another = { ...claims, session_id: randomUUID() }
  // A person holds at most four connections.
  const holding = ['1', '2', '3', '4'].map((id) => database.asUser(another, writeAndWait(id), PATIENT))
  await isWaiting(4)
  const waiting = database.asUser(claims, (scope) => scope.query(`insert into written values ('late')`))
  const isRefused = expect(waiting).rejects.toMatchObject(isEnded)
  await expect.poll(() => running.sessions()).toContain(claims.session_id)
  running.endSession(claims.session_id)
  await letGo()
  await Promise.all([...holding, isRefused])
  expect(await written()).toEqual(['1', '2', '3', '4'])
})

test('a change of rights leaves alone what ends soon, and what serves no person', async () => {
  const { database, running, session, isWaiting, written, letGo } = await openWaitingDatabase()
  const ofPerson = database.asUser(await session(), writeAndWait('person'), { ...PATIENT, endsWithRights: true })
  const service = { role: 'service_role' } as const
  const ofService = database.asUser(service, writeAndWait('service'), { ...PATIENT, endsWithRights: true })
  await isWaiting(2)
  running.endWithRights()
  await expect(ofPerson).rejects.toMatchObject({ code: 'unavailable' })
  const soon = database.asUser(await session(), (scope) => scope.query(`insert into written values ('soon')`), {
    endsWithRights: true,
  })
  running.endWithRights()
  await soon
  await letGo()
  await ofService
  expect(await written()).toEqual(['service', 'soon'])
})

test('a statement that goes on long after rights of its person changed is broken off, where it wants to be', async () => {
  const { database, running, session, isWaiting, written, letGo } = await openWaitingDatabase()
  const [claims, other] = [await session(), await session()]
  const bound = database.asUser(claims, writeAndWait('bound'), { ...PATIENT, endsWithRights: true })
  const ofOther = database.asUser(other, writeAndWait('other'), { ...PATIENT, endsWithRights: true })
  const watched = database.asUser(claims, writeAndWait('watched'), PATIENT)
  await isWaiting(3)
  running.endWithRights(claims.sub)
  await expect(bound).rejects.toMatchObject({ code: 'unavailable', details: { retryAfterS: 1 } })
  await isWaiting(2)
  await letGo()
  expect(await Promise.all([ofOther, watched])).toEqual(['other', 'watched'])
  expect(await written()).toEqual(['other', 'watched'])
})
