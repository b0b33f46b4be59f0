/** The operator: the one-time link, the operation section's routes, and that both are for one person alone. */
import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:net'
import type { AddressInfo } from 'node:net'
import { createClient } from '@supabase/supabase-js'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installation, operatedPeople, testMailAnswer } from '#contract/operation.ts'
import { createLog } from '#server/base/log.ts'
import { readConfig } from '#server/config.ts'
import { createOperatorLinkByCommand } from '#server/start/operator-command.ts'
import { type Alcove, startAlcove } from '#server/start/start.ts'
import { createEmptyDatabase } from './database.ts'
import { copyStartedDataDir } from './started-data.ts'

const PASSWORD = 'a long enough password'
const log = createLog('silent')

let folder: Awaited<ReturnType<typeof copyStartedDataDir>>
let otherFolder: Awaited<ReturnType<typeof copyStartedDataDir>>
let mailServer: Server
let mailAnswer = '250 2.0.0 queued as 42'
let mails = ''
let environment: Record<string, string>
let alcove: Alcove
/** A second server of the database, which the tests of the link start. */
let other: Alcove | undefined
let apikey: string
let admin: pg.Pool

/** A mail server that accepts one mail after another. */
function startMailServer(): Promise<Server> {
  const server = createServer((socket) => {
    let isBody = false
    // TCP may split a command or a body into several events, or deliver several in one.
    let unread = ''
    const answer = (part: string) => {
      if (isBody) {
        isBody = false
        socket.write(`${mailAnswer}\r\n`)
      } else if (/^DATA/i.test(part)) {
        isBody = true
        socket.write('354 go on\r\n')
      } else if (/^QUIT/i.test(part)) socket.end('221 bye\r\n')
      else socket.write('250 ok\r\n')
    }
    socket.write('220 mail.test\r\n')
    socket.on('data', (data) => {
      mails += data.toString()
      unread += data.toString()
      for (;;) {
        const end = isBody ? '\r\n.\r\n' : '\r\n'
        const at = unread.indexOf(end)
        if (at === -1) return
        const part = unread.slice(0, at)
        unread = unread.slice(at + end.length)
        answer(part)
      }
    })
    socket.on('error', () => socket.destroy())
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}

beforeAll(async () => {
  const database = await createEmptyDatabase()
  admin = database.admin
  folder = await copyStartedDataDir()
  otherFolder = await copyStartedDataDir()
  mailServer = await startMailServer()
  environment = {
    ...database.environment,
    DATA_DIR: folder.dataDir,
    PORT: '0',
    LOG_LEVEL: 'silent',
    RATE_LIMITS: 'off',
    LIMIT_PAGES: '70',
    SMTP_URL: `smtp://127.0.0.1:${(mailServer.address() as AddressInfo).port}`,
  }
  alcove = await startAlcove(readConfig(environment), log)
  const answer = await fetch(`${alcove.address}/config.json`)
  apikey = ((await answer.json()) as { supabaseAnonKey: string }).supabaseAnonKey
})
afterAll(async () => {
  await other?.stop()
  await alcove.stop()
  await admin.end()
  await new Promise((resolve) => mailServer.close(resolve))
  await folder.remove()
  await otherFolder.remove()
})

const linkFor = (base: string, link: string) => link.replace(/^https?:\/\/[^/]+/, base)

function submit(link: string, email: string, password = PASSWORD) {
  const token = new URL(link).searchParams.get('token') ?? ''
  const body = new URLSearchParams({ token, email, password })
  return fetch(`${alcove.address}/operator`, { method: 'POST', body, redirect: 'manual' })
}

async function signIn(email: string) {
  const client = createClient(alcove.address, apikey, { auth: { persistSession: false, autoRefreshToken: false } })
  const { data, error } = await client.auth.signInWithPassword({ email, password: PASSWORD })
  if (error) throw error
  const request = (method: string, at: string, body?: unknown) =>
    fetch(`${alcove.address}/api${at}`, {
      method,
      headers: {
        authorization: `Bearer ${data.session.access_token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  return { id: data.user.id, client, request }
}

async function addPerson(email: string) {
  const { rows } = await admin.query<{ id: string }>(
    `with made as (
       insert into auth.users (id, email, encrypted_password, email_confirmed_at, raw_app_meta_data)
       select gen_random_uuid(), $1, encrypted_password, now(), '{}' from auth.users where email = 'operator@example.test'
       returning id
     ) select id from made`,
    [email],
  )
  return rows[0]?.id ?? ''
}

describe('the one-time link', () => {
  test('is given out at the first start, stored as a hash alone, and opens a form', async () => {
    const link = alcove.operatorLink ?? ''
    const token = new URL(link).searchParams.get('token') ?? ''
    expect(token).toMatch(/^[\w-]{43}$/)
    const { rows } = await admin.query<{ token_hash: Buffer }>('select token_hash from operator_links')
    expect(rows.map(({ token_hash: hash }) => hash)).toEqual([createHash('sha256').update(token).digest()])
    const page = await fetch(link)
    expect(page.status).toBe(200)
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self'")
    expect(await page.text()).toContain('Become the operator')
  })

  test('is refused where it is wrong, from another site, or has ended', async () => {
    expect((await fetch(`${alcove.address}/operator`)).status).toBe(404)
    expect((await fetch(`${alcove.address}/operator?token=${'a'.repeat(43)}`)).status).toBe(404)
    const wrong = await submit(`${alcove.address}/operator?token=wrong`, 'wrong@example.test')
    expect(wrong.status).toBe(404)
    expect(await wrong.text()).not.toContain('<form')
    const foreign = await fetch(`${alcove.address}/operator`, {
      method: 'POST',
      headers: { 'sec-fetch-site': 'cross-site' },
      body: new URLSearchParams({ token: 'x', email: 'a@example.test', password: PASSWORD }),
    })
    expect(foreign.status).toBe(403)
    const old = await createOperatorLinkByCommand(readConfig(environment), log)
    const hash = createHash('sha256')
      .update(new URL(old).searchParams.get('token') ?? '')
      .digest()
    await admin.query(`update operator_links set expires_at = now() - interval '1 second' where token_hash = $1`, [
      hash,
    ])
    expect((await submit(old, 'late@example.test')).status).toBe(404)
    expect((await admin.query('select id from auth.users')).rows).toEqual([])
  })

  test('survives a password that is not accepted, and keeps what was written', async () => {
    const refused = await submit(alcove.operatorLink ?? '', 'operator@example.test', 'short')
    expect(refused.status).toBe(422)
    expect(await refused.text()).toMatch(/Password should be at least 8 characters[\s\S]*value="operator@example.test"/)
    expect((await fetch(alcove.operatorLink ?? '')).status).toBe(200)
  })

  test('makes one operator, however many use it at once, and ends with all other links', async () => {
    const second = await createOperatorLinkByCommand(readConfig(environment), log)
    const link = alcove.operatorLink ?? ''
    const answers = await Promise.all([
      submit(link, 'operator@example.test'),
      submit(link, 'operator@example.test'),
      submit(second, 'operator@example.test'),
    ])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 404, 404])
    expect(answers.find(({ status }) => status === 303)?.headers.get('location')).toBe('login')
    const { rows } = await admin.query('select count(*)::integer as operators from operators')
    expect(rows).toEqual([{ operators: 1 }])
    expect((await admin.query('select from operator_links')).rowCount).toBe(0)
    expect((await fetch(linkFor(alcove.address, second))).status).toBe(404)
  })

  test('is not given out again', async () => {
    other = await startAlcove(readConfig({ ...environment, DATA_DIR: otherFolder.dataDir }), log)
    expect(other.operatorLink).toBeUndefined()
    await expect(createOperatorLinkByCommand(readConfig(environment), log)).rejects.toThrow(
      'This installation has an operator already.',
    )
  })

  test('where there are accounts but no operator, the command makes one, for an account by its password', async () => {
    const { rows } = await admin.query<{ user_id: string }>('delete from operators returning user_id')
    const link = await createOperatorLinkByCommand(readConfig(environment), log)
    expect((await submit(link, 'operator@example.test', 'not the password')).status).toBe(422)
    expect((await submit(link, 'operator@example.test')).status).toBe(303)
    expect((await admin.query<{ user_id: string }>('select user_id from operators')).rows).toEqual(rows)
  })
})

const ROUTES: [string, string, unknown?][] = [
  ['GET', '/operation'],
  ['GET', '/operation/people'],
  ['POST', '/operation/people', { email: 'x@example.test' }],
  ['POST', '/operation/people/ID/disable'],
  ['POST', '/operation/people/ID/enable'],
  ['POST', '/operation/people/ID/reset-second-factor'],
  ['PUT', '/operation/settings/LIMIT_QUESTIONS', { value: '1' }],
  ['PUT', '/operation/models', { models: ['00000000-0000-4000-8000-000000000000'], is_offered: false }],
  ['POST', '/operation/test-mail'],
  ['GET', '/operation/usage'],
]

test.each(ROUTES)('%s /api%s does not exist for another person', async (method, at, body) => {
  const email = `${createHash('sha256')
    .update(method + at)
    .digest('hex')
    .slice(0, 12)}@example.test`
  await addPerson(email)
  const person = await signIn(email)
  const operator = await signIn('operator@example.test')
  const path = at.replace('ID', operator.id)
  const answer = await person.request(method, path, body)
  const unknown = await person.request(method, '/operation-of-nothing', body)
  expect(answer.status).toBe(404)
  const [given, expected] = [await answer.json(), await unknown.json()] as { error: { message: string } }[]
  expect(given?.error.message).toBe(expected?.error.message)
  expect((await fetch(`${alcove.address}/api${path}`, { method })).status).toBe(401)
  expect((await operator.request('GET', '/operation')).status).toBe(200)
})

test('people see whether they are operator, and cannot become one by the data service', async () => {
  await addPerson('curious@example.test')
  const [person, operator] = [await signIn('curious@example.test'), await signIn('operator@example.test')]
  expect((await operator.client.from('operators').select('user_id')).data).toEqual([{ user_id: operator.id }])
  expect((await person.client.from('operators').select('user_id')).data).toEqual([])
  expect((await person.client.from('operators').insert({ user_id: person.id })).error).toMatchObject({ code: '42501' })
  expect((await operator.client.from('operators').insert({ user_id: person.id })).error).toMatchObject({
    code: '42501',
  })
  for (const table of ['operator_links', 'operator_settings'])
    expect((await operator.client.from(table).select('*')).error).toMatchObject({ code: '42501' })
})

test('the operator reads nothing that others wrote', async () => {
  await addPerson('writer@example.test')
  const [person, operator] = [await signIn('writer@example.test'), await signIn('operator@example.test')]
  const made = await person.request('POST', '/conversations', { model_name: 'alcove-reader', title: 'A secret' })
  const { id } = (await made.json()) as { id: string }
  await person.request('POST', `/conversations/${id}/messages`, { content: 'Where is the secret?' })
  for (const table of [
    'conversations',
    'messages',
    'documents',
    'document_pages',
    'daily_usage',
    'usage_events',
    'usage',
  ])
    expect((await operator.client.from(table).select('*')).data, table).toEqual([])
  expect((await operator.request('GET', `/conversations/${id}`)).status).toBe(404)
  for (const at of ['/operation', '/operation/people', '/operation/usage'])
    expect(await (await operator.request('GET', at)).text()).not.toContain('secret')
})

describe('people', () => {
  test('are listed with what they store, and none of the rest of their account', async () => {
    const operator = await signIn('operator@example.test')
    const id = await addPerson('listed@example.test')
    await admin.query('insert into usage_changes (owner, file_bytes, text_bytes) values ($1, 5000, 700)', [id])
    const { people, total } = operatedPeople.parse(await (await operator.request('GET', '/operation/people')).json())
    expect(total).toBeGreaterThan(1)
    expect(people.find((one) => one.id === id)).toMatchObject({
      email: 'listed@example.test',
      bytes: 5_700,
      seen_at: null,
    })
    expect(people.filter((one) => one.is_operator).map(({ email }) => email)).toEqual(['operator@example.test'])
  })

  test('who are disabled are signed out at once, and come back when enabled', async () => {
    const operator = await signIn('operator@example.test')
    const id = await addPerson('disabled@example.test')
    const person = await signIn('disabled@example.test')
    expect((await person.request('GET', '/documents')).status).toBe(200)
    expect((await operator.request('POST', `/operation/people/${id}/disable`)).status).toBe(204)
    await expect.poll(async () => (await person.request('GET', '/documents')).status).toBe(401)
    await expect(signIn('disabled@example.test')).rejects.toThrow()
    expect((await operator.request('POST', `/operation/people/${id}/enable`)).status).toBe(204)
    expect((await (await signIn('disabled@example.test')).request('GET', '/documents')).status).toBe(200)
  })

  test('lose their second factor with their sessions', async () => {
    const operator = await signIn('operator@example.test')
    const id = await addPerson('factor@example.test')
    const person = await signIn('factor@example.test')
    expect((await operator.request('POST', `/operation/people/${id}/reset-second-factor`)).status).toBe(409)
    await admin.query(
      `insert into auth.mfa_factors (user_id, factor_type, status, friendly_name) values ($1, 'totp', 'verified', 'phone')`,
      [id],
    )
    expect((await operator.request('POST', `/operation/people/${id}/reset-second-factor`)).status).toBe(204)
    expect((await admin.query('select from auth.mfa_factors where user_id = $1', [id])).rowCount).toBe(0)
    await expect.poll(async () => (await person.request('GET', '/documents')).status).toBe(401)
  })

  test('cannot be the operator itself, or unknown', async () => {
    const operator = await signIn('operator@example.test')
    expect((await operator.request('POST', `/operation/people/${operator.id}/disable`)).status).toBe(409)
    const unknown = '00000000-0000-4000-8000-000000000000'
    expect((await operator.request('POST', `/operation/people/${unknown}/disable`)).status).toBe(404)
    expect((await operator.request('POST', '/operation/people/nobody/disable')).status).toBe(404)
  })

  test('are invited where sign-ups are closed, once', async () => {
    const operator = await signIn('operator@example.test')
    expect((await operator.request('PUT', '/operation/settings/AUTH_SIGNUP', { value: 'closed' })).status).toBe(204)
    mails = ''
    expect((await operator.request('POST', '/operation/people', { email: 'new@example.test' })).status).toBe(204)
    expect(mails).toContain('new@example.test')
    await addPerson('known@example.test')
    expect((await operator.request('POST', '/operation/people', { email: 'known@example.test' })).status).toBe(409)
    await operator.request('PUT', '/operation/settings/AUTH_SIGNUP', { value: null })
  })
})

describe('settings', () => {
  const signUp = (address: string, email: string) =>
    createClient(address, apikey, { auth: { persistSession: false } }).auth.signUp({ email, password: PASSWORD })

  test('a change applies on every server of the database, and the default comes back', async () => {
    const second = other
    if (second === undefined) throw new Error('the second server has not started')
    const operator = await signIn('operator@example.test')
    expect((await operator.request('PUT', '/operation/settings/AUTH_SIGNUP', { value: 'closed' })).status).toBe(204)
    expect((await signUp(alcove.address, 'closed@example.test')).error?.code).toBe('signup_disabled')
    await expect
      .poll(async () => (await (await fetch(`${second.address}/auth/v1/settings`)).json()) as object)
      .toMatchObject({ disable_signup: true })
    await operator.request('PUT', '/operation/settings/AUTH_SIGNUP', { value: null })
    expect((await signUp(alcove.address, 'open@example.test')).error).toBeNull()
    await expect
      .poll(async () => (await (await fetch(`${second.address}/auth/v1/settings`)).json()) as object)
      .toMatchObject({ disable_signup: false })
  })

  test('limits are those of the database at once', async () => {
    const operator = await signIn('operator@example.test')
    const read = async () =>
      (await admin.query('select questions_per_person as q, cost_total as c from quotas')).rows[0] as object
    await operator.request('PUT', '/operation/settings/LIMIT_QUESTIONS', { value: '5' })
    await operator.request('PUT', '/operation/settings/LIMIT_COST_ALL', { value: '2.50' })
    expect(await read()).toEqual({ q: '5', c: '2500000' })
    await operator.request('PUT', '/operation/settings/LIMIT_QUESTIONS', { value: null })
    await operator.request('PUT', '/operation/settings/LIMIT_COST_ALL', { value: null })
    expect(await read()).toEqual({ q: '0', c: '0' })
  })

  test('that the environment states cannot be changed, and are shown as such', async () => {
    const operator = await signIn('operator@example.test')
    const refused = await operator.request('PUT', '/operation/settings/LIMIT_PAGES', { value: '1' })
    expect(refused.status).toBe(409)
    const { settings } = installation.parse(await (await operator.request('GET', '/operation')).json())
    expect(settings.find(({ name }) => name === 'LIMIT_PAGES')).toMatchObject({ value: '70', is_fixed: true })
    expect(settings.find(({ name }) => name === 'LIMIT_QUESTIONS')).toMatchObject({ value: '0', is_fixed: false })
  })

  test.each([
    ['LIMIT_QUESTIONS', '-1', 400],
    ['LIMIT_QUESTIONS', '1.5', 400],
    ['LIMIT_QUESTIONS', '', 400],
    ['LIMIT_COST', '1.234', 400],
    ['AUTH_SIGNUP', 'everyone', 400],
    ['DATABASE_URL', 'postgres://x', 404],
    ['__proto__', '1', 404],
  ])('%s is not set to "%s"', async (name, value, status) => {
    const operator = await signIn('operator@example.test')
    expect((await operator.request('PUT', `/operation/settings/${name}`, { value })).status).toBe(status)
  })
})

test('a test mail tells what the mail server answers', async () => {
  const operator = await signIn('operator@example.test')
  const send = async () => testMailAnswer.parse(await (await operator.request('POST', '/operation/test-mail')).json())
  mails = ''
  expect(await send()).toEqual({ sent: true, answer: '250 2.0.0 queued as 42' })
  expect(mails).toContain('RCPT TO:<operator@example.test>')
  mailAnswer = '550 5.7.1 not from here'
  expect(await send()).toMatchObject({
    sent: false,
    answer: expect.stringContaining('550 5.7.1 not from here') as unknown,
  })
  mailAnswer = '250 2.0.0 queued as 43'
})

test('health and models are told without keys', async () => {
  const operator = await signIn('operator@example.test')
  const { health, models } = installation.parse(await (await operator.request('GET', '/operation')).json())
  expect(health.version).toMatch(/^\d+\.\d+\.\d+/)
  expect(health.database_bytes).toBeGreaterThan(1_000_000)
  expect(health.disk_free_bytes).toBeGreaterThan(0)
  expect(health).toMatchObject({ has_backups: false, backup_age_s: null, backup_failed: false, embeddings: null })
  expect(models.providers).toEqual([{ name: 'Alcove', host: null }])
  expect(models.list).toMatchObject([{ model_identifier: 'alcove-reader', is_offered: true, is_default: true }])
})
