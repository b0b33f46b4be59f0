import { type Context, Hono } from 'hono'
import type { TokenVerifier, VerifiedClaims } from '#server/access/tokens.ts'
import { AppError } from '#server/base/errors.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import type { Database } from '#server/database/scope.ts'
import { asCaller, verifyCaller } from './caller.ts'
import { StorageError } from './errors.ts'
import type { ObjectPath } from './names.ts'
import { parseObjectPath } from './object-path.ts'
import { getBucket, getObject, type StoredObject } from './objects.ts'
import type { NodeBindings } from './parse-upload.ts'
import { serveObject, type ServeOptions } from './serve-object.ts'
import type { SignedTokens } from './signed-tokens.ts'

interface DownloadRouteOptions {
  readonly database: Database
  readonly blobs: BlobStore
  readonly tokens: TokenVerifier
  readonly signedTokens: SignedTokens
}
type StorageContext = Context<NodeBindings>

export function createDownloadRoutes(options: DownloadRouteOptions): Hono<NodeBindings> {
  const { database, blobs, tokens, signedTokens } = options
  const routes = new Hono<NodeBindings>()

  /** Retries once if the bytes were replaced between finding and opening them. */
  async function respondWithObject(
    find: () => Promise<StoredObject>,
    respond: (object: StoredObject) => Promise<Response>,
  ): Promise<Response> {
    try {
      return await respond(await find())
    } catch (error) {
      if (error instanceof AppError && error.code === 'not_found') return respond(await find())
      throw error
    }
  }

  const findAsCaller = (claims: VerifiedClaims, target: ObjectPath) =>
    asCaller(database, claims, (scope) => getObject(scope, target), { readOnly: true })
  const findAsService = (target: ObjectPath) =>
    database.asService((scope) => getObject(scope, target), { readOnly: true })

  /** Everyone may read objects of a public bucket; otherwise the policies decide. */
  async function findReadable(context: StorageContext, isPublicAddress: boolean): Promise<StoredObject> {
    const target = parseObjectPath(context)
    const bucket = await getBucket(database, target.bucket)
    if (bucket.public) return findAsService(target)
    if (isPublicAddress) throw new StorageError('NoSuchBucket')
    return findAsCaller(await verifyCaller(context, tokens), target)
  }

  const serve = (context: StorageContext, find: () => Promise<StoredObject>, options: ServeOptions = {}) =>
    respondWithObject(find, (object) =>
      serveObject(blobs, object, context.req.raw, { download: context.req.query('download'), ...options }),
    )

  function respondWithInfo(context: StorageContext, object: StoredObject): Response {
    const { id, name, version, bucket_id, metadata, user_metadata, created_at, updated_at } = object
    return context.json({
      id,
      name,
      version,
      bucket_id,
      size: metadata?.size ?? null,
      content_type: metadata?.mimetype ?? null,
      cache_control: metadata?.cacheControl ?? null,
      etag: metadata?.eTag ?? null,
      metadata: user_metadata ?? {},
      last_modified: updated_at,
      created_at,
    })
  }

  // Order matters: a bucket named `public` or `sign` is reachable only through the longer paths.
  routes.get('/info/public/:bucket/:key{.+}', async (context) =>
    respondWithInfo(context, await findReadable(context, true)),
  )
  routes.get('/info/authenticated/:bucket/:key{.+}', async (context) =>
    respondWithInfo(context, await findReadable(context, false)),
  )
  routes.get('/info/:bucket/:key{.+}', async (context) => respondWithInfo(context, await findReadable(context, false)))
  routes.get('/sign/:bucket/:key{.+}', async (context) => {
    const target = parseObjectPath(context)
    const expiresAt = await signedTokens.verifyDownload(context.req.query('token') ?? '', target)
    return serve(context, () => findAsService(target), { expiresAt })
  })
  routes.get('/public/:bucket/:key{.+}', (context) => serve(context, () => findReadable(context, true)))
  routes.get('/authenticated/:bucket/:key{.+}', (context) => serve(context, () => findReadable(context, false)))
  routes.get('/:bucket/:key{.+}', (context) => serve(context, () => findReadable(context, false)))

  return routes
}
