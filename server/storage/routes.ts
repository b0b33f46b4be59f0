/** `/storage/v1`: Supabase's storage protocol, as the caller's role. */
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import type { AccessWatch } from '#server/access/access-watch.ts'
import type { TokenVerifier } from '#server/access/tokens.ts'
import { allowAnyOrigin } from '#server/base/any-origin.ts'
import { type Log, logFailedRequest } from '#server/base/log.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import type { Database } from '#server/database/scope.ts'
import { createBucketRoutes } from './buckets.ts'
import { createBackgroundRemoval } from './discarded-bytes.ts'
import { createDownloadRoutes } from './download-routes.ts'
import { isServerFault, noTransformation, renderError, StorageError, toStorageError } from './errors.ts'
import { createObjectRoutes } from './object-routes.ts'
import type { NodeBindings } from './parse-upload.ts'
import { createSignedTokens } from './signed-tokens.ts'
import type { StoreOptions } from './store-object.ts'
import { createUploadRoutes } from './upload-routes.ts'

export interface StorageOptions {
  readonly database: Database
  /** For whether accounts are open, which is not a caller's statement. */
  readonly background: Database
  readonly tokens: TokenVerifier
  /** Ends transfers of sessions that end and of people who lose their right. */
  readonly accessWatch: AccessWatch
  readonly blobs: BlobStore
  readonly log: Log
  /** The key of signed URLs is derived from this secret. */
  readonly signingKey: Buffer
  /** Caps the limit of every bucket. */
  readonly maxObjectBytes?: number
  /** Throwing rejects the upload. */
  readonly onDocumentUpload?: StoreOptions['onDocumentUpload']
  readonly findRoom?: StoreOptions['findRoom']
  /** Limits the requests of each caller; undefined: does not. */
  readonly takeTurn?: MiddlewareHandler | undefined
}

const EXPOSED_HEADERS = [
  'Content-Range',
  'Content-Location',
  'Content-Disposition',
  'Location',
  'Preference-Applied',
  'X-Total-Count',
  'Link',
  'X-Supabase-Api-Version',
  'Retry-After',
  'ETag',
  'Accept-Ranges',
  'Content-Length',
]

export function createStorageRoutes({
  database,
  background,
  tokens,
  accessWatch,
  blobs,
  log,
  signingKey,
  maxObjectBytes = 50 * 1024 * 1024,
  onDocumentUpload,
  findRoom,
  takeTurn,
}: StorageOptions): Hono<NodeBindings> {
  const storage = new Hono<NodeBindings>()
  const onDiscarded = createBackgroundRemoval(database, blobs, log)
  const options = {
    database,
    background,
    tokens,
    accessWatch,
    blobs,
    log,
    maxObjectBytes,
    onDiscarded,
    onDocumentUpload,
    findRoom,
    signedTokens: createSignedTokens(signingKey),
  }

  storage.use(
    allowAnyOrigin({
      allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
      exposeHeaders: EXPOSED_HEADERS,
      maxAge: 86_400,
    }),
  )
  if (takeTurn) storage.use(takeTurn)
  storage.get('/status', (context) => context.body(null, 200))
  storage.get('/health', async (context) => {
    await database.serviceStatement('select')
    return context.json({ healthy: true })
  })
  storage.route('/bucket', createBucketRoutes(options))
  storage.route('/object', createObjectRoutes(options))
  storage.route('/object', createUploadRoutes(options))
  storage.route('/object', createDownloadRoutes(options))
  storage.all('/render/*', () => {
    throw noTransformation()
  })
  storage.all('*', () => {
    throw new StorageError('NoSuchRoute')
  })

  storage.onError((error, context: Context) => {
    const known = toStorageError(error)
    if (!known || isServerFault(known)) {
      logFailedRequest(
        log,
        { err: error, method: context.req.method, path: context.req.path },
        'a storage request failed',
      )
    }
    return renderError(known ?? new StorageError('InternalError'), context.req.method === 'HEAD')
  })

  return storage
}
