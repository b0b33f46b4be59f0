/** The only reader of the environment. `npm run settings` makes `.env.example` and docs/configuration.md from it. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { AppError } from './base/errors.ts'
import { isNetwork } from './providers/public-address.ts'

interface Setting<T> {
  readonly wants: string
  readonly explains: string
  readonly example: string
  readonly parse: z.ZodType<T, string | undefined>
}

const text = z.string().optional()
const port = z
  .string()
  .default('3000')
  .transform((value) => (/^\d{1,5}$/.test(value) ? Number(value) : Number.NaN))
  .pipe(z.int().min(0).max(65535))
const count = (fallback: number) =>
  z
    .string()
    .default(String(fallback))
    .transform((value) => (/^\d{1,9}$/.test(value) ? Number(value) : Number.NaN))
    .pipe(z.int().nonnegative())
const flag = (fallback: 'true' | 'false') =>
  z
    .enum(['true', 'false'])
    .default(fallback)
    .transform((value) => value === 'true')
/** Dollars with at most two decimals, in millionths. */
const dollars = z
  .string()
  .default('0')
  .transform((value) => (/^\d{1,9}(\.\d{1,2})?$/.test(value) ? Math.round(Number(value) * 1_000_000) : Number.NaN))
  .pipe(z.int().nonnegative())
const httpUrl = z
  .url({ protocol: /^https?$/ })
  .transform((value) => value.replace(/\/+$/, ''))
  .optional()

/** As OpenTelemetry writes them, in the format of W3C Baggage. */
const parseHeaders = (value: string) =>
  Object.fromEntries(
    value.split(',').map((pair) => {
      const [name = '', ...rest] = pair.split('=')
      return [name.trim(), rest.length === 0 ? undefined : decode(rest.join('=').trim())]
    }),
  )

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** First folders of our own paths: behind a proxy that removes such a path, a request could mean either. */
const OWN_FOLDERS = new Set([
  'api', 'auth', 'rest', 'realtime', 'storage', 'assets', 'pdfjs', 'login', 'mailbox', 'healthz', 'metrics', 'operator',
]) // prettier-ignore

/** An address that may have a path: its folders stand in cookies, redirects and the page as they are. */
const publicUrl = httpUrl
  .refine((value) => {
    if (value === undefined) return true
    const { pathname, search, hash, username, password } = new URL(value)
    const path = pathname.replace(/\/+$/, '')
    const [, first = ''] = path.split('/')
    const isOther = /^(\/[\w.~%-]+)*$/.test(path) && !OWN_FOLDERS.has(first.toLowerCase())
    return isOther && search + hash + username + password === ''
  })
  .transform((value) => {
    if (value === undefined || new URL(value).pathname === '/') return value
    const { origin, pathname } = new URL(value)
    return origin + pathname.replace(/\/+$/, '')
  })

/** Parts that a process can run: the services of the official clients, the page with its API, the background work. */
export const PARTS = ['services', 'api', 'workers'] as const
export type Part = (typeof PARTS)[number]

const listOf = (text: string): string[] => text.split(',').map((item) => item.trim())

const networks = z
  .string()
  .default('')
  .transform((value) => value.split(/[\s,]+/).filter((part) => part !== ''))
  .pipe(z.array(z.string().refine(isNetwork)))

/** `name=program argument …`, separated by semicolons. */
const commandLines = z
  .string()
  .default('')
  .transform((value) =>
    value
      .split(';')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  )
  .pipe(z.array(z.string().regex(/^[a-z0-9][a-z0-9-]{0,59}=\s*\S/)))
  .transform((lines): ReadonlyMap<string, readonly string[]> => {
    const split = lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const)
    return new Map(split.map(([name, words]) => [name, words.trim().split(/\s+/)]))
  })

/** An issuer vouches for identities, so its address needs https, except on this machine. */
const issuer = z
  .url()
  .refine((value) => value.startsWith('https:') || /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])[:/]/.test(`${value}/`))
  .optional()

const redirectPatterns = z
  .string()
  .default('')
  .transform((value) => listOf(value).filter((pattern) => pattern !== ''))
  .pipe(z.array(z.string().regex(/^[a-z][a-z\d+.-]*:\/\/[^*/]/i)))

/** A space follows each prefix, which no environment keeps at the end of a value. */
const prefixes = z
  .string()
  .regex(/^[^|]*\|[^|]*$/)
  .transform((value) => {
    const [question = '', passage = ''] = value.split('|').map((word) => (word.trim() === '' ? '' : `${word.trim()} `))
    return { question, passage }
  })
  .optional()

const natsUrls = z
  .string()
  .transform(listOf)
  .pipe(z.array(z.url({ protocol: /^(nats|tls)$/ })).min(1))
  .optional()

const setting = <T>(given: Setting<T>): Setting<T> => given

