/** Starts all parts in order and stops them in reverse. */
import { createServer, IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import { basePathOf, isBarePath, withoutBasePath } from '#server/access/public-path.ts'
import { type BackgroundThrottle, createBackgroundThrottle } from '#server/base/background-throttling.ts'
import { AppError, codeOf, messageOf } from '#server/base/errors.ts'
import { failScope, runInFailureScope } from '#server/base/failure-scope.ts'
import { guardEvents } from '#server/base/guard-events.ts'
import type { Log } from '#server/base/log.ts'
import { startReturningMemory } from '#server/base/return-memory.ts'
import type { Config } from '#server/config.ts'
import { listReplaced, removeReplaced } from '#server/database/cluster-folders.ts'
import { connect, type Undo } from './connect.ts'
import { claimDataFolder, openDataFolder, refuseUnfinishedRestore, restoreDataFolder } from './data-folder.ts'

/** Most modules load while PostgreSQL starts. Use `import type` for their types: an inline `type` loads the module. */
const loadParts = () => import('./start-parts.ts')

type Handle = (request: IncomingMessage, response: ServerResponse) => unknown

const isRealtime = (url: string | undefined): boolean => url?.startsWith('/realtime/v1/') === true

const rejectAsUnavailable: Handle = (_request, response) =>
  void response.writeHead(503, { 'retry-after': '1', connection: 'close' }).end()

interface HttpServer {
  readonly server: Server
  /** Replaced once all parts run. */
  handle: Handle
}

function redirectToSlash(response: ServerResponse, target: string, basePath: string): void {
  response.writeHead(308, { location: `${basePath}/${target.slice(basePath.length)}` }).end()
}

/** Ends a request whose handler failed outside of the routes, which answer their own errors. */
function endRequest(response: ServerResponse): void {
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  try {
    response.writeHead(500, { 'content-type': 'application/json', connection: 'close' })
    response.end(
      JSON.stringify({ error: { code: 'internal', message: 'Something went wrong on our side.', requestId: null } }),
    )
  } catch {
    // The response itself may be what failed, which has been reported.
    response.destroy()
  }
}

interface HttpServerOptions {
  readonly isDevelopment: boolean
  readonly backgroundThrottle: BackgroundThrottle
  /** Path of the public address, which all other parts do not see. */
  readonly basePath: string
}

function createHttpServer({ isDevelopment, backgroundThrottle, basePath }: HttpServerOptions): HttpServer {
  // Ignore other upgrades: some clients offer HTTP/2 with every request.
  const shouldUpgradeCallback = ({ headers, url = '/' }: IncomingMessage) =>
    headers.upgrade?.toLowerCase() === 'websocket' && (isDevelopment || isRealtime(withoutBasePath(url, basePath)))
  const server = createServer({ shouldUpgradeCallback }, (request, response) => {
    const target = request.url ?? '/'
    if (isBarePath(target, basePath)) return redirectToSlash(response, target, basePath)
    request.url = withoutBasePath(target, basePath)
    const fail = () => endRequest(response)
    guardEvents(request, fail)
    guardEvents(response, fail)
    runInFailureScope(fail, () => {
      response.once('close', backgroundThrottle.beginForeground())
      Promise.try(http.handle, request, response).catch((error: unknown) => failScope(fail, error))
    })
  })
  server.on('connection', (socket) => guardEvents(socket, () => socket.destroy()))
  guardEvents(server, (_error, values) => {
    for (const value of values) {
      if (value instanceof IncomingMessage) value.socket.destroy()
      else if (value instanceof Socket) value.destroy()
    }
  })
  const http: HttpServer = { server, handle: rejectAsUnavailable }
  return http
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

/** Listens before anything is started, so that a taken port is reported at once. @returns the public address. */
async function openAddress(server: Server, config: Config, log: Log, undo: Undo[]): Promise<string> {
  await listen(server, config)
  // Without a listener, a connection that cannot be accepted (too many open files) would end the process.
  server.on('error', (error) => log.error({ err: error }, 'a connection could not be accepted'))
  undo.push(() => new Promise((resolve) => {
    server.close(resolve)
    server.closeAllConnections()
  })) // prettier-ignore
  const { port } = server.address() as AddressInfo
  const host = config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST
  return config.PUBLIC_URL ?? `http://${host}:${port}`
}

/** Runs all steps even if one fails, above all the one that stops PostgreSQL. */
async function runUndo(undo: Undo[]): Promise<void> {
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

export interface Alcove {
  readonly address: string
  /** Null outside a local set-up. */
  readonly testAccount: { readonly email: string; readonly password: string } | null
  /** Works once: who signs up with it is the operator. Undefined where there are accounts already. */
  readonly operatorLink: string | undefined
  /** All routes, including middleware. */
  readonly routes: readonly { readonly method: string; readonly path: string }[]
  /** Drains and stops: rejects new requests, returns running replies to the queue, then stops PostgreSQL. */
  stop(): Promise<void>
}

interface StartOptions {
  readonly isDevelopment?: boolean
  readonly onDatabaseDied?: () => void
  /** Called when a later version of Alcove has changed the database. */
  readonly onOutdated?: (reason: string) => void
}

/** @throws AppError `startup` after stopping what had been started. */
export async function startAlcove(config: Config, log: Log, options: StartOptions = {}): Promise<Alcove> {
  const undo: Undo[] = []
  const stop = () => runUndo(undo)
  const startEnded = Promise.withResolvers<undefined>()
  try {
    const starting = start(config, log, options, undo, startEnded.promise)
    // Settle this before `stop`, which waits for jobs that wait for it.
    return { ...(await starting.finally(() => startEnded.resolve(undefined))), stop }
  } catch (error) {
    await stop().catch((failure: unknown) => log.error({ err: failure }, 'a start that failed left something behind'))
    throw error
  }
}

async function start(
  config: Config,
  log: Log,
  { isDevelopment = false, onDatabaseDied = () => undefined, onOutdated = () => undefined }: StartOptions,
  undo: Undo[],
  startEnded: Promise<unknown>,
): Promise<Omit<Alcove, 'stop'>> {
  const backgroundThrottle = createBackgroundThrottle()
  const basePath = config.PUBLIC_URL === undefined ? '' : basePathOf(config.PUBLIC_URL)
  const http = createHttpServer({ isDevelopment, backgroundThrottle, basePath })
  const { server } = http
  await openDataFolder(config.DATA_DIR)
  refuseUnfinishedRestore(config.DATA_DIR)
  if (config.DATABASE_URL === undefined) {
    undo.push(await claimDataFolder(config.DATA_DIR))
    restoreDataFolder(config.DATA_DIR, { hasBlobs: config.S3_ENDPOINT === undefined })
  }
  const address = await openAddress(server, config, log, undo)

  const onConnecting = () => {
    // The import below throws the failure.
    loadParts().catch(() => undefined)
  }
  const replaced = config.DATABASE_URL === undefined ? listReplaced(config.DATA_DIR) : undefined
  const connections = await connect(config, log, undo, { onConnecting, onDatabaseDied, onOutdated })
  const { startParts } = await loadParts()
  const parts = await startParts({ config, log, undo, address, connections, backgroundThrottle, startEnded })
  server.on('upgrade', (request, socket, head) => {
    request.url = withoutBasePath(request.url ?? '/', basePath)
    const fail = () => void socket.destroy()
    try {
      if (isRealtime(request.url) && parts.handleUpgrade)
        runInFailureScope(fail, () => parts.handleUpgrade?.(request, socket, head))
      // In development, other sockets belong to the hot reload.
      else if (!isDevelopment) socket.destroy()
    } catch (error) {
      failScope(fail, error)
    }
  })
  http.handle = parts.handle
  undo.push(startReturningMemory())
  if (isDevelopment) {
    const { serveFromSources } = await import('./development.ts')
    const development = await serveFromSources(server, http.handle)
    http.handle = development.handle
    undo.push(() => development.close())
  }
  undo.push(() => {
    http.handle = rejectAsUnavailable
    server.close()
    server.closeIdleConnections()
  })
  if (replaced !== undefined) void removeReplaced(config.DATA_DIR, replaced, log)
  return { address, testAccount: parts.testAccount, operatorLink: parts.operatorLink, routes: parts.routes }
}
