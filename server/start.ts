/** Builds everything in order, and stops it in reverse. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { getRequestListener } from '@hono/node-server'
import { requireOpenSessions } from './access/open-sessions.ts'
import { createTokens } from './access/tokens.ts'
import { createConversationRoutes } from './api/conversations.ts'
import { createDocumentRoutes } from './api/documents.ts'
import { createModelRoutes } from './api/models.ts'
import { createReplyRoutes } from './api/replies.ts'
import { createVoiceRoutes } from './api/transcribe.ts'
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
import { type Log } from './base/log.ts'
import { createDiskStore } from './blobs/disk.ts'
import { type Config } from './config.ts'
import { connect, type Undo } from './connect.ts'
import { claimDataFolder, openDataFolder } from './data-folder.ts'
import { openListener } from './database/listen.ts'
import { openDatabase } from './database/scope.ts'
import { createIngest } from './documents/ingest.ts'
import { installJobs } from './jobs/install.ts'
import { startJobs } from './jobs/start.ts'
import { createOperationsRoutes } from './operations.ts'
import { createPageRoutes } from './page.ts'
import { createProviders } from './providers/choose.ts'
import { createTranscriber, OPENAI_BASE_URL } from './providers/transcribe.ts'
import { createWebSearch } from './providers/web-search.ts'
import { createRealtime } from './realtime/service.ts'
import { createRestRoutes } from './rest/routes.ts'
import { createSchemaCache } from './rest/schema-cache.ts'
import { discardObjectBytes } from './storage/discard.ts'
import { createStorageRoutes } from './storage/routes.ts'

const BUILT_CLIENT = fileURLToPath(new URL('../dist/web', import.meta.url))
const EXPOSED_SCHEMAS = ['public']
const SWEEP_MS = 3_600_000
const SIMULTANEOUS_REPLIES = 256
/** Connections that only the queue of questions uses: leases are renewed however busy people keep the others. */
const QUEUE_CONNECTIONS = 4

const isRealtime = (url: string | undefined): boolean => url?.startsWith('/realtime/v1/') === true

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

