/** Builds everything in order, starts it, and stops it in reverse. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { getRequestListener } from '@hono/node-server'
import type pg from 'pg'
import { PRODUCT_NAME } from '#contract/limits.ts'
import {
  deriveAuthenticatorPassword,
  loadSecretsFromDatabase,
  loadSecretsFromFolder,
  type Secrets,
} from './access/secrets.ts'
import { createTokens } from './access/tokens.ts'
import { createConversationRoutes } from './api/conversations.ts'
import { createDocumentRoutes } from './api/documents.ts'
import { createModelRoutes } from './api/models.ts'
import { createReplyRoutes } from './api/replies.ts'
import { createApp } from './app.ts'
import { refreshModels } from './assistant/models.ts'
import { createReplies } from './assistant/replies.ts'
import { createReplyLog } from './assistant/reply-log.ts'
import { startWorker } from './assistant/worker.ts'
import { createMailbox } from './auth/mail/mailbox.ts'
import { createMail } from './auth/mail/send.ts'
import { createMailboxRoutes } from './auth/mailbox-routes.ts'
import { createAuthRoutes } from './auth/routes.ts'
import { sweepAuth } from './auth/sweep.ts'
import { ensureTestAccount, withdrawTestAccount } from './auth/test-account.ts'
import { AppError, codeOf, messageOf } from './base/errors.ts'
import { createLog, type Log } from './base/log.ts'
import { createDiskStore } from './blobs/disk.ts'
import { type Config, readConfig } from './config.ts'
import { claimDataFolder, openDataFolder } from './data-folder.ts'
import { startEmbedded } from './database/embedded.ts'
import { openListener } from './database/listen.ts'
import { migrate } from './database/migrate.ts'
import { openDatabase } from './database/scope.ts'
import { createIngest } from './documents/ingest.ts'
import { installJobs } from './jobs/install.ts'
import { startJobs } from './jobs/start.ts'
import { createOperationsRoutes } from './operations.ts'
import { createPageRoutes } from './page.ts'
import { createProviders } from './providers/choose.ts'
import { createRealtime } from './realtime/service.ts'
import { createRestRoutes } from './rest/routes.ts'
import { createSchemaCache } from './rest/schema-cache.ts'

const BUILT_CLIENT = fileURLToPath(new URL('../dist/web', import.meta.url))
const EXPOSED_SCHEMAS = ['public']
const AUTH_SWEEP_MS = 3_600_000
const SIMULTANEOUS_REPLIES = 256
/** A drain that takes longer is broken off: the database survives that as it survives a power cut. */
const DRAIN_LIMIT_MS = 9_000

/** Undoes the steps of a start, the last one first. */
type Undo = () => unknown

interface Connections {
  /** A role that may migrate. */
  readonly admin: pg.ClientConfig
  /** The role that the server works as. */
  readonly server: pg.ClientConfig
  readonly secrets: Secrets
  readonly databaseAcceptedAfterMs: number
}

function listen(server: Server, { HOST, PORT }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const reasons: Record<string, string> = {
        EADDRINUSE: `PORT is "${PORT}", but another program already listens there. Stop it, or choose another port.`,
        EACCES: `PORT is "${PORT}", but this user may not listen there. Choose one above 1023.`,
        EADDRNOTAVAIL: `HOST is "${HOST}", but this machine has no such address.`,
        ENOTFOUND: `HOST is "${HOST}", but this machine has no such address.`,
      }
      reject(
        new AppError('startup', reasons[codeOf(error) ?? ''] ?? `The server cannot listen: ${messageOf(error)}.`, {
          cause: error,
        }),
      )
    })
    server.listen(PORT, HOST, () => resolve())
  })
}

async function connect(config: Config, log: Log, undo: Undo[], onDatabaseDied: () => void): Promise<Connections> {
  if (config.DATABASE_URL !== undefined && config.ALCOVE_SECRET !== undefined) {
    const startedAt = performance.now()
    const admin = { connectionString: config.DATABASE_URL }
    const password = deriveAuthenticatorPassword(config.ALCOVE_SECRET)
    await migrate(admin, password)
    const secrets = await loadSecretsFromDatabase(admin, config.ALCOVE_SECRET)
    const url = new URL(config.DATABASE_URL)
    url.username = 'authenticator'
    url.password = password
    return {
      admin,
      server: { connectionString: url.href },
      secrets,
      databaseAcceptedAfterMs: performance.now() - startedAt,
    }
  }
  const secrets = await loadSecretsFromFolder(config.DATA_DIR)
  const embedded = await startEmbedded(config.DATA_DIR, secrets.databasePassword, log)
  undo.push(() => embedded.stop())
  void embedded.died.then(onDatabaseDied)
  await migrate(embedded.admin, secrets.authenticatorPassword)
  return {
    admin: embedded.admin,
    server: { ...embedded.admin, user: 'authenticator', password: secrets.authenticatorPassword },
    secrets,
    databaseAcceptedAfterMs: embedded.acceptedAfterMs,
  }
}

