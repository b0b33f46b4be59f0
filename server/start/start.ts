/** Starts all parts in order and stops them in reverse. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { requireOpenSessions } from '#server/access/open-sessions.ts'
import { acceptProject, acceptSharedSecret } from '#server/access/other-issuers.ts'
import { createTokens } from '#server/access/tokens.ts'
import { createApp } from '#server/app.ts'
import { type DeliverEarly } from '#server/assistant/reply/reply-log.ts'
import { createBackgroundThrottle } from '#server/base/background-throttling.ts'
import { AppError, codeOf, messageOf } from '#server/base/errors.ts'
import { type Log } from '#server/base/log.ts'
import { createDiskStore } from '#server/blobs/disk.ts'
import { withReusedBuffers } from '#server/blobs/send.ts'
import { type BlobStore } from '#server/blobs/store.ts'
import { type Config } from '#server/config.ts'
import { openListener } from '#server/database/listen.ts'
import { type Nats } from '#server/database/nats.ts'
import { openDatabase } from '#server/database/open-database.ts'
import { installJobs } from '#server/jobs/install.ts'
import { createAccountDataDeletion } from './delete-account-data.ts'
import { connect, type Undo } from './connect.ts'
import { claimDataFolder, openDataFolder } from './data-folder.ts'
import { type Foundation } from './foundation.ts'
import { createOperationsRoutes } from './operations.ts'
import { startProduct } from './start-product.ts'
import { startServices } from './start-services.ts'

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

/** The S3 client is loaded only if it is configured. */
async function openBlobs(config: Config): Promise<BlobStore> {
  const { S3_ENDPOINT: endpoint, S3_BUCKET: bucket, S3_ACCESS_KEY: accessKey, S3_SECRET_KEY: secretKey } = config
  if (endpoint === undefined || bucket === undefined || accessKey === undefined || secretKey === undefined)
    return createDiskStore(config.DATA_DIR)
  const { createS3Store } = await import('#server/blobs/s3.ts')
  return createS3Store({ endpoint, bucket, region: config.S3_REGION, accessKey, secretKey })
}

async function openBus({ NATS_URL: urls }: Config, key: Buffer, log: Log): Promise<Nats | undefined> {
  if (urls === undefined) return undefined
  const { openNats } = await import('#server/database/nats.ts')
  return openNats({ urls, key, log })
}

export interface Alcove {
  readonly address: string
  /** Null outside a local set-up. */
  readonly testAccount: { readonly email: string; readonly password: string } | null
  /** All routes, including middleware. */
  readonly routes: readonly { readonly method: string; readonly path: string }[]
  /** Drains and stops: rejects new requests, returns running replies to the queue, then stops PostgreSQL. */
  stop(): Promise<void>
}

/** @throws AppError `startup` after stopping what had been started. */
export async function startAlcove(
  config: Config,
  log: Log,
  { isDevelopment = false, onDatabaseDied = (): void => undefined } = {},
): Promise<Alcove> {
  const undo: Undo[] = []
  /** Runs all steps even if one fails, above all the one that stops PostgreSQL. */
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
    // Ignore other upgrades: some clients offer HTTP/2 with every request.
    const shouldUpgradeCallback = ({ headers, url }: IncomingMessage) =>
      headers.upgrade?.toLowerCase() === 'websocket' && (isDevelopment || isRealtime(url))
    const backgroundThrottle = createBackgroundThrottle()
    const server = createServer({ shouldUpgradeCallback }, (request, response) => {
      response.once('close', backgroundThrottle.beginForeground())
      void handle(request, response)
    })

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
      encryptionKey,
      databaseAcceptedAfterMs,
    } = await connect(config, log, undo, onDatabaseDied)
    const parts = config.ALCOVE_PARTS
    const hasProduct = parts.has('api') || parts.has('workers')
    if (hasProduct) await installJobs(admin)
    const signing = secrets && (await createTokens(secrets))
    const nats = await openBus(config, encryptionKey, log)
    if (nats) undo.push(() => nats.close())
    const { database, batchReader, close } = openDatabase(connection, log, nats)
    undo.push(close)
    const notified = await openListener(connection, log)
    undo.push(() => notified.close())
    const listener = nats?.combineWith(notified) ?? notified
    const issued = signing
      ? await requireOpenSessions(signing, database, listener, { everyoneHasFactor: config.AUTH_REQUIRE_AAL2 })
      : acceptProject(config.SUPABASE_URL ?? '')
    const foundation: Foundation = {
      config,
      log,
      undo,
      address,
      connection,
      database,
      batchReader,
      listener,
      notifier: nats,
      tokens: acceptSharedSecret(issued, config.JWT_SECRET),
      blobs: await openBlobs(config),
      backgroundThrottle,
      encryptionKey,
    }
    // Workers may write answers before realtime has started.
    let deliverEarly: DeliverEarly = () => undefined
    const product = hasProduct ? await startProduct(foundation, (broadcast) => deliverEarly(broadcast)) : undefined
    const services =
      signing && parts.has('services')
        ? await startServices(foundation, signing, {
            closing: hasProduct ? createAccountDataDeletion(foundation) : undefined,
            onDocumentUpload: product?.onDocumentUpload,
            directDispatch: product?.directDispatch,
          })
        : undefined
    if (services) ({ deliverEarly } = services)
    server.on('upgrade', (request, socket, head) => {
      if (isRealtime(request.url) && services) services.handleUpgrade(request, socket, head)
      // In development, other sockets belong to the hot reload.
      else if (!isDevelopment) socket.destroy()
    })

    const operations = createOperationsRoutes({
      database,
      anonKey: signing?.anonKey ?? config.SUPABASE_ANON_KEY ?? '',
      publicUrl: config.SUPABASE_URL ?? config.PUBLIC_URL,
      metricsFor: config.METRICS,
      testAccount: services?.testAccount ?? null,
      requiresSecondFactor: config.AUTH_REQUIRE_AAL2,
      hasTextMessages: config.AUTH_SMS_WEBHOOK !== undefined,
      hasMailbox: services?.hasMailbox ?? false,
      gauges: {
        ...product?.gauges,
        ...services?.gauges,
        alcove_database_accepted_ms: {
          help: 'Milliseconds that PostgreSQL took to accept a connection at the start.',
          read: () => databaseAcceptedAfterMs,
        },
      },
    })
    const app = createApp(
      { operations, services: services?.edges, product: product?.edges },
      { tokens: foundation.tokens, log, address, trustProxy: config.TRUST_PROXY },
    )
    handle = getRequestListener(withReusedBuffers(app.fetch, log))
    if (isDevelopment) {
      const { serveFromSources } = await import('./development.ts')
      const development = await serveFromSources(server, handle)
      handle = development.handle
      undo.push(() => development.close())
    }
    undo.push(() => {
      handle = unavailable
      server.close()
      server.closeIdleConnections()
    })
    return { address, testAccount: services?.testAccount ?? null, routes: app.routes, stop }
  }
}
