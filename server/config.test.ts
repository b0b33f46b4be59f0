import { expect, test } from 'vitest'
import { readConfig } from './config.ts'

function refusal(environment: Record<string, string>): string {
  try {
    readConfig(environment)
  } catch (error) {
    return String(error)
  }
  throw new Error('nothing was refused')
}

test('an error names the variable and shows no password', () => {
  expect(refusal({ SEARCH_PROVIDER: 'brave' })).toContain('SEARCH_API_KEY is not set')
  expect(refusal({ SEARCH_PROVIDER: 'searxng' })).toContain('SEARCH_URL is not set')
  expect(refusal({ PORT: '99999' })).toContain('PORT is "99999", but it wants')
  for (const name of ['DATABASE_URL', 'NATS_URL', 'SMTP_URL']) {
    const message = refusal({ [name]: 'nothing://someone:hunter2@here' })
    expect(message).toContain(`${name} is 30 characters, but it wants`)
    expect(message).not.toContain('hunter2')
  }
  for (const name of ['ALCOVE_SECRET', 'JWT_SECRET'])
    expect(refusal({ [name]: 'hunter2' })).toContain(`${name} is 7 characters, but it wants`)
})

test('the test account and the mailbox exist only in the local set-up: loopback, embedded database, no public address', () => {
  expect(readConfig({}).isLocalSetUp).toBe(true)
  const database = { DATABASE_URL: 'postgres://localhost/x', ALCOVE_SECRET: 's'.repeat(32) }
  for (const elsewhere of [{ HOST: '0.0.0.0' }, { PUBLIC_URL: 'https://alcove.example' }, database])
    expect(readConfig(elsewhere).isLocalSetUp, JSON.stringify(elsewhere)).toBe(false)
})

test('requests that look local count only where no proxy is announced', () => {
  expect(readConfig({}).hasNoProxy).toBe(true)
  for (const announced of [{ HOST: '0.0.0.0' }, { PUBLIC_URL: 'https://alcove.example' }, { TRUST_PROXY: '1' }])
    expect(readConfig(announced), JSON.stringify(announced)).toMatchObject({ hasNoProxy: false, isLocalSetUp: false })
})

test('the token of the metrics is long, and not repeated by its error', () => {
  expect(readConfig({ METRICS_TOKEN: 'm'.repeat(24) }).METRICS_TOKEN).toBe('m'.repeat(24))
  for (const token of ['hunter2', `hunter2 ${'x'.repeat(30)}`]) {
    expect(refusal({ METRICS_TOKEN: token })).toContain(`METRICS_TOKEN is ${token.length} characters, but it wants`)
    expect(refusal({ METRICS_TOKEN: token })).not.toContain('hunter2')
  }
})

test('metrics for everybody, which an earlier version served, are refused with what takes their place', () => {
  for (const others of [{}, { PUBLIC_URL: 'https://alcove.example' }, { METRICS_TOKEN: 'm'.repeat(24) }])
    expect(refusal({ METRICS: 'everyone', ...others })).toContain(
      'METRICS is "everyone", but metrics are no longer served to everybody: set METRICS_TOKEN, which GET /metrics then requires, and remove METRICS.',
    )
  expect(readConfig({ METRICS: 'local' }).METRICS_TOKEN).toBeUndefined()
})

test.each([
  ['AUTH_OIDC_CLIENT_SECRET', 'AUTH_OIDC_ISSUER'],
  ['EMBEDDINGS_API_KEY', 'EMBEDDINGS_BASE_URL'],
  ['EMBEDDINGS_BASE_URL', 'EMBEDDINGS_MODEL'],
  ['EMBEDDINGS_PREFIXES', 'EMBEDDINGS_PATH'],
  ['OPENAI_COMPATIBLE_API_KEY', 'OPENAI_COMPATIBLE_BASE_URL'],
  ['S3_ACCESS_KEY', 'S3_ENDPOINT'],
  ['S3_BUCKET', 'S3_ENDPOINT'],
  ['S3_SECRET_KEY', 'S3_ENDPOINT'],
  ['SEARCH_API_KEY', 'SEARCH_PROVIDER'],
  ['SEARCH_URL', 'SEARCH_PROVIDER'],
  ['SUPABASE_ANON_KEY', 'SUPABASE_URL'],
])('%s is refused where %s, without which it does nothing, is not set', (dependent, needed) => {
  const values: Record<string, string> = { EMBEDDINGS_PREFIXES: 'query:|passage:' }
  const given = values[dependent] ?? 'http://127.0.0.1:1/v1'
  expect(refusal({ [dependent]: given })).toContain(`${needed} is not set, but ${dependent} wants it.`)
})

