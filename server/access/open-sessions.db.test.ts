import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test, vi } from 'vitest'
import { temporaryDatabase } from '#test/database.ts'
import { createTestTokens, tokenOf } from '#test/realtime.ts'
import { AppError } from '#server/base/errors.ts'
import { createLog } from '#server/base/log.ts'
import { openListener } from '#server/database/listen.ts'
import { requireOpenSessions } from './open-sessions.ts'

async function openSession(options: { everyoneHasFactor?: boolean } = {}) {
  const created = await temporaryDatabase()
  const { database, connection, admin } = created
  const listener = await openListener(connection, createLog('silent'))
  onTestFinished(() => listener.close())
  const plain = await createTestTokens()
  const tokens = await requireOpenSessions(plain, database, listener, options)
  const person = await created.createPerson()
  const sessionId = randomUUID()
  await admin.query('insert into auth.sessions (id, user_id) values ($1, $2)', [sessionId, person.sub])
  const now = Math.floor(Date.now() / 1000)
  const token = await plain.sign({ ...person, session_id: sessionId, iat: now, exp: now + 3600 })
  return { admin, listener, plain, tokens, person, sessionId, token }
}

test('accepts a token only while its session is open', async () => {
  const { admin, listener, tokens, person, sessionId, token } = await openSession()
  expect(await tokens.verify(token)).toMatchObject({ sub: person.sub, session_id: sessionId })
  const heard = new Promise((resolve) => void listener.on('realtime_session_end', resolve))
  await admin.query('delete from auth.sessions where id = $1', [sessionId])
  expect(await heard).toBe(sessionId)
  await expect(tokens.verify(token)).rejects.toMatchObject({ code: 'unauthenticated', details: { reason: 'ended' } })
})

test('notices a session end that was missed while the listener was disconnected', async () => {
  const { admin, listener, tokens, sessionId, token } = await openSession()
  await tokens.verify(token)
  const back = new Promise<void>((resolve) =>
    listener.onReconnect(() => {
      resolve()
    }),
  )
  await admin.query(
    `begin; set local session_replication_role = replica; delete from auth.sessions where id = '${sessionId}'; commit`,
  )
  await admin.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'alcove listener' and datname = current_database()`,
  )
  await back
  await expect(tokens.verify(token)).rejects.toMatchObject({ details: { reason: 'ended' } })
})

test('rejects a signed token of a session that never existed, but not the keys, which have no session', async () => {
  const { tokens, plain, person } = await openSession()
  await expect(tokens.verify(await tokenOf(plain, person))).rejects.toMatchObject({ details: { reason: 'ended' } })
  expect(await tokens.verify(plain.anonKey)).toMatchObject({ role: 'anon' })
  expect(await tokens.verify(plain.serviceRoleKey)).toMatchObject({ role: 'service_role' })
})

test('rejects a token of the first factor alone until the person removes the second one', async () => {
  const { admin, tokens, plain, person, sessionId, token } = await openSession()
  const now = Math.floor(Date.now() / 1000)
  const raised = await plain.sign({ ...person, aal: 'aal2', session_id: sessionId, iat: now, exp: now + 3600 })
  expect(await tokens.verify(token)).toMatchObject({ sub: person.sub })
  const verify = async (given: string) => {
    const error: unknown = await tokens.verify(given).then(
      () => undefined,
      (reason: unknown) => reason,
    )
    return error instanceof AppError ? error.details?.['reason'] : 'let in'
  }
  await admin.query(`insert into auth.mfa_factors (user_id, factor_type, status) values ($1, 'totp', 'unverified')`, [
    person.sub,
  ])
  expect(await verify(token)).toBe('let in')
  await admin.query(`update auth.mfa_factors set status = 'verified'`)
  await vi.waitUntil(async () => (await verify(token)) === 'second_factor')
  expect(await verify(raised)).toBe('let in')
  await admin.query('delete from auth.mfa_factors')
  expect(await verify(token)).toBe('let in')
})

test('accepts only aal2 tokens where everyone must have a second factor', async () => {
  const { tokens, plain, person, sessionId, token } = await openSession({ everyoneHasFactor: true })
  await expect(tokens.verify(token)).rejects.toMatchObject({
    code: 'unauthenticated',
    details: { reason: 'enrolment' },
  })
  const now = Math.floor(Date.now() / 1000)
  const raised = await plain.sign({ ...person, session_id: sessionId, aal: 'aal2', iat: now, exp: now + 3600 })
  expect(await tokens.verify(raised)).toMatchObject({ sub: person.sub })
  expect(await tokens.verify(plain.serviceRoleKey)).toMatchObject({ role: 'service_role' })
})