export const SETTINGS = {
  PORT: setting({
    wants: 'a port number from 0 to 65535',
    example: '3000',
    explains: 'Port that the server listens on.',
    parse: port,
  }),
  HOST: setting({
    wants: 'an address or host name',
    example: '127.0.0.1',
    explains:
      'Address that the server binds to. On anything but loopback the test account and the local mailbox do not exist.',
    parse: z.string().min(1).default('127.0.0.1'),
  }),
  ALCOVE_PARTS: setting({
    wants: 'one or more of services, api, workers, with commas',
    example: 'services,api,workers',
    explains:
      'Parts that this process runs: services (for the official clients), api (the page and its API), workers (answers and reading of documents). With services only it is a plain Supabase-compatible server without the tables of the product.',
    parse: z
      .string()
      .default(PARTS.join())
      .transform(listOf)
      .pipe(z.array(z.enum(PARTS)))
      .transform((parts): ReadonlySet<Part> => new Set(parts)),
  }),
  DATA_DIR: setting({
    wants: 'a folder',
    example: '.data',
    explains: 'Folder of the embedded database, the uploaded files and the generated secrets.',
    parse: z
      .string()
      .min(1)
      .default('.data')
      .transform((value) => path.resolve(value)),
  }),
  DATABASE_URL: setting({
    wants: 'a postgres:// address',
    example: '',
    explains:
      'PostgreSQL to use instead of the embedded one; its role must be able to create roles. Any number of servers may share it. Requires ALCOVE_SECRET.',
    parse: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  }),
  ALCOVE_SECRET: setting({
    wants: 'at least 32 characters',
    example: '',
    explains:
      'With DATABASE_URL: encrypts the signing and encryption keys that are stored in that database. Must be equal on every server.',
    parse: z.string().min(32).optional(),
  }),
  NATS_URL: setting({
    wants: 'nats:// or tls:// addresses, with commas',
    example: '',
    explains:
      'NATS servers that carry notifications between servers of one DATABASE_URL, instead of PostgreSQL, whose notifications serialise commits. Credentials as nats://user:password@ or nats://token@. Must be equal on every server.',
    parse: natsUrls,
  }),
  S3_ENDPOINT: setting({
    wants: 'an http:// or https:// address',
    example: '',
    explains:
      'Address of an S3-compatible store for uploaded files, instead of DATA_DIR. Requires S3_BUCKET, S3_ACCESS_KEY and S3_SECRET_KEY.',
    parse: httpUrl,
  }),
  S3_BUCKET: setting({ wants: 'a name', example: '', explains: 'Bucket of that store.', parse: text }),
  S3_REGION: setting({
    wants: 'a name',
    example: 'us-east-1',
    explains: 'Region of that store.',
    parse: z.string().min(1).default('us-east-1'),
  }),
  S3_ACCESS_KEY: setting({ wants: 'a key', example: '', explains: 'Access key of that store.', parse: text }),
  S3_SECRET_KEY: setting({ wants: 'a key', example: '', explains: 'Secret key of that store.', parse: text }),
  SUPABASE_URL: setting({
    wants: 'an http:// or https:// address',
    example: '',
    explains:
      'Supabase project that serves the four services instead of Alcove. Requires its DATABASE_URL, its SUPABASE_ANON_KEY, and ALCOVE_PARTS without services.',
    parse: httpUrl,
  }),
  SUPABASE_ANON_KEY: setting({
    wants: 'a key',
    example: '',
    explains: 'Public key of that project, for the page.',
    parse: text,
  }),
  JWT_SECRET: setting({
    wants: 'at least 32 characters',
    example: '',
    explains: 'Tokens signed with it (HS256) are accepted in addition to those of our own keys.',
    parse: z.string().min(32).optional(),
  }),
  REST_SCHEMAS: setting({
    wants: 'names of schemas, with commas',
    example: 'public',
    explains:
      'Schemas that /rest/v1 serves. The first is the default, the others are chosen by Accept-Profile and Content-Profile.',
    parse: z
      .string()
      .default('public')
      .transform(listOf)
      .pipe(z.array(z.string().min(1).max(63)).min(1))
      .refine((names) => !names.some((name) => /^pg_|^information_schema$/.test(name))),
  }),
  REST_TX_END: setting({
    wants: 'commit or allow-override',
    example: 'commit',
    explains: 'Whether `Prefer: tx=rollback` rolls back a request to /rest/v1, for tests of programs.',
    parse: z.enum(['commit', 'allow-override']).default('commit'),
  }),
  REST_MAX_ROWS: setting({
    wants: 'a whole number, 0 for no limit',
    example: '50000',
    explains:
      'Most rows of one answer of /rest/v1, and of each embedded list. Further rows are left out, and Content-Range says so.',
    parse: count(50_000),
  }),
  REST_MAX_ANSWER_MB: setting({
    wants: 'a whole number from 1 to 64',
    example: '32',
    explains:
      'Most megabytes of one answer of /rest/v1. A larger one is refused with status 413 while PostgreSQL collects it.',
    parse: count(32).pipe(z.int().min(1).max(64)),
  }),
  PUBLIC_URL: setting({
    wants: 'an http:// or https:// address; its path, if any, does not begin with one of our own (/api, /auth, …)',
    example: '',
    explains:
      'Address under which people reach Alcove; links in mails start with it. It may have a path, such as https://example.org/alcove, which the proxy may pass on or remove. Setting it ends the local set-up (test account, mailbox).',
    parse: publicUrl,
  }),
  REALTIME_PUBLIC: setting({
    wants: 'refuse or accept',
    example: 'refuse',
    explains:
      'Whether public channels of /realtime/v1, on which anyone with the public key may talk, are refused or accepted; database changes pass on any channel. Not set: refused, but accepted by a server that runs no api, as by other servers of these services.',
    parse: z.enum(['refuse', 'accept']).optional(),
  }),
  PUBLIC_LINKS: setting({
    wants: 'on or off',
    example: 'off',
    explains:
      'Whether people may make links to a conversation that open without an account. Off, links open for signed-in people only, also those that were made for anybody.',
    parse: z
      .enum(['on', 'off'])
      .default('off')
      .transform((value) => value === 'on'),
  }),
  TRUST_PROXY: setting({
    wants: 'a whole number',
    example: '0',
    explains: 'Number of reverse proxies in front whose forwarded addresses and request ids are trusted.',
    parse: count(0),
  }),
  LOG_LEVEL: setting({
    wants: 'one of debug, info, warn, error, silent',
    example: 'info',
    explains: 'How much is logged to standard error.',
    parse: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  }),
  METRICS_TOKEN: setting({
    wants: 'at least 24 characters without spaces',
    example: '',
    explains:
      'Bearer token that GET /metrics requires. Without it, only requests of this machine may read it, and nobody once PUBLIC_URL or TRUST_PROXY is set or HOST is not loopback.',
    parse: z
      .string()
      .regex(/^[\x21-\x7e]{24,}$/)
      .optional(),
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting({
    wants: 'an http:// or https:// address',
    example: '',
    explains:
      'OpenTelemetry collector that takes OTLP over HTTP, for example http://127.0.0.1:4318. Traces and metrics are sent to it; without it nothing is.',
    parse: httpUrl,
  }),
  OTEL_EXPORTER_OTLP_HEADERS: setting({
    wants: 'name=value, separated by commas',
    example: '',
    explains: 'Headers for the collector, such as an authorization. Values are percent-encoded.',
    parse: z
      .string()
      .transform(parseHeaders)
      .pipe(z.record(z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/), z.string()))
      .optional(),
  }),
  OTEL_SERVICE_NAME: setting({
    wants: 'a name',
    example: 'alcove',
    explains: 'Name of this server in traces and metrics that are sent.',
    parse: z.string().min(1).default('alcove'),
  }),
  OTEL_TRACES_SAMPLER_ARG: setting({
    wants: 'a number from 0 to 1',
    example: '1',
    explains: 'Share of the traces that are sent.',
    parse: z.string().default('1').transform(Number).pipe(z.number().min(0).max(1)),
  }),
  SMTP_URL: setting({
    wants: 'an smtp:// or smtps:// address',
    example: '',
    explains: 'Mail server. Without it, mail goes to the local mailbox and its links are printed in the log.',
    parse: z.url({ protocol: /^smtps?$/ }).optional(),
  }),
  MAIL_FROM: setting({
    wants: 'a mail address',
    example: 'Alcove <alcove@localhost>',
    explains: 'Sender of the mails.',
    parse: z.string().min(3).default('Alcove <alcove@localhost>'),
  }),
  AUTH_SIGNUP: setting({
    wants: 'open, invite or closed',
    example: 'open',
    explains:
      'Who may create accounts: everybody (open), people invited with the service key (invite), or the service key only (closed).',
    parse: z.enum(['open', 'invite', 'closed']).default('open'),
  }),
  AUTH_AUTOCONFIRM: setting({
    wants: 'true or false',
    example: 'false',
    explains:
      'Whether a new account works without the confirmation mail. An address then belongs to the first who signs up with it, and sign-up tells which addresses have an account. Otherwise, where requests for an unconfirmed address differ, confirming it sets no password, and `app_metadata.needs_password` tells programs to ask for a new one.',
    parse: flag('false'),
  }),
  AUTH_SIGNUP_REVEALS_ACCOUNTS: setting({
    wants: 'true or false',
    example: 'false',
    explains:
      'Whether the answer to a sign-up shows that the address has an account (`identities` is empty), for programs written for Supabase that tell their people. By default all addresses are answered alike, and the owner of the account gets a mail.',
    parse: flag('false'),
  }),
  AUTH_ANONYMOUS: setting({
    wants: 'true or false',
    example: 'false',
    explains: 'Whether people may use the services without an account and turn that into an account later.',
    parse: flag('false'),
  }),
  AUTH_MANUAL_LINKING: setting({
    wants: 'true or false',
    example: 'true',
    explains: 'Whether people may add sign-in methods to their account and remove them.',
    parse: flag('true'),
  }),
  AUTH_REDIRECT_URLS: setting({
    wants: 'addresses with commas, such as https://app.example.com/**',
    example: '',
    explains:
      'Other addresses that sign-in and mails may redirect to. `*` matches anything but "." and "/", `**` matches anything.',
    parse: redirectPatterns,
  }),
  AUTH_GOOGLE_CLIENT_ID: setting({
    wants: 'a client id, or several with commas',
    example: '',
    explains:
      'Sign-in with Google: client id for the callback PUBLIC_URL/auth/v1/callback. ID tokens for the further ids are accepted too.',
    parse: text,
  }),
  AUTH_GOOGLE_CLIENT_SECRET: setting({
    wants: 'a secret',
    example: '',
    explains: 'Client secret of that client id.',
    parse: text,
  }),
  AUTH_GITHUB_CLIENT_ID: setting({
    wants: 'a client id',
    example: '',
    explains: 'Sign-in with GitHub: client id of your OAuth app with the callback PUBLIC_URL/auth/v1/callback.',
    parse: text,
  }),
  AUTH_GITHUB_CLIENT_SECRET: setting({
    wants: 'a secret',
    example: '',
    explains: 'Client secret of that client id.',
    parse: text,
  }),
  AUTH_OIDC_ISSUER: setting({
    wants: 'an https:// address, or an http:// one of this machine',
    example: '',
    explains:
      'Sign-in with any issuer of OpenID Connect (Keycloak, Authentik, Entra ID, …), by its address without /.well-known. An e-mail address that it has verified opens the account with that address.',
    parse: issuer,
  }),
  AUTH_OIDC_CLIENT_ID: setting({
    wants: 'a client id, or several with commas',
    example: '',
    explains: 'Client id at that issuer, for the callback PUBLIC_URL/auth/v1/callback.',
    parse: text,
  }),
  AUTH_OIDC_CLIENT_SECRET: setting({
    wants: 'a secret',
    example: '',
    explains: 'Client secret at that issuer; a public client has none.',
    parse: text,
  }),
  AUTH_OIDC_NAME: setting({
    wants: 'lower-case letters, digits and hyphens',
    example: 'oidc',
    explains:
      'Name of that issuer for programs: the `provider` of signInWithOAuth. It is stored with each account that uses it.',
    parse: z
      .string()
      .regex(/^[a-z][a-z\d-]{0,30}$/)
      .refine((name) => !['email', 'phone', 'google', 'github', 'anonymous-users'].includes(name))
      .default('oidc'),
  }),
  AUTH_OIDC_LABEL: setting({
    wants: 'some words',
    example: 'single sign-on',
    explains: 'Name of that issuer on the button of the sign-in page, after "Continue with".',
    parse: z.string().min(1).max(60).default('single sign-on'),
  }),
  AUTH_SAML_PROVIDERS: setting({
    wants: 'the name of a JSON file',
    example: '',
    explains: 'Single sign-on (SAML 2.0): file that lists identity providers, described in docs/deploy.md.',
    parse: z
      .string()
      .transform((value) => path.resolve(value))
      .optional(),
  }),
  AUTH_SMS_WEBHOOK: setting({
    wants: 'an https:// address, or an http:// one of this machine',
    example: '',
    explains:
      'Webhook that sends text messages with codes (a signed POST, as by the hook of Supabase), so that a phone can be a second factor. Without it, only authenticator apps can.',
    parse: issuer,
  }),
  AUTH_SMS_WEBHOOK_SECRET: setting({
    wants: 'v1,whsec_ and at least 24 bytes in base64',
    example: '',
    explains: 'Secret that signs those requests (Standard Webhooks).',
    parse: z
      .string()
      .regex(/^v1,whsec_[A-Za-z\d+/]{32,}={0,2}$/)
      .optional(),
  }),
  AUTH_REQUIRE_AAL2: setting({
    wants: 'true or false',
    example: 'false',
    explains:
      'Whether everybody must have a second factor. People without one can only set one up; the page leads them there.',
    parse: flag('false'),
  }),
  AUTH_SESSION_DAYS: setting({
    wants: 'a whole number of days, 0 for no end',
    example: '30',
    explains: 'Days after which people have to sign in again, however active they were.',
    parse: count(30),
  }),
  AUTH_SESSION_IDLE_DAYS: setting({
    wants: 'a whole number of days, 0 for no end',
    example: '14',
    explains: 'Days without use after which people have to sign in again; an open page counts as use.',
    parse: count(14),
  }),
  AUTH_PASSWORD_NONCE: setting({
    wants: 'true or false',
    example: 'false',
    explains: 'Whether a new password needs a mailed code in a session older than a day.',
    parse: flag('false'),
  }),
  AUTH_MIN_PASSWORD_LENGTH: setting({
    wants: 'a whole number',
    example: '8',
    explains: 'Shortest password that is accepted.',
    parse: count(8),
  }),
  AUTH_COMMON_PASSWORDS: setting({
    wants: 'refuse or accept',
    example: 'refuse',
    explains:
      'Whether common passwords are refused or accepted. Not set: refused, but accepted by a server that runs no api, as other servers of these services do.',
    parse: z.enum(['refuse', 'accept']).optional(),
  }),
  AUTH_MAIL_INTERVAL_S: setting({
    wants: 'a number of seconds',
    example: '60',
    explains: 'Shortest time between two mails of one kind to one person.',
    parse: count(60),
  }),
  RATE_LIMITS: setting({
    wants: 'on or off',
    example: 'on',
    explains: 'Limits on sign-in, sign-up and mail. Off is refused unless the server is bound to loopback.',
    parse: z.enum(['on', 'off']).default('on'),
  }),
  QUOTA_FILES_MB: setting({
    wants: 'a whole number of megabytes, 0 for no limit',
    example: '20000',
    explains: 'Bytes that the files of one person may take, with what is kept about them: text, index and vectors.',
    parse: count(20_000),
  }),
  QUOTA_TEXT_MB: setting({
    wants: 'a whole number of megabytes, 0 for no limit',
    example: '2000',
    explains: 'Bytes that the conversations of one person may take.',
    parse: count(2_000),
  }),
  QUOTA_TOTAL_MB: setting({
    wants: 'a whole number of megabytes, 0 for no limit',
    example: '200000',
    explains:
      'Bytes that the files and conversations of all people may take together. Set it below the size of the disk: the database needs room for its log and for rows that were changed.',
    parse: count(200_000),
  }),
  LIMIT_QUESTIONS: setting({
    wants: 'a whole number, 0 for no limit',
    example: '0',
    explains: 'Questions that one person may ask a day. Days and months of all limits are those of UTC.',
    parse: count(0),
  }),
  LIMIT_QUESTIONS_ALL: setting({
    wants: 'a whole number, 0 for no limit',
    example: '0',
    explains: 'Questions that all people may ask together a day.',
    parse: count(0),
  }),
  LIMIT_TOKENS: setting({
    wants: 'a whole number, 0 for no limit',
    example: '0',
    explains:
      'Tokens that one person may use a day with the models of this installation. Those of accounts and servers that people connect themselves do not count.',
    parse: count(0),
  }),
  LIMIT_TOKENS_ALL: setting({
    wants: 'a whole number, 0 for no limit',
    example: '0',
    explains: 'Tokens that all people may use together a day with these models.',
    parse: count(0),
  }),
  LIMIT_COST: setting({
    wants: 'dollars with at most two decimals, 0 for no limit',
    example: '0',
    explains:
      'Cost that one person may cause a month with the models of this installation, by the prices of MODEL_PRICES.',
    parse: dollars,
  }),
  LIMIT_COST_ALL: setting({
    wants: 'dollars with at most two decimals, 0 for no limit',
    example: '0',
    explains: 'Cost that all people may cause together a month.',
    parse: dollars,
  }),
  LIMIT_PAGES: setting({
    wants: 'a whole number, 0 for no limit',
    example: '0',
    explains:
      'Pages of scans and pictures that are recognised a day for one person. A file that needs more than are left is not read.',
    parse: count(0),
  }),
  LIMIT_PAGES_ALL: setting({
    wants: 'a whole number, 0 for no limit',
    example: '0',
    explains: 'Pages that are recognised a day for all people together.',
    parse: count(0),
  }),
  MODEL_PRICES: setting({
    wants: 'a JSON object or the name of a JSON file',
    example: '',
    explains:
      'Prices of models in dollars for a million tokens, such as {"my-model": {"in": 1, "out": 4}}. A name also stands for its versions, such as my-model-2025-08-07 and my-model:8b. They come before the built-in list prices of models until 2025. A model without a price costs nothing, so state those that you offer.',
    parse: text,
  }),
  DISK_MARGIN_MB: setting({
    wants: 'a whole number of megabytes, 0 for none',
    example: '1000',
    explains:
      'Room on the disk of DATA_DIR below which files are refused, so that the database does not stop. What is there stays readable, and questions are answered.',
    parse: count(1_000),
  }),
  BACKUP_TARGET: setting({
    wants: 'a folder or s3://bucket/prefix',
    example: '',
    explains:
      'Where scheduled backups go. Without it there are none; `npm run -s backup -- <folder or s3://bucket/prefix>` makes one at any time.',
    parse: text,
  }),
  BACKUP_INTERVAL_HOURS: setting({
    wants: 'a whole number of hours, at least 1',
    example: '24',
    explains: 'Hours between scheduled backups; several servers of one database make one.',
    parse: count(24).pipe(z.int().min(1)),
  }),
  BACKUP_KEEP_DAYS: setting({
    wants: 'a whole number of days, 0 for no end',
    example: '0',
    explains:
      'Days after which a backup is removed, by the next one and once that is verified. The newest always stays.',
    parse: count(0),
  }),
  BACKUP_PASSPHRASE: setting({
    wants: 'at least 12 characters',
    example: '',
    explains:
      'Encrypts backups, and is needed to restore them: without it, whoever can read a backup reads everything in it. Store it apart from the backups, since there is no other way to read them.',
    parse: z.string().min(12).optional(),
  }),
  BACKUP_S3_ENDPOINT: setting({
    wants: 'an http:// or https:// address',
    example: '',
    explains:
      'Address of the S3-compatible store for backups to s3://. Requires BACKUP_S3_ACCESS_KEY and BACKUP_S3_SECRET_KEY. Default: the store of S3_ENDPOINT with its keys.',
    parse: httpUrl,
  }),
  BACKUP_S3_REGION: setting({
    wants: 'a name',
    example: '',
    explains: 'Region of that store. Default: S3_REGION.',
    parse: text,
  }),
  BACKUP_S3_ACCESS_KEY: setting({ wants: 'a key', example: '', explains: 'Access key of that store.', parse: text }),
  BACKUP_S3_SECRET_KEY: setting({ wants: 'a key', example: '', explains: 'Secret key of that store.', parse: text }),
  OCR_PROCESSES: setting({
    wants: 'a whole number, 0 for as many as there are processors',
    example: '0',
    explains:
      'Pages of scans that are read at a time; people take turns, and the shortest file of a person comes first. Each process takes up to 1 GB of memory; one more, of about 200 MB, stays warm for a minute afterwards.',
    parse: count(0),
  }),
  ANTHROPIC_API_KEY: setting({ wants: 'a key', example: '', explains: 'Key for the Anthropic models.', parse: text }),
  ANTHROPIC_BASE_URL: setting({
    wants: 'an http:// or https:// address',
    example: '',
    explains: 'Alternative address of the Anthropic API, ending in /v1.',
    parse: httpUrl,
  }),
  OPENAI_API_KEY: setting({ wants: 'a key', example: '', explains: 'Key for the OpenAI models.', parse: text }),
  OPENAI_BASE_URL: setting({
    wants: 'an http:// or https:// address',
    example: '',
    explains: 'Alternative address of the OpenAI API, ending in /v1.',
    parse: httpUrl,
  }),
  OPENAI_COMPATIBLE_BASE_URL: setting({
    wants: 'an http:// or https:// address',
    example: '',
    explains:
      'Address, ending in /v1, of any server that speaks the OpenAI protocol (Ollama, llama.cpp, vLLM, LM Studio); its models are listed.',
    parse: httpUrl,
  }),
  OPENAI_COMPATIBLE_API_KEY: setting({
    wants: 'a key',
    example: '',
    explains: 'Key for that server, if it needs one.',
    parse: text,
  }),
  TRANSCRIPTION_MODEL: setting({
    wants: 'a model identifier',
    example: 'whisper-1',
    explains:
      'Model that turns speech into text, at the OpenAI API where its key is set, else at the OpenAI-compatible server.',
    parse: z.string().min(1).default('whisper-1'),
  }),
  OPENAI_BROWSER_KEY: setting({
    wants: 'a key',
    example: '',
    explains:
      'Key that browsers of signed-in people receive, to transcribe speech with OpenAI where this server cannot. Only used with AUTH_SIGNUP=closed; restrict it to transcription.',
    parse: text,
  }),
  ALLOWED_NETWORKS: setting({
    wants: 'addresses or networks such as 192.168.1.0/24, separated by commas',
    example: '',
    explains:
      'Private networks in which people may connect their own model servers and tool servers. Without it, only servers on the public internet.',
    parse: networks,
  }),
  TOOL_COMMANDS: setting({
    wants: 'commands such as files=npx -y some-server /srv/shared, separated by semicolons',
    example: '',
    explains:
      'Tool servers (Model Context Protocol over standard input) that people may connect by name. Each runs as the user of the server: list only commands that everybody who can sign in may use.',
    parse: commandLines,
  }),
  MODEL_SILENCE_S: setting({
    wants: 'a number of seconds',
    example: '120',
    explains: 'Idle timeout of a model provider: an answer fails after this time without data.',
    parse: count(120),
  }),
  DOCUMENT_WAIT_S: setting({
    wants: 'a number of seconds',
    example: '30',
    explains: 'Longest that a question waits for a document that it names and that is still being read.',
    parse: count(30),
  }),
  PASSAGE_TOKENS: setting({
    wants: 'a number of tokens',
    example: '6000',
    explains:
      'Tokens of passages that a language model is given for a question: half as many again in windows from 200,000 tokens, at most about a third of small ones.',
    parse: count(6_000),
  }),
  OTHER_WORDS: setting({
    wants: 'true or false',
    example: 'true',
    explains:
      'Whether the answering model is first asked, in one short request, for searches in other words where those of the question find little.',
    parse: flag('true'),
  }),
  DEFAULT_MODEL: setting({
    wants: 'a model identifier',
    example: '',
    explains:
      'Model of people who have not chosen one. Default: the first of a configured provider, else the built-in Alcove Reader.',
    parse: text,
  }),
  OFFERED_MODELS: setting({
    wants: 'model identifiers, separated by commas',
    example: '',
    explains:
      'Models of this installation that are offered to everybody, with DEFAULT_MODEL; `alcove-reader` is Alcove Reader. Default: as the operator chooses in the page. What people connect with their own keys stays theirs.',
    parse: z
      .string()
      .transform((value) => listOf(value).filter((name) => name !== ''))
      .optional(),
  }),
  OFFER_NEW_MODELS: setting({
    wants: 'true or false',
    example: 'true',
    explains: 'Whether a model that a provider of this installation lists for the first time is offered to everybody.',
    parse: flag('true'),
  }),
  EMBEDDINGS_MODEL: setting({
    wants: 'a model identifier',
    example: '',
    explains:
      'Model that turns passages and questions into vectors for search by meaning. Without it, search uses words only.',
    parse: text,
  }),
  EMBEDDINGS_BASE_URL: setting({
    wants: 'an http:// or https:// address',
    example: '',
    explains:
      'Address, ending in /v1, of the server with that model. Default: the OpenAI-compatible server, else the OpenAI API where its key is set.',
    parse: httpUrl,
  }),
  EMBEDDINGS_API_KEY: setting({
    wants: 'a key',
    example: '',
    explains: 'Key for EMBEDDINGS_BASE_URL, if it needs one.',
    parse: text,
  }),
  EMBEDDINGS_PATH: setting({
    wants: 'a folder',
    example: '',
    explains:
      'Folder with an ONNX embeddings model in the layout of Hugging Face (config.json, tokenizer.json, onnx/model.onnx), which runs in this server in place of EMBEDDINGS_MODEL: no text leaves it. `npm start` then installs the library that runs it; docs/deploy.md says how for the package and the image.',
    parse: z
      .string()
      .transform((value) => path.resolve(value))
      .optional(),
  }),
  EMBEDDINGS_PREFIXES: setting({
    wants: 'two words with | between them, such as query:|passage:',
    example: '',
    explains:
      'Words that the model of EMBEDDINGS_PATH wants in front of each question and each passage. Default: as the model states them, and those of E5 for a folder of that name.',
    parse: prefixes,
  }),
  SEARCH_PROVIDER: setting({
    wants: 'searxng, brave or tavily',
    example: '',
    explains: 'Search engine of @search. Without it, @search says that there is none.',
    parse: z.enum(['searxng', 'brave', 'tavily']).optional(),
  }),
  SEARCH_URL: setting({
    wants: 'an http:// or https:// address',
    example: '',
    explains:
      'Address of the SearXNG instance, which must allow the format json; or an alternative address of Brave or Tavily.',
    parse: httpUrl,
  }),
  SEARCH_API_KEY: setting({ wants: 'a key', example: '', explains: 'Key for Brave or Tavily.', parse: text }),
} as const

type Settings = { readonly [Name in keyof typeof SETTINGS]: z.output<(typeof SETTINGS)[Name]['parse']> }

export interface Config extends Settings {
  /** Bound to loopback, embedded database, no PUBLIC_URL: only then the test account and the mailbox exist. */
  readonly isLocalSetUp: boolean
  /** Bound to loopback without PUBLIC_URL. Otherwise a proxy may forward requests, which then look local. */
  readonly hasNoProxy: boolean
  /** Names of the settings that the environment or `.env` states. */
  readonly given: ReadonlySet<string>
}

/** Settings that may hold a password: error messages must not print them. */
const HOLDS_SECRET = /_SECRET$|_KEY$|_TOKEN$|_PASSPHRASE$|^DATABASE_URL$|^NATS_URL$|^SMTP_URL$/
const LOOPBACK_HOSTS = new Set(['127.0.0.1', '::1', 'localhost'])

function requireWholeProject(settings: Settings): void {
  if (settings.SUPABASE_URL === undefined) return
  for (const needed of ['DATABASE_URL', 'SUPABASE_ANON_KEY'] as const) {
    if (settings[needed] === undefined)
      throw new AppError('startup', `${needed} is not set, but SUPABASE_URL wants it.`)
  }
  if (settings.BACKUP_TARGET !== undefined)
    throw new AppError(
      'startup',
      `BACKUP_TARGET is "${settings.BACKUP_TARGET}", but the project of SUPABASE_URL makes backups of its database itself.`,
    )
  if (settings.ALCOVE_PARTS.has('services')) {
    throw new AppError(
      'startup',
      'ALCOVE_PARTS has services, but with SUPABASE_URL that project serves them: it wants api, workers or both.',
    )
  }
}

function requireWholeProviders(settings: Settings): void {
  const pairs = [
    ['AUTH_GOOGLE_CLIENT_ID', 'AUTH_GOOGLE_CLIENT_SECRET'],
    ['AUTH_GITHUB_CLIENT_ID', 'AUTH_GITHUB_CLIENT_SECRET'],
    ['AUTH_OIDC_ISSUER', 'AUTH_OIDC_CLIENT_ID'],
    ['AUTH_SMS_WEBHOOK', 'AUTH_SMS_WEBHOOK_SECRET'],
  ] as const
  for (const [one, other] of pairs) {
    if ((settings[one] === undefined) === (settings[other] === undefined)) continue
    const [missing, present] = settings[one] === undefined ? [one, other] : [other, one]
    throw new AppError('startup', `${missing} is not set, but ${present} wants it.`)
  }
}

function requireOneEmbeddingsModel({ EMBEDDINGS_PATH, EMBEDDINGS_MODEL }: Settings): void {
  if (EMBEDDINGS_PATH !== undefined && EMBEDDINGS_MODEL !== undefined)
    throw new AppError(
      'startup',
      `EMBEDDINGS_MODEL is "${EMBEDDINGS_MODEL}", but EMBEDDINGS_PATH is set too: one model computes the vectors.`,
    )
}

/** Settings that mean nothing without another one: ignored without a word, they would leave a service unused. */
const DEPENDENT_SETTINGS = [
  ['AUTH_OIDC_CLIENT_SECRET', 'AUTH_OIDC_ISSUER'],
  ['BACKUP_S3_ACCESS_KEY', 'BACKUP_S3_ENDPOINT'],
  ['BACKUP_S3_SECRET_KEY', 'BACKUP_S3_ENDPOINT'],
  ['EMBEDDINGS_API_KEY', 'EMBEDDINGS_BASE_URL'],
  ['EMBEDDINGS_BASE_URL', 'EMBEDDINGS_MODEL'],
  ['EMBEDDINGS_PREFIXES', 'EMBEDDINGS_PATH'],
  ['OPENAI_COMPATIBLE_API_KEY', 'OPENAI_COMPATIBLE_BASE_URL'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
  ['S3_ACCESS_KEY', 'S3_ENDPOINT'],
  ['S3_BUCKET', 'S3_ENDPOINT'],
  ['S3_SECRET_KEY', 'S3_ENDPOINT'],
  ['SEARCH_API_KEY', 'SEARCH_PROVIDER'],
  ['SEARCH_URL', 'SEARCH_PROVIDER'],
  ['SUPABASE_ANON_KEY', 'SUPABASE_URL'],
] as const satisfies readonly (readonly [keyof Settings, keyof Settings])[]

function refuseUselessSettings(settings: Settings): void {
  for (const [dependent, needed] of DEPENDENT_SETTINGS)
    if (settings[dependent] !== undefined && settings[needed] === undefined)
      throw new AppError('startup', `${needed} is not set, but ${dependent} wants it.`)
  const { EMBEDDINGS_MODEL, EMBEDDINGS_BASE_URL, OPENAI_COMPATIBLE_BASE_URL, OPENAI_API_KEY } = settings
  const hasEndpoint = [EMBEDDINGS_BASE_URL, OPENAI_COMPATIBLE_BASE_URL, OPENAI_API_KEY].some((one) => one !== undefined)
  if (EMBEDDINGS_MODEL !== undefined && !hasEndpoint)
    throw new AppError(
      'startup',
      `EMBEDDINGS_MODEL is "${EMBEDDINGS_MODEL}", but there is no server with it: set EMBEDDINGS_BASE_URL, OPENAI_COMPATIBLE_BASE_URL or OPENAI_API_KEY.`,
    )
}

/** The environment, completed by the file `.env` next to package.json. */
export function loadEnvironment(): Readonly<Record<string, string | undefined>> {
  const file = fileURLToPath(new URL('../.env', import.meta.url))
  if (existsSync(file)) process.loadEnvFile(file)
  return process.env
}

/** An earlier version had METRICS; ignored without a word, it would leave a monitor without metrics. */
function refuseMetricsForEverybody({ METRICS }: Readonly<Record<string, string | undefined>>): void {
  if (METRICS?.trim() !== 'everyone') return
  throw new AppError(
    'startup',
    'METRICS is "everyone", but metrics are no longer served to everybody: set METRICS_TOKEN, which GET /metrics then requires, and remove METRICS.',
  )
}

/** An empty variable counts as absent. @throws AppError `startup` with the variable, its value and what it wants. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const read = <T>(name: string, { parse, wants }: Setting<T>): T => {
    const given = environment[name]?.trim() || undefined
    const parsed = parse.safeParse(given)
    if (parsed.success) return parsed.data
    const shown = HOLDS_SECRET.test(name) ? `${given?.length ?? 0} characters` : `"${given ?? ''}"`
    throw new AppError('startup', `${name} is ${shown}, but it wants ${wants}.`)
  }
  const settings = Object.fromEntries(
    Object.entries(SETTINGS).map(([name, declared]) => [name, read<unknown>(name, declared)]),
  ) as unknown as Settings
  refuseMetricsForEverybody(environment)
  const isLoopback = LOOPBACK_HOSTS.has(settings.HOST)
  const hasNoProxy = isLoopback && settings.PUBLIC_URL === undefined && settings.TRUST_PROXY === 0
  if (settings.DATABASE_URL !== undefined && settings.ALCOVE_SECRET === undefined) {
    throw new AppError(
      'startup',
      'ALCOVE_SECRET is not set, but DATABASE_URL wants it: at least 32 characters, the same on every server.',
    )
  }
  if (settings.NATS_URL !== undefined && settings.DATABASE_URL === undefined)
    throw new AppError(
      'startup',
      'DATABASE_URL is not set, but NATS_URL wants it: a server alone has nobody to ring for.',
    )
  requireWholeProject(settings)
  for (const needed of ['S3_BUCKET', 'S3_ACCESS_KEY', 'S3_SECRET_KEY'] as const) {
    if (settings.S3_ENDPOINT !== undefined && settings[needed] === undefined)
      throw new AppError('startup', `${needed} is not set, but S3_ENDPOINT wants it.`)
  }

  for (const needed of ['BACKUP_S3_ACCESS_KEY', 'BACKUP_S3_SECRET_KEY'] as const) {
    if (settings.BACKUP_S3_ENDPOINT !== undefined && settings[needed] === undefined)
      throw new AppError('startup', `${needed} is not set, but BACKUP_S3_ENDPOINT wants it.`)
  }
  requireWholeProviders(settings)
  if (settings.AUTH_REQUIRE_AAL2 && settings.AUTH_ANONYMOUS) {
    throw new AppError(
      'startup',
      'AUTH_ANONYMOUS is "true", but AUTH_REQUIRE_AAL2 wants false: nobody without an account has a second factor.',
    )
  }
  requireOneEmbeddingsModel(settings)
  refuseUselessSettings(settings)
  const { SEARCH_PROVIDER: engine } = settings
  const needed = engine === 'searxng' ? 'SEARCH_URL' : 'SEARCH_API_KEY'
  if (engine !== undefined && settings[needed] === undefined)
    throw new AppError('startup', `${needed} is not set, but SEARCH_PROVIDER "${engine}" wants it.`)
  if (settings.RATE_LIMITS === 'off' && !isLoopback) {
    throw new AppError(
      'startup',
      `RATE_LIMITS is "off", but it wants on unless HOST is loopback (HOST is "${settings.HOST}").`,
    )
  }
  return Object.freeze({
    ...settings,
    isLocalSetUp: hasNoProxy && settings.DATABASE_URL === undefined,
    hasNoProxy,
    given: new Set(Object.keys(SETTINGS).filter((name) => (environment[name]?.trim() ?? '') !== '')),
  })
}
