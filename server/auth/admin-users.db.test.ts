import { randomUUID } from 'node:crypto'
import bcrypt from 'bcryptjs'
import { TOTP } from 'otpauth'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthTestService, PASSWORD, startAuthService } from '#test/auth-service.ts'
import { hashPassword } from './passwords.ts'

let service: AuthTestService
let admin: ReturnType<AuthTestService['newAdmin']>
beforeAll(async () => {
  service = await startAuthService({ signup: 'closed' })
  admin = service.newAdmin()
})
afterAll(() => service.close())

async function create(email: string, more: object = {}) {
  const { data, error } = await admin.createUser({ email, password: PASSWORD, email_confirm: true, ...more })
  if (error) throw error
  return data.user
}
const signIn = (email: string, password = PASSWORD) => service.newClient().auth.signInWithPassword({ email, password })

test('nobody but the operator is let in, whatever they bring', async () => {
  const { id } = await create('owner@example.test')
  const { data } = await signIn('owner@example.test')
  const requests = [
    ['GET', '/admin/users'],
    ['POST', '/admin/users'],
    ['GET', `/admin/users/${id}`],
    ['PUT', `/admin/users/${id}`],
    ['DELETE', `/admin/users/${id}`],
    ['GET', `/admin/users/${id}/factors`],
    ['DELETE', `/admin/users/${id}/factors/${id}`],
    ['POST', '/admin/generate_link'],
    ['POST', '/invite'],
  ] as const
  for (const [token, status, code] of [
    [undefined, 401, 'no_authorization'],
    ['not.a.token', 403, 'bad_jwt'],
    [service.tokens.anonKey, 403, 'not_admin'],
    [data.session?.access_token, 403, 'not_admin'],
  ] as const) {
    for (const [method, at] of requests) {
      const answer = await fetch(`${service.url}/auth/v1${at}`, {
        method,
        headers: {
          apikey: service.tokens.serviceRoleKey,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        ...(method === 'GET' ? {} : { body: '{"email":"owner@example.test"}' }),
      })
      expect([answer.status, await answer.json()], `${method} ${at}`).toMatchObject([status, { error_code: code }])
    }
  }
  expect((await admin.getUserById(id)).data.user?.email).toBe('owner@example.test')
})

async function signInAsServiceRole(email: string) {
  const { id } = await create(email, { role: 'service_role' })
  const { data, error } = await signIn(email)
  if (error) throw error
  const list = async () => {
    const answer = await fetch(`${service.url}/auth/v1/admin/users`, {
      headers: { authorization: `Bearer ${data.session.access_token}` },
    })
    return [answer.status, ((await answer.json()) as { error_code?: string }).error_code]
  }
  return { id, list }
}

test('a person with the role of the service has it as long as account and session do', async () => {
  const banned = await signInAsServiceRole('banned-admin@example.test')
  expect(await banned.list()).toEqual([200, undefined])
  await service.admin.query(`update auth.users set banned_until = now() + interval '1 hour' where id = $1`, [banned.id])
  expect(await banned.list()).toEqual([403, 'user_banned'])

  const signedOut = await signInAsServiceRole('gone-admin@example.test')
  await service.admin.query('delete from auth.sessions where user_id = $1', [signedOut.id])
  expect(await signedOut.list()).toEqual([403, 'session_not_found'])

  const demoted = await signInAsServiceRole('demoted-admin@example.test')
  await service.admin.query(`update auth.users set role = 'authenticated' where id = $1`, [demoted.id])
  expect(await demoted.list()).toEqual([403, 'not_admin'])

  const half = await signInAsServiceRole('half-admin@example.test')
  await service.admin.query(
    `insert into auth.mfa_factors (id, user_id, factor_type, status, secret, created_at, updated_at)
     values ($1, $2, 'totp', 'verified', 'x', now(), now())`,
    [randomUUID(), half.id],
  )
  expect(await half.list()).toEqual([403, 'insufficient_aal'])
})

test('the sessions of an account end when it loses the role of the service', async () => {
  const { id } = await signInAsServiceRole('former-admin@example.test')
  const countSessions = async () =>
    (await service.admin.query('select from auth.sessions where user_id = $1', [id])).rowCount
  await admin.updateUserById(id, { role: 'service_role' })
  expect(await countSessions()).toBe(1)
  await admin.updateUserById(id, { role: 'authenticated' })
  expect(await countSessions()).toBe(0)
})

test('an account is created as the operator says, also where sign-ups are closed', async () => {
  const id = randomUUID()
  const user = await create('Made@example.test', {
    id,
    phone: '+49 151 23456789',
    phone_confirm: true,
    user_metadata: { name: 'Ada' },
    app_metadata: { plan: 'gold' },
  })
  expect(user).toMatchObject({
    id,
    email: 'made@example.test',
    phone: '4915123456789',
    email_confirmed_at: expect.any(String) as string,
    user_metadata: { name: 'Ada', email_verified: true },
    app_metadata: { plan: 'gold', provider: 'email', providers: ['email', 'phone'] },
  })
  expect(user.identities?.map(({ provider }) => provider).toSorted()).toEqual(['email', 'phone'])
  expect((await signIn('made@example.test')).error).toBeNull()

  const unconfirmed = await create('unconfirmed@example.test', { email_confirm: false })
  expect(unconfirmed).not.toHaveProperty('email_confirmed_at')
  expect((await signIn('unconfirmed@example.test')).error?.code).toBe('email_not_confirmed')
  await create('hashed@example.test', { password: undefined, password_hash: await hashPassword('brought along') })
  expect((await signIn('hashed@example.test', 'brought along')).error).toBeNull()
  const bcrypted = await bcrypt.hash('brought from elsewhere', 4)
  await create('bcrypted@example.test', { password: undefined, password_hash: bcrypted })
  expect((await signIn('bcrypted@example.test', 'brought from elsewhere')).error).toBeNull()
})

test('a trigger on new accounts reads the metadata that the operator gave', async () => {
  await service.admin.query(`
    create table public.profiles (id uuid primary key references auth.users on delete cascade, username text);
    create function public.handle_new_user() returns trigger language plpgsql security definer set search_path = '' as $$
    begin
      insert into public.profiles values (new.id, new.raw_user_meta_data ->> 'username');
      return new;
    end $$;
    create trigger on_auth_user_created after insert on auth.users
      for each row execute function public.handle_new_user()`)
  const named = async () => {
    const found = await service.admin.query<{ id: string; username: string }>(
      'select id, username from public.profiles order by username',
    )
    return found.rows
  }
  const { id } = await create('profiled@example.test', { user_metadata: { username: 'ada', none: null } })
  const invited = await admin.generateLink({
    type: 'signup',
    email: 'linked@example.test',
    password: PASSWORD,
    options: { data: { username: 'grace' } },
  })
  expect(invited.data.user?.user_metadata).toEqual({ username: 'grace' })
  expect(await named()).toEqual([
    { id, username: 'ada' },
    { id: invited.data.user?.id, username: 'grace' },
  ])
  expect((await admin.deleteUser(id)).error).toBeNull()
  expect(await named()).toHaveLength(1)
})

test('what is taken or makes no account is refused', async () => {
  await create('taken@example.test', { phone: '+123456789' })
  for (const [attributes, status, code] of [
    [{ email: 'taken@example.test' }, 422, 'email_exists'],
    [{ email: 'other@example.test', phone: '123456789' }, 422, 'phone_exists'],
    [{ password: PASSWORD }, 400, 'validation_failed'],
    [{ email: 'no address' }, 400, 'validation_failed'],
    [{ phone: '0123' }, 400, 'validation_failed'],
    [{ email: 'a@example.test', password: 'short' }, 422, 'weak_password'],
    [{ email: 'a@example.test', password: PASSWORD, password_hash: '$argon2id$x' }, 400, 'validation_failed'],
    [{ email: 'a@example.test', password_hash: '$1$md5' }, 400, 'validation_failed'],
    [{ email: 'a@example.test', ban_duration: 'forever' }, 400, 'validation_failed'],
    [{ email: 'a@example.test', role: 'postgres' }, 400, 'bad_json'],
  ] as const) {
    expect((await admin.createUser(attributes)).error, JSON.stringify(attributes)).toMatchObject({ status, code })
  }
  expect((await admin.getUserById(randomUUID())).error).toMatchObject({ status: 404, code: 'user_not_found' })
  expect((await admin.updateUserById(randomUUID(), {})).error).toMatchObject({ status: 404, code: 'user_not_found' })
})

test('accounts are listed in pages, with the number of all and links to the next and the last', async () => {
  for (let n = 0; n < 4; n += 1) await create(`page-${n}@example.test`)
  const all = await admin.listUsers()
  expect(all.error).toBeNull()
  const total = all.data.users.length
  const first = await admin.listUsers({ page: 1, perPage: 2 })
  expect(first.data).toMatchObject({ total, nextPage: 2, lastPage: Math.ceil(total / 2), aud: 'authenticated' })
  const second = await admin.listUsers({ page: 2, perPage: 2 })
  expect([...first.data.users, ...second.data.users].map(({ id }) => id)).toEqual(
    all.data.users.slice(0, 4).map(({ id }) => id),
  )
  const beyond = await admin.listUsers({ page: 999, perPage: 2 })
  expect([beyond.data.users, beyond.error]).toEqual([[], null])
  expect((await admin.listUsers({ page: -1 })).error?.code).toBe('validation_failed')
})

test('a page of large accounts is not read', async () => {
  await service.admin.query(
    `insert into auth.users (id, email, raw_app_meta_data)
     select gen_random_uuid(), i || '@large.example.test', jsonb_build_object('filled', repeat('m', 900000))
     from generate_series(1, 40) i`,
  )
  expect((await admin.listUsers({ perPage: 50 })).error).toMatchObject({
    status: 413,
    code: 'request_entity_too_large',
  })
  expect((await admin.listUsers({ perPage: 10 })).data.users).toHaveLength(10)
  await service.admin.query(`delete from auth.users where email like '%@large.example.test'`)
})

test('an account is changed without asking its owner, and a new password signs everybody out', async () => {
  const user = await create('changed@example.test', { user_metadata: { name: 'Ada', colour: 'red' } })
  const { data } = await signIn('changed@example.test')
  const changed = await admin.updateUserById(user.id, {
    email: 'now@example.test',
    password: 'a new quiet corner',
    user_metadata: { colour: null, age: 36 },
    app_metadata: { plan: 'gold' },
  })
  expect(changed.error).toBeNull()
  expect(changed.data.user).toMatchObject({
    email: 'now@example.test',
    user_metadata: { name: 'Ada', age: 36, email_verified: true },
    app_metadata: { plan: 'gold', provider: 'email' },
    identities: [{ email: 'now@example.test' }],
  })
  expect(changed.data.user?.user_metadata).not.toHaveProperty('colour')
  expect((await service.newClient().auth.getUser(data.session?.access_token)).error?.name).toBe(
    'AuthSessionMissingError',
  )
  expect((await signIn('now@example.test', 'a new quiet corner')).error).toBeNull()
  await create('somebody@example.test')
  expect((await admin.updateUserById(user.id, { email: 'somebody@example.test' })).error?.code).toBe('email_exists')
})

test('a ban ends the sessions at once and lasts until it is lifted', async () => {
  const user = await create('banned@example.test')
  const { data } = await signIn('banned@example.test')
  const banned = await admin.updateUserById(user.id, { ban_duration: '1h30m' })
  const until = Date.parse(banned.data.user?.banned_until ?? '')
  expect((until - Date.now()) / 60_000).toBeCloseTo(90, 0)
  expect((await service.newClient().auth.getUser(data.session?.access_token)).error).not.toBeNull()
  expect((await signIn('banned@example.test')).error?.code).toBe('user_banned')
  await admin.updateUserById(user.id, { ban_duration: 'none' })
  expect((await signIn('banned@example.test')).error).toBeNull()
})

test('an account is deleted with all that is its own, or hidden', async () => {
  const gone = await create('gone@example.test')
  await service.admin.query(`insert into public.conversations (uid, model_name) values ($1, 'alcove-reader')`, [
    gone.id,
  ])
  expect((await admin.deleteUser(gone.id)).error).toBeNull()
  expect((await admin.getUserById(gone.id)).error?.status).toBe(404)
  const left = await service.admin.query('select from public.conversations where uid = $1', [gone.id])
  expect(left.rowCount).toBe(0)

  const hidden = await create('hidden@example.test', { user_metadata: { name: 'Ada' } })
  const { data } = await signIn('hidden@example.test')
  expect((await admin.deleteUser(hidden.id, true)).error).toBeNull()
  const { user } = (await admin.getUserById(hidden.id)).data
  expect(user).toMatchObject({
    id: hidden.id,
    user_metadata: {},
    identities: [],
    deleted_at: expect.any(String) as string,
  })
  expect(JSON.stringify(user)).not.toMatch(/hidden@|"Ada"/)
  expect((await service.newClient().auth.getUser(data.session?.access_token)).error).not.toBeNull()
  expect((await signIn('hidden@example.test')).error?.code).toBe('invalid_credentials')
  expect(await create('hidden@example.test')).not.toMatchObject({ id: hidden.id })
})

test('the factors of an account are listed and taken away', async () => {
  const user = await create('factors@example.test')
  const client = service.newClient()
  await client.auth.signInWithPassword({ email: 'factors@example.test', password: PASSWORD })
  const { data } = await client.auth.mfa.enroll({ factorType: 'totp' })
  const factorId = data?.id ?? ''
  const code = new TOTP({ secret: data?.totp.secret ?? '' }).generate()
  expect((await client.auth.mfa.challengeAndVerify({ factorId, code })).error).toBeNull()
  const listed = await admin.mfa.listFactors({ userId: user.id })
  expect(listed.data?.factors).toMatchObject([{ id: factorId, factor_type: 'totp', status: 'verified' }])
  expect(JSON.stringify(listed.data)).not.toContain(data?.totp.secret)
  const other = await create('no-factors@example.test')
  expect((await admin.mfa.deleteFactor({ userId: other.id, id: factorId })).error?.code).toBe('mfa_factor_not_found')
  expect((await admin.mfa.deleteFactor({ userId: user.id, id: factorId })).error).toBeNull()
  expect((await admin.mfa.listFactors({ userId: user.id })).data?.factors).toEqual([])
})
