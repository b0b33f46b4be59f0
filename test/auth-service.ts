/** Runs the auth service and a mailbox on a real port, with a database of its own, for the official client. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { serve } from '@hono/node-server'
import { createClient } from '@supabase/supabase-js'
import { Hono } from 'hono'
import { z } from 'zod'
import { mailboxMail } from '#contract/auth.ts'
import { loadSecretsFromFolder } from '#server/access/secrets.ts'
import { createTokens } from '#server/access/tokens.ts'
import { createMailbox } from '#server/auth/mail/mailbox.ts'
import { createMail, type Mail } from '#server/auth/mail/send.ts'
import { createMailboxRoutes } from '#server/auth/mailbox-routes.ts'
import { createAuthRoutes } from '#server/auth/routes.ts'
import { type AuthSettings, createAuthService } from '#server/auth/service.ts'
import { createLog, type Log } from '#server/base/log.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { pressButton } from './press-button.ts'

export const PASSWORD = 'a quiet corner'

export type AuthTestService = Awaited<ReturnType<typeof startAuthService>>

/** @param db a database that outlives the service; by default it has its own. @param basePath path of its address */
export async function startAuthService({
  mail,
  log = createLog('silent'),
  db,
  basePath = '',
  ...changes
}: Partial<AuthSettings> & { mail?: Mail; log?: Log; db?: TestDatabase; basePath?: string } = {}) {
  const testDatabase = db ?? (await createTestDatabase())
  const { database, background } = testDatabase
  const dataDir = await mkdtemp(path.join(tmpdir(), 'alcove-auth-'))
  const tokens = await createTokens(await loadSecretsFromFolder(dataDir))
  let url = ''
  const settings: AuthSettings = {
    get siteUrl() {
      return url
    },
    redirectAllowList: ['https://app.example.com/**'],
    signup: 'open',
    autoconfirm: false,
    signupRevealsAccounts: false,
    anonymous: false,
    manualLinking: true,
    passwordNeedsNonce: false,
    providers: [],
    samlProviders: [],
    smsWebhook: undefined,
    sessionDays: 30,
    sessionIdleDays: 14,
    minPasswordLength: 8,
    commonPasswords: 'refuse',
    mailIntervalS: 0,
    rateLimits: 'on',
    trustProxy: 1,
    secureCookies: false,
    ...changes,
  }
  const chosenMail = mail ?? createMail({ smtpUrl: undefined, from: 'x@y', mailbox: createMailbox(database), log })
  const auth = createAuthRoutes(
    createAuthService({
      database,
      background,
      tokens,
      mail: chosenMail,
      settings,
      log,
      refreshKey: randomBytes(32),
    }),
  )
  const app = new Hono().route(`${basePath}/auth/v1`, auth)
  app.route(basePath === '' ? '/' : basePath, createMailboxRoutes({ database, isLocalSetUp: true }))
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  await new Promise((resolve) => server.once('listening', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${basePath}`

  const mails = async (to?: string) => {
    const all = z.array(mailboxMail).parse(await (await fetch(`${url}/mailbox.json`)).json())
    return to === undefined ? all : all.filter((letter) => letter.to === to)
  }
  /** Each client gets its own address unless given one, so that tests do not share rate limits. */
  let clients = 0
  const newAddress = () => `198.51.100.${(clients += 1)}`
  const newClient = (address = newAddress()) =>
    createClient(url, tokens.anonKey, {
      auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
      global: { headers: { 'x-forwarded-for': address } },
    })
  /** Stores its verifier separately, as a browser does. */
  const newPkceClient = () => {
    const stored = new Map<string, string>()
    return createClient(url, tokens.anonKey, {
      auth: {
        flowType: 'pkce',
        autoRefreshToken: false,
        detectSessionInUrl: false,
        storage: {
          getItem: (name) => stored.get(name) ?? null,
          setItem: (name, value) => void stored.set(name, value),
          removeItem: (name) => void stored.delete(name),
        },
      },
      global: { headers: { 'x-forwarded-for': newAddress() } },
    })
  }
  const linkFor = async (email: string) => {
    const link = /https?:\/\/\S+/.exec((await mails(email))[0]?.text ?? '')?.[0]
    if (link === undefined) throw new Error(`There is no link in a mail to ${email}.`)
    return link
  }
  const codeFor = async (email: string) => {
    const code = /enter (\d{6})/.exec((await mails(email))[0]?.text ?? '')?.[1]
    if (code === undefined) throw new Error(`There is no code in a mail to ${email}.`)
    return code
  }

  const newAdmin = () =>
    createClient(url, tokens.serviceRoleKey, { auth: { persistSession: false, autoRefreshToken: false } }).auth.admin

  return {
    ...testDatabase,
    app,
    auth,
    tokens,
    url,
    mails,
    linkFor,
    codeFor,
    newClient,
    newPkceClient,
    newAdmin,
    /** Posts JSON that our client would never send, from the given address. */
    post: (at: string, body: unknown, headers: Record<string, string> = {}) =>
      fetch(`${url}/auth/v1${at}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    async signedIn(email: string) {
      const client = newClient()
      await client.auth.signUp({ email, password: PASSWORD })
      await pressButton(await linkFor(email))
      const { data, error } = await client.auth.signInWithPassword({ email, password: PASSWORD })
      if (error) throw error
      return { client, session: data.session, user: data.user }
    },
    async close() {
      server.close()
      if (db === undefined) await testDatabase.drop()
      await rm(dataDir, { recursive: true })
    },
  }
}
