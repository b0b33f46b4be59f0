/** `/object` where bytes go in or out: upload, replace, copy, download, and describe. */
import { type Context, Hono } from 'hono'
import { z } from 'zod'
import { type TokenVerifier, type VerifiedClaims } from '#server/access/tokens.ts'
import { AppError } from '#server/base/errors.ts'
import { validate } from '#server/base/validate.ts'
import { asCaller, verifyCaller } from './caller.ts'
import { StorageError } from './errors.ts'
import { headerTextSchema } from './header-text.ts'
import { readJson } from './json-body.ts'
import { requireAllowedObject, requireKey, type ObjectPath } from './names.ts'
import { type ObjectDraft, findStoredVersion, getBucket, getObject, requireWriteAccess, type StoredObject } from './objects.ts'
import { type NodeBindings, parseUpload } from './parse-upload.ts'
import { serveObject, type ServeOptions } from './serve-object.ts'
import { type SignedTokens } from './signed-tokens.ts'
import { putLimited, storeObject, type StoreOptions } from './store-object.ts'
import { parseObjectPath } from './object-path.ts'

interface TransferRouteOptions extends StoreOptions {
  readonly tokens: TokenVerifier
  readonly signedTokens: SignedTokens
  readonly maxObjectBytes: number
  /** Called when bytes may have been discarded. */
  readonly onDiscarded: () => void
}
type StorageContext = Context<NodeBindings>

const copyRequestSchema = z.object({
  bucketId: z.string(),
  sourceKey: z.string(),
  destinationKey: z.string(),
  destinationBucket: z.string().nullish(),
  copyMetadata: z.boolean().default(true),
  metadata: z.object({ cacheControl: headerTextSchema.optional(), mimetype: headerTextSchema.optional() }).nullish(),
})

export function createTransferRoutes(parts: TransferRouteOptions): Hono<NodeBindings> {
  const { database, blobs, tokens, signedTokens, maxObjectBytes, onDiscarded } = parts
  const routes = new Hono<NodeBindings>()

  interface Upload {
    readonly target: ObjectPath
    readonly owner: string | undefined
    readonly upsert: boolean
    readonly requireWriteAccess: (draft: ObjectDraft) => Promise<void>
  }

  async function storeUpload(context: StorageContext, { target, owner, upsert, requireWriteAccess: requireMayWrite }: Upload) {
    const bucket = await getBucket(database, target.bucket)
    const { mimetype, cacheControl, userMetadata, declaredBytes, bytes, stopReading: abandon } = await parseUpload(context)
    const declared = declaredBytes === undefined ? {} : { size: declaredBytes, contentLength: declaredBytes }
    const draft = { target, owner, userMetadata, metadata: { mimetype, cacheControl, ...declared } }
    let id: string
    try {
      const maxBytes = requireAllowedObject(bucket, draft.metadata, maxObjectBytes)
      id = await storeObject(parts, {
        draft,
        upsert,
        requireWriteAccess: () => requireMayWrite(draft),
        putBytes: () => putLimited(blobs, bytes, maxBytes),
      })
    } catch (error) {
      abandon()
      throw error
    }
    if (upsert) onDiscarded()
    return { Id: id, Key: `${target.bucket}/${target.key}` }
  }

  async function uploadAsCaller(context: StorageContext, upsert: boolean): Promise<Response> {
    const claims = await verifyCaller(context, tokens)
    const upload = {
      target: parseObjectPath(context),
      owner: claims.sub,
      upsert,
      requireMayWrite: (draft: ObjectDraft) => requireWriteAccess(database, claims, draft, { upsert }),
    }
    return context.json(await storeUpload(context, upload))
  }

  /** The right to write was looked at when the token was made; it still writes only once. */
  routes.put('/upload/sign/:bucket/:key{.+}', async (context) => {
    const target = parseObjectPath(context)
    const { upsert, owner } = await signedTokens.verifyUpload(context.req.query('token') ?? '', target)
    const { Key } = await storeUpload(context, {
      target,
      owner,
      upsert,
      async requireWriteAccess() {
        if (!upsert && (await findStoredVersion(database, target))) throw new StorageError('KeyAlreadyExists')
      },
    })
    return context.json({ Key })
  })

  routes.post('/copy', async (context) => {
    const claims = await verifyCaller(context, tokens)
    const { bucketId, sourceKey, destinationKey, destinationBucket, copyMetadata, metadata } = validate(
      copyRequestSchema,
      await readJson(context),
    )
    const target = { bucket: destinationBucket ?? bucketId, key: requireKey(destinationKey) }
    const upsert = context.req.header('x-upsert') === 'true'
    const source = await asCaller(database, claims, (scope) => getObject(scope, { bucket: bucketId, key: sourceKey }), {
      readOnly: true,
    })
    const { blob_id: blobId } = source
    if (blobId === null) throw new StorageError('NoSuchKey')
    const draft = {
      target,
      owner: claims.sub,
      metadata: { ...source.metadata, ...(copyMetadata ? {} : metadata) },
      userMetadata: (copyMetadata ? source.user_metadata : undefined) ?? {},
    }
    const maxBytes = requireAllowedObject(await getBucket(database, target.bucket), draft.metadata, maxObjectBytes)
    const id = await storeObject(parts, {
      draft,
      upsert,
      requireWriteAccess: () => requireWriteAccess(database, claims, draft, { upsert }),
      putBytes: async () => putLimited(blobs, await blobs.open(blobId), maxBytes),
    })
    if (upsert) onDiscarded()
    return context.json({ Id: id, Key: `${target.bucket}/${target.key}` })
  })

  /** Finds an object and answers with it; once more where its bytes were replaced between the two. */
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
  const findAsService = (target: ObjectPath) => database.asService((scope) => getObject(scope, target), { readOnly: true })

  /** Objects of a public bucket are everybody's; in any other the policies decide. */
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

  // The first part of a path is looked at in this order: a bucket of such a name is reached by the longer addresses.
  routes.get('/info/public/:bucket/:key{.+}', async (context) => respondWithInfo(context, await findReadable(context, true)))
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
  routes.post('/:bucket/:key{.+}', (context) => uploadAsCaller(context, context.req.header('x-upsert') === 'true'))
  routes.put('/:bucket/:key{.+}', (context) => uploadAsCaller(context, true))

  return routes
}