export interface Alcove {
  readonly address: string
  /** How somebody who starts Alcove for the first time signs in; null outside the local set-up. */
  readonly testAccount: { readonly email: string; readonly password: string } | null
  /** Drains and stops: no new requests, running replies go back to the queue, PostgreSQL ends in order. */
  stop(): Promise<void>
}

/**
 * Starts everything that the configuration asks for.
 * @throws AppError `startup`, one sentence; what had been started is stopped again.
 */
export async function startAlcove(
  config: Config,
  log: Log,
  { isDevelopment = false, onDatabaseDied = (): void => undefined } = {},
): Promise<Alcove> {
  const undo: Undo[] = []
  const stop = async () => {
    for (let step = undo.pop(); step; step = undo.pop()) await step()
  }
  try {
    return await build()
  } catch (error) {
    await stop()
    throw error
  }

  async function build(): Promise<Alcove> {
    const notYet = (_request: IncomingMessage, response: ServerResponse) =>
      void response.writeHead(503, { 'retry-after': '1' }).end()
    let handle: (request: IncomingMessage, response: ServerResponse) => unknown = notYet
    const server = createServer((request, response) => void handle(request, response))

    await openDataFolder(config.DATA_DIR)
    if (config.DATABASE_URL === undefined) undo.push(await claimDataFolder(config.DATA_DIR))
    await listen(server, config)
    undo.push(() => new Promise((resolve) => {
      server.close(resolve)
      server.closeAllConnections()
    })) // prettier-ignore
    const { port } = server.address() as AddressInfo
    const host = config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST
    const address = config.PUBLIC_URL ?? `http://${host}:${port}`

    const {
      admin,
      server: connection,
      secrets,
      databaseAcceptedAfterMs,
    } = await connect(config, log, undo, onDatabaseDied)
    await installJobs(admin)
    const tokens = await createTokens(secrets)
    const encryptionKey = Buffer.from(secrets.encryptionKey, 'base64')
    const database = openDatabase(connection, log)
    undo.push(() => database.close())
    const listener = await openListener(connection, log)
    undo.push(() => listener.close())

    const blobs = createDiskStore(config.DATA_DIR)
    const jobs = startJobs({ connection, log, handlers: createIngest({ database, blobs, log }) })
    undo.push(() => jobs.stop())

    const providers = createProviders({
      anthropic: { apiKey: config.ANTHROPIC_API_KEY, baseUrl: config.ANTHROPIC_BASE_URL },
      openai: { apiKey: config.OPENAI_API_KEY, baseUrl: config.OPENAI_BASE_URL },
      compatible: { apiKey: config.OPENAI_COMPATIBLE_API_KEY, baseUrl: config.OPENAI_COMPATIBLE_BASE_URL },
      silenceMs: config.MODEL_SILENCE_S * 1000,
    })
    const worker = await startWorker({
      database,
      providers,
      listener,
      log,
      replies: createReplies(database, `${process.pid}@${address}`),
      replyLog: createReplyLog(database, log),
      capacity: SIMULTANEOUS_REPLIES,
    })
    undo.push(() => worker.stop())

    const isLocal = config.isLocalSetUp
    if (!isLocal) await withdrawTestAccount({ database })
    const testAccount = isLocal ? await ensureTestAccount({ database, seed: encryptionKey }) : null
    const mail = createMail({
      smtpUrl: config.SMTP_URL,
      from: config.MAIL_FROM,
      mailbox: isLocal ? createMailbox(database) : null,
      log,
    })
    const realtime = await createRealtime({ database, listener, tokens, log })
    undo.push(() => realtime.close())
    server.on('upgrade', (request, socket, head) => realtime.handleUpgrade(request, socket, head))

    const app = createApp(
      {
        auth: createAuthRoutes({
          database,
          tokens,
          mail,
          log,
          refreshKey: encryptionKey,
          settings: {
            siteUrl: address,
            redirectAllowList: [],
            signup: config.AUTH_SIGNUP,
            autoconfirm: config.AUTH_AUTOCONFIRM,
            minPasswordLength: config.AUTH_MIN_PASSWORD_LENGTH,
            mailIntervalS: config.AUTH_MAIL_INTERVAL_S,
            rateLimits: config.RATE_LIMITS,
            trustProxy: config.TRUST_PROXY,
            secureCookies: address.startsWith('https:'),
          },
        }),
        rest: createRestRoutes({
          database,
          tokens,
          schemaCache: createSchemaCache({ database, listener, schemas: EXPOSED_SCHEMAS, log }),
          log,
          schemas: EXPOSED_SCHEMAS,
        }),
        realtime: realtime.routes,
        mailbox: createMailboxRoutes({ database, isLocalSetUp: isLocal }),
        documents: createDocumentRoutes({ database, tokens, blobs, jobs, log }),
        api: [
          createConversationRoutes({ database }),
          createReplyRoutes({ database }),
          createModelRoutes({ database, providers }),
        ],
        operations: createOperationsRoutes({
          database,
          anonKey: tokens.anonKey,
          publicUrl: config.PUBLIC_URL,
          metricsFor: config.METRICS,
          testAccount,
          hasMailbox: isLocal && config.SMTP_URL === undefined,
          gauges: {
            alcove_replies_running: { help: 'Answers that this process is writing.', read: () => worker.running() },
            alcove_realtime_sockets: { help: 'Open realtime connections.', read: () => realtime.stats().sockets },
            alcove_database_accepted_ms: {
              help: 'Milliseconds that PostgreSQL took to accept a connection at the start.',
              read: () => databaseAcceptedAfterMs,
            },
          },
        }),
        page: createPageRoutes({ builtDir: BUILT_CLIENT }),
      },
      { tokens, log },
    )
    handle = getRequestListener(app.fetch)
    if (isDevelopment) {
      const { serveFromSources } = await import('./development.ts')
      const development = await serveFromSources(server, handle)
      handle = development.handle
      undo.push(() => development.close())
    }
    const sweeping = setInterval(() => {
      sweepAuth(database).catch((error: unknown) =>
        log.warn({ err: error }, 'expired codes and tokens were not removed'),
      )
    }, AUTH_SWEEP_MS)
    undo.push(() => clearInterval(sweeping))
    void refreshModels(database, providers, config.DEFAULT_MODEL, log).catch((error: unknown) =>
      log.warn({ err: error }, 'the list of models could not be brought up to date'),
    )
    return { address, testAccount, stop }
  }
}

