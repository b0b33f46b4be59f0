/**
 * The only reader of the environment. Each setting is declared once, with the sentence that explains it: `.env.example`
 * and docs/configuration.md are generated from here (`npm run settings`), and `npm run check` compares them.
 */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { AppError } from './base/errors.ts'

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
const httpUrl = z
  .url({ protocol: /^https?$/ })
  .transform((value) => value.replace(/\/+$/, ''))
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
      'PostgreSQL to use instead of the embedded one, as a role that may create roles. Any number of servers may share it; ALCOVE_SECRET is then required.',
    parse: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  }),
  ALCOVE_SECRET: setting({
    wants: 'at least 32 characters',
    example: '',
    explains:
      'With DATABASE_URL: wraps the signing and encryption keys that live in that database. The same on every server.',
    parse: z.string().min(32).optional(),
  }),
  PUBLIC_URL: setting({
    wants: 'an http:// or https:// address',
    example: '',
    explains:
      'Address under which people reach Alcove; links in mails start with it. Setting it ends the local set-up (test account, mailbox).',
    parse: httpUrl,
  }),
  TRUST_PROXY: setting({
    wants: 'a whole number',
    example: '0',
    explains: 'How many reverse proxies in front are believed about the address of a visitor.',
    parse: count(0),
  }),
  LOG_LEVEL: setting({
    wants: 'one of debug, info, warn, error, silent',
    example: 'info',
    explains: 'How much is logged to standard error.',
    parse: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  }),
  METRICS: setting({
    wants: 'loopback or everyone',
    example: 'loopback',
    explains: 'Who may read GET /metrics.',
    parse: z.enum(['loopback', 'everyone']).default('loopback'),
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
      'Who may create accounts: anybody, whoever is invited through the service key, or that key alone without invitations.',
    parse: z.enum(['open', 'invite', 'closed']).default('open'),
  }),
  AUTH_AUTOCONFIRM: setting({
    wants: 'true or false',
    example: 'false',
    explains: 'Whether a new account works without the confirmation mail.',
    parse: flag('false'),
  }),
  AUTH_ANONYMOUS: setting({
    wants: 'true or false',
    example: 'false',
    explains: 'Whether somebody may use the services without an account, and make it one later.',
    parse: flag('false'),
  }),
  AUTH_MANUAL_LINKING: setting({
    wants: 'true or false',
    example: 'true',
    explains: 'Whether people may add and remove ways of signing in to their account.',
    parse: flag('true'),
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
  AUTH_MAIL_INTERVAL_S: setting({
    wants: 'a number of seconds',
    example: '60',
    explains: 'Least time between two mails of one kind to one person.',
    parse: count(60),
  }),
  RATE_LIMITS: setting({
    wants: 'on or off',
    example: 'on',
    explains: 'Limits on sign-in, sign-up and mail. Off is refused unless the server is bound to loopback.',
    parse: z.enum(['on', 'off']).default('on'),
  }),
  ANTHROPIC_API_KEY: setting({ wants: 'a key', example: '', explains: 'Key for the Anthropic models.', parse: text }),
  ANTHROPIC_BASE_URL: setting({
    wants: 'an http:// or https:// address',
    example: '',
    explains: 'Other address of the Anthropic API, ending in /v1.',
    parse: httpUrl,
  }),
  OPENAI_API_KEY: setting({ wants: 'a key', example: '', explains: 'Key for the OpenAI models.', parse: text }),
  OPENAI_BASE_URL: setting({
    wants: 'an http:// or https:// address',
    example: '',
    explains: 'Other address of the OpenAI API, ending in /v1.',
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
    explains: 'Key for that server, if it wants one.',
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
      'Key that browsers of signed-in people get, to have speech transcribed by OpenAI where this server cannot. Only used with AUTH_SIGNUP=closed; let it do nothing but transcription.',
    parse: text,
  }),
  MODEL_SILENCE_S: setting({
    wants: 'a number of seconds',
    example: '120',
    explains: 'Longest silence of a model provider before its answer is given up.',
    parse: count(120),
  }),
  DEFAULT_MODEL: setting({
    wants: 'a model identifier',
    example: '',
    explains:
      'Model chosen for people who have not chosen. Default: the first of a configured provider, else the built-in Reader.',
    parse: text,
  }),
  SEARCH_PROVIDER: setting({
    wants: 'searxng, brave or tavily',
    example: '',
    explains: 'Search engine that @search asks. Without it, @search says that there is none.',
    parse: z.enum(['searxng', 'brave', 'tavily']).optional(),
  }),
  SEARCH_URL: setting({
    wants: 'an http:// or https:// address',
    example: '',
    explains:
      'Address of the SearXNG instance, which must allow the format json; or another address of Brave or Tavily.',
    parse: httpUrl,
  }),
  SEARCH_API_KEY: setting({ wants: 'a key', example: '', explains: 'Key for Brave or Tavily.', parse: text }),
} as const

type Settings = { readonly [Name in keyof typeof SETTINGS]: z.output<(typeof SETTINGS)[Name]['parse']> }

export interface Config extends Settings {
  /** Bound to loopback, embedded database, no PUBLIC_URL: only then the test account and the mailbox exist. */
  readonly isLocalSetUp: boolean
}

/** Settings that are, or may hold, a password: a refusal must not print it. */
const HOLDS_SECRET = /_SECRET$|_KEY$|^DATABASE_URL$|^SMTP_URL$/
const LOOPBACK_HOSTS = new Set(['127.0.0.1', '::1', 'localhost'])

/** The environment, with what a file `.env` beside package.json adds to it. */
export function loadEnvironment(): Readonly<Record<string, string | undefined>> {
  const file = fileURLToPath(new URL('../.env', import.meta.url))
  if (existsSync(file)) process.loadEnvFile(file)
  return process.env
}

/**
 * Reads all settings. An empty variable counts as absent.
 * @throws AppError `startup`: one sentence naming the variable, what it got and what it wants.
 */
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
  const isLoopback = LOOPBACK_HOSTS.has(settings.HOST)
  if (settings.DATABASE_URL !== undefined && settings.ALCOVE_SECRET === undefined) {
    throw new AppError(
      'startup',
      'ALCOVE_SECRET is not set, but DATABASE_URL wants it: at least 32 characters, the same on every server.',
    )
  }
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
    isLocalSetUp: isLoopback && settings.DATABASE_URL === undefined && settings.PUBLIC_URL === undefined,
  })
}