test('an embeddings model needs a server, or a folder, and not both', () => {
  expect(refusal({ EMBEDDINGS_MODEL: 'meaning' })).toContain(
    'EMBEDDINGS_MODEL is "meaning", but there is no server with it',
  )
  for (const server of [
    { EMBEDDINGS_BASE_URL: 'http://127.0.0.1:1/v1' },
    { OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:1/v1' },
    { OPENAI_API_KEY: 'a-key' },
  ])
    expect(readConfig({ EMBEDDINGS_MODEL: 'meaning', ...server }).EMBEDDINGS_MODEL).toBe('meaning')
  expect(refusal({ EMBEDDINGS_MODEL: 'meaning', EMBEDDINGS_PATH: '/models/meaning' })).toContain(
    'EMBEDDINGS_MODEL is "meaning", but EMBEDDINGS_PATH is set too',
  )
})

test('prefixes of a local model are two, each followed by a space where it is a word', () => {
  const prefixesOf = (value: string) =>
    readConfig({ EMBEDDINGS_PATH: '/models/meaning', EMBEDDINGS_PREFIXES: value }).EMBEDDINGS_PREFIXES
  expect(prefixesOf('query:|passage: ')).toEqual({ question: 'query: ', passage: 'passage: ' })
  expect(prefixesOf('query: |')).toEqual({ question: 'query: ', passage: '' })
  for (const wrong of ['query:', 'a|b|c'])
    expect(refusal({ EMBEDDINGS_PATH: '/models/meaning', EMBEDDINGS_PREFIXES: wrong })).toContain(
      'but it wants two words',
    )
})

test('settings that outside programs rely on have their documented defaults', () => {
  const config = readConfig({})
  expect([...config.ALCOVE_PARTS]).toEqual(['services', 'api', 'workers'])
  expect(config).toMatchObject({
    AUTH_SIGNUP: 'open',
    AUTH_AUTOCONFIRM: false,
    AUTH_ANONYMOUS: false,
    AUTH_MANUAL_LINKING: true,
    AUTH_MIN_PASSWORD_LENGTH: 8,
    AUTH_MAIL_INTERVAL_S: 60,
    RATE_LIMITS: 'on',
    JWT_SECRET: undefined,
    REST_SCHEMAS: ['public'],
    REST_TX_END: 'commit',
  })
})

test('lists may have spaces, and no unknown values', () => {
  expect([...readConfig({ ALCOVE_PARTS: 'api, workers' }).ALCOVE_PARTS]).toEqual(['api', 'workers'])
  expect(readConfig({ REST_SCHEMAS: 'api, public' }).REST_SCHEMAS).toEqual(['api', 'public'])
  expect(refusal({ ALCOVE_PARTS: 'services,page' })).toContain('ALCOVE_PARTS is "services,page", but it wants')
  expect(refusal({ REST_SCHEMAS: 'public,pg_catalog' })).toContain('REST_SCHEMAS is "public,pg_catalog"')
})

test('a required second factor needs accounts', () => {
  expect(readConfig({ AUTH_REQUIRE_AAL2: 'true' }).AUTH_REQUIRE_AAL2).toBe(true)
  expect(refusal({ AUTH_REQUIRE_AAL2: 'true', AUTH_ANONYMOUS: 'true' })).toContain('AUTH_ANONYMOUS is "true", but')
})

test('rate limits can be off only on loopback', () => {
  expect(readConfig({ RATE_LIMITS: 'off', HOST: '::1' }).RATE_LIMITS).toBe('off')
  expect(refusal({ RATE_LIMITS: 'off', HOST: '0.0.0.0' })).toContain('RATE_LIMITS is "off", but it wants on')
})

test('a Supabase project needs all settings, and serves the services itself', () => {
  const project = {
    SUPABASE_URL: 'https://project.supabase.co',
    SUPABASE_ANON_KEY: 'key',
    DATABASE_URL: 'postgres://postgres@db/postgres',
    ALCOVE_SECRET: 's'.repeat(32),
    ALCOVE_PARTS: 'api,workers',
  }
  expect(readConfig(project).SUPABASE_URL).toBe('https://project.supabase.co')
  expect(refusal({ ...project, ALCOVE_PARTS: 'services,api' })).toContain('ALCOVE_PARTS has services')
  expect(refusal({ ...project, SUPABASE_ANON_KEY: '' })).toContain('SUPABASE_ANON_KEY is not set')
})

test('a provider needs all settings, and its issuer https', () => {
  expect(refusal({ AUTH_GITHUB_CLIENT_ID: 'a' })).toContain('AUTH_GITHUB_CLIENT_SECRET is not set, but AUTH_GITHUB')
  expect(refusal({ AUTH_OIDC_CLIENT_ID: 'a' })).toContain('AUTH_OIDC_ISSUER is not set')
  for (const issuer of ['http://issuer.example.org', 'http://127.0.0.1.example.org', 'file:///etc']) {
    expect(refusal({ AUTH_OIDC_ISSUER: issuer, AUTH_OIDC_CLIENT_ID: 'a' })).toContain('AUTH_OIDC_ISSUER is "')
  }
  expect(readConfig({ AUTH_OIDC_ISSUER: 'http://127.0.0.1:9000', AUTH_OIDC_CLIENT_ID: 'a' }).AUTH_OIDC_NAME).toBe(
    'oidc',
  )
  expect(refusal({ AUTH_OIDC_NAME: 'google' })).toContain('AUTH_OIDC_NAME is "google"')
})

test('the public address may have a path, which is none of our own', () => {
  for (const [given, expected] of [
    ['https://example.org/', 'https://example.org'],
    ['https://example.org/alcove/', 'https://example.org/alcove'],
    ['https://example.org/team-a/alcove.2', 'https://example.org/team-a/alcove.2'],
    ['https://example.org/a/../b c"', 'https://example.org/b%20c%22'],
  ] as const) {
    expect(readConfig({ PUBLIC_URL: given }).PUBLIC_URL).toBe(expected)
  }
  for (const end of ['api', 'auth/', 'REST/v1', 'login', 'storage/x', 'a;b', 'a//b', '/evil.example', '?a', '#a']) {
    const refused = refusal({ PUBLIC_URL: `https://example.org/${end}` })
    expect(refused, end).toContain('but it wants an http:// or https:// address; its path, if any,')
  }
})

test('redirect addresses name their host', () => {
  const AUTH_REDIRECT_URLS = 'https://app.example.com/**, alcove://callback'
  expect(readConfig({ AUTH_REDIRECT_URLS }).AUTH_REDIRECT_URLS).toHaveLength(2)
  for (const loose of ['**', 'https://*/x', '/home']) {
    expect(refusal({ AUTH_REDIRECT_URLS: loose })).toContain('AUTH_REDIRECT_URLS is "')
  }
})
