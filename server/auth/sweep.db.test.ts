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

test('an invitation that was never accepted goes a month after its last mail, unless its account is in use', async () => {
  const service = await startAuthService()
  onTestFinished(() => service.close())
  const operator = service.newAdmin()
  const ids = new Map<string, string>()
  const invite = async (name: string) => {
    const { data, error } = await operator.inviteUserByEmail(`${name}@example.test`)
    if (error) throw error
    ids.set(name, data.user.id)
    return data.user.id
  }
  const makeOlder = async (days: number) => {
    await service.admin.query(
      `update auth.users set created_at = created_at - make_interval(days => $1), invited_at = invited_at - make_interval(days => $1),
         confirmation_sent_at = confirmation_sent_at - make_interval(days => $1),
         recovery_sent_at = recovery_sent_at - make_interval(days => $1)`,
      [days],
    )
    await service.admin.query('update auth.one_time_tokens set expires_at = expires_at - make_interval(days => $1)', [
      days,
    ])
  }
  const own = (statement: string, name: string) => service.admin.query(statement, [ids.get(name)])

  for (const name of ['forgotten', 'reminded', 'recovering', 'accepted', 'signed-in', 'phone', 'provider'])
    await invite(name)
  for (const name of ['member', 'author', 'storing', 'owning', 'uploading', 'noted', 'paired', 'disabled', 'waiting'])
    await invite(name)
  await operator.generateLink({ type: 'invite', email: 'by-link@example.test' })
  await operator.createUser({ email: 'made@example.test' })
  const code = await service.codeFor('accepted@example.test')
  await service.newClient().auth.verifyOtp({ email: 'accepted@example.test', token: code, type: 'invite' })
  await own('update auth.users set last_sign_in_at = now() where id = $1', 'signed-in')
  await own(`update auth.users set phone = '4912345', phone_confirmed_at = now() where id = $1`, 'phone')
  await own(
    `insert into auth.identities (provider_id, user_id, identity_data, provider) values ('7', $1, '{}', 'github')`,
    'provider',
  )
  const space = await service.admin.query<{ id: string }>(`insert into spaces (name) values ('Harbour') returning id`)
  await service.admin.query(`insert into space_members (space_id, user_id, role) values ($1, $2, 'reader')`, [
    space.rows[0]?.id,
    ids.get('member'),
  ])
  await own(`insert into conversations (uid, title, model_name) values ($1, 'Tides', 'alcove-reader')`, 'author')
  await own(
    `insert into storage.objects (bucket_id, name) values ('documents', $1::uuid || '/tide-tables.txt')`,
    'storing',
  )
  await own(`insert into storage.objects (bucket_id, name, owner) values ('documents', 'a.txt', $1)`, 'owning')
  await own(`insert into storage.objects (bucket_id, name, owner_id) values ('documents', 'b.txt', $1)`, 'uploading')
  await service.admin.query('create table notes (person uuid references auth.users on delete cascade)')
  await own('insert into notes values ($1)', 'noted')
  await service.admin.query('create unique index users_of_pairs on auth.users (role, id)')
  await service.admin.query(
    'create table pairs (role text, person uuid, foreign key (role, person) references auth.users (role, id) on delete cascade)',
  )
  await own('insert into pairs select role, id from auth.users where id = $1', 'paired')
  await operator.updateUserById(ids.get('disabled') ?? '', { ban_duration: '9000h' })

  await makeOlder(21)
  await operator.inviteUserByEmail('reminded@example.test')
  await service.newClient().auth.resetPasswordForEmail('recovering@example.test')
  await makeOlder(10)
  await own(`update auth.one_time_tokens set expires_at = now() + interval '1 hour' where user_id = $1`, 'waiting')
  const left = async () => {
    await sweepAuth(service.database, { sessionDays: 30, sessionIdleDays: 14 })
    const { rows } = await service.admin.query<{ name: string }>(
      `select split_part(email, '@', 1) as name from auth.users order by 1`,
    )
    return rows.map(({ name }) => name)
  }
  const inUse = [
    'accepted',
    'author',
    'disabled',
    'made',
    'member',
    'noted',
    'owning',
    'paired',
    'phone',
    'provider',
    'signed-in',
    'storing',
    'uploading',
  ]
  expect(await left()).toEqual([...inUse, 'recovering', 'reminded', 'waiting'].toSorted())
  await makeOlder(21)
  expect(await left()).toEqual(inUse)
  expect((await operator.inviteUserByEmail('forgotten@example.test')).error).toBeNull()
})

test('invitations whose accounts own rows do not hold up one that is due', async () => {
  const service = await startAuthService()
  onTestFinished(() => service.close())
  await service.admin.query(
    `insert into auth.users (email, invited_at) select n || '@example.test', now() - interval '40 days' from generate_series(1, 300) n`,
  )
  await service.admin.query(
    `insert into storage.objects (bucket_id, name, owner) select 'documents', id || '/a.txt', id from auth.users`,
  )
  await service.admin.query(
    `insert into auth.users (email, invited_at) values ('due@example.test', now() - interval '31 days')`,
  )
  const sweep = async () => {
    await sweepAuth(service.database, { sessionDays: 30, sessionIdleDays: 14 })
    const { rows } = await service.admin.query<{ owners: number; due: number; seen: number }>(
      `select count(*) filter (where email <> 'due@example.test')::int as owners,
         count(*) filter (where email = 'due@example.test')::int as due, count(owned_rows_at)::int as seen from auth.users`,
    )
    return rows[0]
  }
  expect(await sweep()).toEqual({ owners: 300, due: 1, seen: 200 })
  expect(await sweep()).toEqual({ owners: 300, due: 0, seen: 300 })
  await service.admin.query('delete from storage.objects')
  await service.admin.query(`update auth.users set owned_rows_at = owned_rows_at - interval '31 days'`)
  expect(await sweep()).toEqual({ owners: 100, due: 0, seen: 100 })
})

test('a table whose rows are hidden from the owner of the function counts as one with rows', async () => {
  const service = await startAuthService()
  onTestFinished(() => service.close())
  // A role is seen by all databases of the server, so it is never committed.
  const client = await service.admin.connect()
  onTestFinished(async () => {
    await client.query('rollback')
    client.release()
  })
  const owns = async () => {
    const { rows } = await client.query<{ owns: boolean }>('select auth.owns_rows(gen_random_uuid()) as owns')
    return rows[0]?.owns
  }
  await client.query('begin')
  expect(await owns()).toBe(false)
  await client.query('create role migrating nologin')
  await client.query('grant pg_read_all_data to migrating')
  await client.query('grant create on schema auth to migrating')
  await client.query('alter function auth.owns_rows owner to migrating')
  expect(await owns()).toBe(true)
  await client.query('alter role migrating bypassrls')
  expect(await owns()).toBe(false)
})
