import { expect, onTestFinished, test } from 'vitest'
import { PASSWORD, startAuthService } from '#test/auth-service.ts'
import { sweepAuth } from './sweep.ts'

test('sweeping removes what is over and leaves what still counts', async () => {
  const service = await startAuthService()
  onTestFinished(() => service.close())
  const { session } = await service.signedIn('kept@example.test')
  const abandoned = await service.signedIn('abandoned@example.test')
  await service.newClient().auth.signUp({ email: 'pending@example.test', password: PASSWORD })
  await service.newClient().auth.signUp({ email: 'expired@example.test', password: PASSWORD })
  const { client } = await service.signedIn('enrolling@example.test')
  for (const friendlyName of ['unfinished', 'begun']) await client.auth.mfa.enroll({ factorType: 'totp', friendlyName })
  await service.newPkceClient().auth.resetPasswordForEmail('kept@example.test')
  await service.newPkceClient().auth.resetPasswordForEmail('enrolling@example.test')
  await service.admin.query(
    `update auth.flow_state set created_at = now() - interval '3 days'
     where user_id = (select id from auth.users where email = 'enrolling@example.test')`,
  )
  await service.admin.query(
    `update auth.mfa_factors set created_at = now() - interval '25 hours' where friendly_name = 'unfinished'`,
  )
  await service.admin.query(
    `update auth.one_time_tokens set expires_at = now() where relates_to = 'expired@example.test'`,
  )
  await service.admin.query(`update auth.rate_limits set tokens = 0, updated_at = now() where key like 'token:%'`)
  await service.admin.query(
    `update auth.rate_limits set updated_at = now() - interval '1 day' where key like 'signup:%'`,
  )

  await service.admin.query(
    `update auth.sessions set created_at = now() - interval '20 days', refreshed_at = now() - interval '15 days'
     where user_id = $1`,
    [abandoned.session.user.id],
  )
  await service.admin.query(
    `update auth.sessions set created_at = now() - interval '29 days', refreshed_at = now() - interval '13 days'
     where user_id = $1`,
    [session.user.id],
  )

  await service.admin.query(
    `insert into auth.mfa_challenges (factor_id, created_at)
     select id, now() - n * interval '40 minutes' from auth.mfa_factors, generate_series(1, 2) n where friendly_name = 'begun'`,
  )

  await sweepAuth(service.database, { sessionDays: 30, sessionIdleDays: 14 })
  expect((await service.admin.query('select from auth.mfa_challenges')).rowCount).toBe(1)
  const left = await service.admin.query<{ key: string }>('select key from auth.rate_limits')
  expect(left.rows.some(({ key }) => key.startsWith('token:'))).toBe(true)
  expect(left.rows.some(({ key }) => key.startsWith('signup:'))).toBe(false)
  const codes = await service.admin.query<{ relates_to: string }>('select relates_to from auth.one_time_tokens')
  expect(codes.rows).toEqual(
    expect.arrayContaining([{ relates_to: 'pending@example.test' }, { relates_to: 'kept@example.test' }]),
  )
  expect(codes.rows).not.toContainEqual({ relates_to: 'expired@example.test' })
  const factors = await service.admin.query('select friendly_name from auth.mfa_factors')
  expect(factors.rows).toEqual([{ friendly_name: 'begun' }])
  expect((await service.admin.query('select from auth.flow_state')).rowCount).toBe(1)
  const sessions = await service.admin.query('select from auth.sessions where user_id = $1', [
    abandoned.session.user.id,
  ])
  expect(sessions.rowCount).toBe(0)
  expect((await service.newClient().auth.refreshSession({ refresh_token: session.refresh_token })).error).toBeNull()
})

test('accounts that strangers left behind go, and the sessions of one person have a bound', async () => {
  const service = await startAuthService({ anonymous: true })
  onTestFinished(() => service.close())
  const { session } = await service.signedIn('stays@example.test')
  for (const email of ['old@example.test', 'recent@example.test'])
    await service.newClient().auth.signUp({ email, password: PASSWORD })
  await service.newClient().auth.signInWithOtp({ email: 'linked@example.test' })
  await service.newClient().auth.signInAnonymously()
  const left = service.newClient()
  await left.auth.signInAnonymously()
  const anonymous = (await left.auth.getUser()).data.user?.id
  await service.admin.query(`insert into auth.users (email) values ('made by an operator')`)
  await service.admin.query(
    `update auth.users set created_at = now() - interval '9 days', confirmation_sent_at = confirmation_sent_at - interval '8 days',
       recovery_sent_at = recovery_sent_at - interval '8 days' where email is distinct from 'recent@example.test'`,
  )
  await service.admin.query(
    `update auth.one_time_tokens set expires_at = now() where relates_to <> 'recent@example.test'`,
  )
  await service.admin.query('delete from auth.sessions where user_id = $1', [anonymous])
  await service.admin.query(
    `insert into auth.sessions (user_id, created_at) select $1, now() - n * interval '1 minute' from generate_series(1, 600) n`,
    [session.user.id],
  )
  await service.admin.query(
    `insert into auth.refresh_tokens (session_id, user_id, token, revoked)
     select s.id, s.user_id, 'old ' || n, true from (select * from auth.sessions where user_id = $1 order by created_at desc limit 1) s,
       generate_series(1, 600) n`,
    [session.user.id],
  )
  await sweepAuth(service.database, { sessionDays: 30, sessionIdleDays: 14 })
  const users = await service.admin.query<{ email: string | null }>(
    'select email from auth.users order by email nulls last',
  )
  expect(users.rows.map(({ email }) => email)).toEqual([
    'made by an operator',
    'recent@example.test',
    'stays@example.test',
    null,
  ])
  const counted = async (rows: string) =>
    (await service.admin.query(`select from auth.${rows} and user_id = $1`, [session.user.id])).rowCount
  expect(await counted('sessions where true')).toBe(500)
  expect(await counted('refresh_tokens where revoked')).toBe(500)
  expect((await service.newClient().auth.refreshSession({ refresh_token: session.refresh_token })).error).toBeNull()
})
