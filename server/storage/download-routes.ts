import { type Context, Hono } from 'hono'
import type { AccessWatch } from '#server/access/access-watch.ts'
import { endWithAccess } from '#server/access/end-with-access.ts'
import { findAccountState, isAccountOpen } from '#server/access/open-sessions.ts'
import type { TokenVerifier, VerifiedClaims } from '#server/access/tokens.ts'
import { AppError } from '#server/base/errors.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import type { Database } from '#server/database/scope.ts'
import { asCaller, verifyCaller } from './caller.ts'
import { StorageError } from './errors.ts'
import type { ObjectPath } from './names.ts'
import { parseObjectPath } from './object-path.ts'
import { findVisibleKeys, getBucket, getObject, type StoredObject } from './objects.ts'
import type { NodeBindings } from './parse-upload.ts'
import { serveObject, type ServeOptions } from './serve-object.ts'
import type { SignedTokens, Signer } from './signed-tokens.ts'

interface DownloadRouteOptions {
  readonly database: Database
  /** Never waits behind requests of people. */
  readonly background: Database
  readonly blobs: BlobStore
  readonly tokens: TokenVerifier
  readonly accessWatch: AccessWatch
  readonly signedTokens: SignedTokens
}
type StorageContext = Context<NodeBindings>

/** Takes whose right ends the response, before it is asked for. Never called for what everybody may read. */
type Watch = (watched: Parameters<typeof endWithAccess>[2]) => void

const unwatched: Watch = () => undefined

export function createDownloadRoutes(options: DownloadRouteOptions): Hono<NodeBindings> {
  const { database, background, blobs, tokens, accessWatch, signedTokens } = options
  const routes = new Hono<NodeBindings>()

  /** Retries once if the bytes were replaced between finding and opening them. */
  async function respondWithObject(
    find: () => Promise<StoredObject>,
    respond: (found: StoredObject) => Promise<Response>,
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

  async function findForCaller(context: StorageContext, target: ObjectPath, watch: Watch): Promise<StoredObject> {
    const claims = await verifyCaller(context, tokens)
    const isAllowed = async () => {
      const visible = await asCaller(database, claims, (scope) => findVisibleKeys(scope, target.bucket, [target.key]), {
        readOnly: true,
      })
      return visible.has(target.key)
    }
    watch({ person: claims.sub, sessionId: claims.session_id, isAllowed })
    return findAsCaller(claims, target)
  }

  /** Everyone may read objects of a public bucket; otherwise the policies decide. */
  async function findReadable(
    context: StorageContext,
    isPublicAddress: boolean,
    watch: Watch = unwatched,
  ): Promise<StoredObject> {
    const target = parseObjectPath(context)
    const bucket = await getBucket(database, target.bucket)
    if (bucket.public) return findAsService(target)
    if (isPublicAddress) throw new StorageError('NoSuchBucket')
    return findForCaller(context, target, watch)
  }

  /** An owner without an account here, such as one of another issuer, ends no link. */
  async function findSignerOfEarlier({ owner }: StoredObject): Promise<string | null> {
    return owner !== null && (await findAccountState(background, owner)) !== undefined ? owner : null
  }

  /** A link ends with the account that signed it; one of an earlier version with the owner of its object. */
  async function findSigned(target: ObjectPath, signer: Signer, watch: Watch): Promise<StoredObject> {
    const object = await findAsService(target)
    const person = signer === undefined ? await findSignerOfEarlier(object) : signer
    if (person === null) return object
    const isAllowed = () => isAccountOpen(background, person)
    watch({ person, isAllowed })
    if (!(await isAllowed())) throw new StorageError('InvalidSignature')
    return object
  }

  function serve(
    context: StorageContext,
    find: (watch: Watch) => Promise<StoredObject>,
    options: ServeOptions = {},
  ): Promise<Response> {
    const watch: Watch = (watched) => void endWithAccess(context, accessWatch, watched)
    return respondWithObject(
      () => find(watch),
      (object) => serveObject(blobs, object, context.req.raw, { download: context.req.query('download'), ...options }),
    )
  }

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
    const { expiresAt, signer } = await signedTokens.verifyDownload(context.req.query('token') ?? '', target)
    return serve(context, (watch) => findSigned(target, signer, watch), { expiresAt })
  })
  routes.get('/public/:bucket/:key{.+}', (context) => serve(context, (watch) => findReadable(context, true, watch)))
  routes.get('/authenticated/:bucket/:key{.+}', (context) =>
    serve(context, (watch) => findReadable(context, false, watch)),
  )
  routes.get('/:bucket/:key{.+}', (context) => serve(context, (watch) => findReadable(context, false, watch)))

  return routes
}