export interface Alcove {
  readonly address: string
  /** How somebody who starts Alcove for the first time signs in; null outside the local set-up. */
  readonly testAccount: { readonly email: string; readonly password: string } | null
  /** What answers at which address, middleware included, as it was put together. */
  readonly routes: readonly { readonly method: string; readonly path: string }[]
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
  /** A step that fails must not keep the others, PostgreSQL's above all, from being undone. */
  const stop = async () => {
    const failures: unknown[] = []
    for (let step = undo.pop(); step; step = undo.pop()) {
      try {
        await step()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'not everything could be stopped in order')
  }
  try {
    return await build()
  } catch (error) {
    await stop().catch((failure: unknown) => log.error({ err: failure }, 'a start that failed left something behind'))
    throw error
  }

  async function build(): Promise<Alcove> {
    const unavailable = (_request: IncomingMessage, response: ServerResponse) =>
      void response.writeHead(503, { 'retry-after': '1', connection: 'close' }).end()
    let handle: (request: IncomingMessage, response: ServerResponse) => unknown = unavailable
    // Any other wish to upgrade is answered as if it had not been made: some clients offer HTTP/2 with every request.
    const shouldUpgradeCallback = ({ headers, url }: IncomingMessage) =>
      headers.upgrade?.toLowerCase() === 'websocket' && (isDevelopment || isRealtime(url))
    const server = createServer({ shouldUpgradeCallback }, (request, response) => void handle(request, response))

    await openDataFolder(config.DATA_DIR)
    if (config.DATABASE_URL === undefined) undo.push(await claimDataFolder(config.DATA_DIR))
    await listen(server, config)
    // Without a listener, a connection that cannot be accepted (too many open files) would end the process.
    server.on('error', (error) => log.error({ err: error }, 'a connection could not be accepted'))
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
    const queue = openDatabase({ ...connection, max: QUEUE_CONNECTIONS }, log)
    undo.push(() => queue.close())
    const sessionTokens = await requireOpenSessions(tokens, database, listener)

    const blobs = createDiskStore(config.DATA_DIR)
    const jobs = startJobs({ connection, log, handlers: createIngest({ database, blobs, log }) })
    undo.push(() => jobs.stop())

    const openai = { apiKey: config.OPENAI_API_KEY, baseUrl: config.OPENAI_BASE_URL }
    const compatible = { apiKey: config.OPENAI_COMPATIBLE_API_KEY, baseUrl: config.OPENAI_COMPATIBLE_BASE_URL }
    const browserKey = config.AUTH_SIGNUP === 'closed' ? config.OPENAI_BROWSER_KEY : undefined
    const browserAccess =
      browserKey === undefined ? null : { apiKey: browserKey, baseUrl: config.OPENAI_BASE_URL ?? OPENAI_BASE_URL }
    const providers = createProviders({
      anthropic: { apiKey: config.ANTHROPIC_API_KEY, baseUrl: config.ANTHROPIC_BASE_URL },
      openai,
      compatible,
      silenceMs: config.MODEL_SILENCE_S * 1000,
    })
    const worker = await startWorker({
      database,
      providers,
      listener,
      log,
      replies: createReplies(queue, `${process.pid}@${address}`),
      replyLog: createReplyLog(queue, log),
      capacity: SIMULTANEOUS_REPLIES,
      outside: {
        webSearch: createWebSearch({
          provider: config.SEARCH_PROVIDER,
          url: config.SEARCH_URL,
          apiKey: config.SEARCH_API_KEY,
        }),
      },
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
    const realtime = await createRealtime({ database, listener, tokens: sessionTokens, log })
    undo.push(() => realtime.close())
    server.on('upgrade', (request, socket, head) => {
      // In development the other sockets are those of the hot reload.
      if (isRealtime(request.url)) realtime.handleUpgrade(request, socket, head)
    })

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
            anonymous: config.AUTH_ANONYMOUS,
            manualLinking: config.AUTH_MANUAL_LINKING,
            passwordNeedsNonce: config.AUTH_PASSWORD_NONCE,
            minPasswordLength: config.AUTH_MIN_PASSWORD_LENGTH,
            mailIntervalS: config.AUTH_MAIL_INTERVAL_S,
            rateLimits: config.RATE_LIMITS,
            trustProxy: config.TRUST_PROXY,
            secureCookies: address.startsWith('https:'),
          },
        }),
        rest: createRestRoutes({
          database,
          tokens: sessionTokens,
          schemaCache: createSchemaCache({ database, listener, schemas: EXPOSED_SCHEMAS, log }),
          log,
          schemas: EXPOSED_SCHEMAS,
        }),
        realtime: realtime.routes,
        storage: createStorageRoutes({ database, tokens: sessionTokens, blobs, log, signingKey: encryptionKey }),
        mailbox: createMailboxRoutes({ database, isLocalSetUp: isLocal }),
        documents: createDocumentRoutes({ database, tokens: sessionTokens, blobs, jobs, log }),
        api: [
          createConversationRoutes({ database }),
          createReplyRoutes({ database }),
          createModelRoutes({ database, providers }),
        ],
        voice: createVoiceRoutes({
          tokens: sessionTokens,
          log,
          transcriber: createTranscriber({ openai, compatible, model: config.TRANSCRIPTION_MODEL }),
          browserAccess,
        }),
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
        page: createPageRoutes({
          builtDir: BUILT_CLIENT,
          connectTo: browserAccess === null ? [] : [new URL(browserAccess.baseUrl).origin],
        }),
      },
      { tokens: sessionTokens, log },
    )
    handle = getRequestListener(app.fetch)
    if (isDevelopment) {
      const { serveFromSources } = await import('./development.ts')
      const development = await serveFromSources(server, handle)
      handle = development.handle
      undo.push(() => development.close())
    }
    const sweep = () => {
      sweepAuth(database).catch((error: unknown) =>
        log.warn({ err: error }, 'expired codes and tokens were not removed'),
      )
      discardObjectBytes(database, blobs).catch((error: unknown) =>
        log.warn({ err: error }, 'bytes of removed objects were not discarded'),
      )
    }
    const sweeping = setInterval(sweep, SWEEP_MS)
    sweep()
    undo.push(() => clearInterval(sweeping))
    undo.push(() => {
      handle = unavailable
      server.close()
      server.closeIdleConnections()
    })
    void refreshModels(database, providers, config.DEFAULT_MODEL, log).catch((error: unknown) =>
      log.warn({ err: error }, 'the list of models could not be brought up to date'),
    )
    return { address, testAccount, routes: app.routes, stop }
  }
}