async function main(): Promise<void> {
  const config = readConfig(process.env)
  const log = createLog(config.LOG_LEVEL)
  const isDevelopment = process.argv.includes('--dev')
  const alcove = await startAlcove(config, log, {
    isDevelopment,
    onDatabaseDied() {
      log.fatal('PostgreSQL ended unexpectedly; start again')
      process.exitCode = 1
      process.exit()
    },
  })
  const howToSignIn = alcove.testAccount ? ` (sign in with "Use test account": ${alcove.testAccount.email})` : ''
  console.log(`${PRODUCT_NAME} is ready at ${alcove.address}${howToSignIn}`)

  let isStopping = false
  const drain = (signal: NodeJS.Signals) => {
    if (isStopping) return
    isStopping = true
    log.info({ signal }, 'stopping')
    setTimeout(() => {
      log.error('the drain took too long and was broken off')
      process.exit(1)
    }, DRAIN_LIMIT_MS).unref()
    alcove.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'the drain failed')
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', drain)
  process.on('SIGINT', drain)
}

/** One sentence for what an operator can mend; the whole error for what only a developer can. */
function explain(error: unknown): unknown {
  if (error instanceof AppError && error.code === 'startup') return error.message
  const code = codeOf(error)
  if (code === 'ENOSPC' || code === '53100')
    return 'The disk that holds DATA_DIR is full; nothing was damaged. Make room, then start again.'
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === '28P01' || code === '3D000') {
    return `DATABASE_URL names a database that cannot be connected to: ${messageOf(error)}.`
  }
  return error
}

if (import.meta.main) {
  main().catch((error: unknown) => {
    console.error(explain(error))
    process.exit(1)
  })
}
