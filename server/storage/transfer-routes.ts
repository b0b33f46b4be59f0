/** `/object` where bytes go in or out: upload, replace, copy, download, and describe. */
import { type Context, Hono } from 'hono'
import { z } from 'zod'
import { type TokenVerifier, type VerifiedClaims } from '#server/access/tokens.ts'
import { AppError } from '#server/base/errors.ts'
import { validate } from '#server/base/validate.ts'
import { asCaller, callerOf } from './caller.ts'
import { StorageError } from './errors.ts'
import { headerText } from './header-text.ts'
import { readJson } from './json-body.ts'
import { requireAdmittedObject, requireKey, type Target } from './names.ts'
import { type Draft, findStanding, getBucket, getObject, requireMayWrite, type StoredObject } from './objects.ts'
import { type NodeBindings, receiveFile } from './receive.ts'
import { serveObject, type ServeOptions } from './serve.ts'
import { type SignedTokens } from './signed-tokens.ts'
import { putLimited, storeObject, type StoreParts } from './store.ts'
import { targetOf } from './target.ts'

interface TransferParts extends StoreParts {
  readonly tokens: TokenVerifier
  readonly signedTokens: SignedTokens
  readonly maxObjectBytes: number
  /** Called when bytes may have been discarded. */
  readonly onDiscarded: () => void
}
type StorageContext = Context<NodeBindings>

const copying = z.object({
  bucketId: z.string(),
  sourceKey: z.string(),
  destinationKey: z.string(),
  destinationBucket: z.string().nullish(),
  copyMetadata: z.boolean().default(true),
  metadata: z.object({ cacheControl: headerText.optional(), mimetype: headerText.optional() }).nullish(),
})

export function createTransferRoutes(parts: TransferParts): Hono<NodeBindings> {
  const { database, blobs, tokens, signedTokens, maxObjectBytes, onDiscarded } = parts
  const routes = new Hono<NodeBindings>()

  interface Upload {
    readonly target: Target
    readonly owner: string | undefined
    readonly upsert: boolean
    readonly requireMayWrite: (draft: Draft) => Promise<void>
  }

  async function receiveObject(context: StorageContext, { target, owner, upsert, requireMayWrite }: Upload) {
    const bucket = await getBucket(database, target.bucket)
    const { mimetype, cacheControl, userMetadata, declaredBytes, bytes, abandon } = await receiveFile(context)
    const declared = declaredBytes === undefined ? {} : { size: declaredBytes, contentLength: declaredBytes }
    const draft = { target, owner, userMetadata, metadata: { mimetype, cacheControl, ...declared } }
    let id: string
    try {
      const maxBytes = requireAdmittedObject(bucket, draft.metadata, maxObjectBytes)
      id = await storeObject(parts, {
        draft,
        upsert,
        requireMayWrite: () => requireMayWrite(draft),
        putBytes: () => putLimited(blobs, bytes, maxBytes),
      })
    } catch (error) {
      abandon()
      throw error
    }
    if (upsert) onDiscarded()
    return { Id: id, Key: `${target.bucket}/${target.key}` }
  }

  async function receiveFromCaller(context: StorageContext, upsert: boolean): Promise<Response> {
    const claims = await callerOf(context, tokens)
    const upload = {
      target: targetOf(context),
      owner: claims.sub,
      upsert,
      requireMayWrite: (draft: Draft) => requireMayWrite(database, claims, draft, { upsert }),
    }
    return context.json(await receiveObject(context, upload))
  }

  /** The right to write was looked at when the token was made; it still writes only once. */
  routes.put('/upload/sign/:bucket/:key{.+}', async (context) => {
    const target = targetOf(context)
    const { upsert, owner } = await signedTokens.verifyUpload(context.req.query('token') ?? '', target)
    const { Key } = await receiveObject(context, {
      target,
      owner,
      upsert,
      async requireMayWrite() {
        if (!upsert && (await findStanding(database, target))) throw new StorageError('KeyAlreadyExists')
      },
    })
    return context.json({ Key })
  })

  routes.post('/copy', async (context) => {
    const claims = await callerOf(context, tokens)
    const { bucketId, sourceKey, destinationKey, destinationBucket, copyMetadata, metadata } = validate(
      copying,
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
    const maxBytes = requireAdmittedObject(await getBucket(database, target.bucket), draft.metadata, maxObjectBytes)
    const id = await storeObject(parts, {
      draft,
      upsert,
      requireMayWrite: () => requireMayWrite(database, claims, draft, { upsert }),
      putBytes: async () => putLimited(blobs, await blobs.open(blobId), maxBytes),
    })
    if (upsert) onDiscarded()
    return context.json({ Id: id, Key: `${target.bucket}/${target.key}` })
  })

  /** Finds an object and answers with it; once more where its bytes were replaced between the two. */
  async function answer(
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

  const findAsCaller = (claims: VerifiedClaims, target: Target) =>
    asCaller(database, claims, (scope) => getObject(scope, target), { readOnly: true })
  const findAsService = (target: Target) => database.asService((scope) => getObject(scope, target), { readOnly: true })

  /** Objects of a public bucket are everybody's; in any other the policies decide. */
  async function findFor(context: StorageContext, isPublicAddress: boolean): Promise<StoredObject> {
    const target = targetOf(context)
    const bucket = await getBucket(database, target.bucket)
    if (bucket.public) return findAsService(target)
    if (isPublicAddress) throw new StorageError('NoSuchBucket')
    return findAsCaller(await callerOf(context, tokens), target)
  }

  const serve = (context: StorageContext, find: () => Promise<StoredObject>, options: ServeOptions = {}) =>
    answer(find, (object) =>
      serveObject(blobs, object, context.req.raw, { download: context.req.query('download'), ...options }),
    )

  function describe(context: StorageContext, object: StoredObject): Response {
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
  routes.get('/info/public/:bucket/:key{.+}', async (context) => describe(context, await findFor(context, true)))
  routes.get('/info/authenticated/:bucket/:key{.+}', async (context) =>
    describe(context, await findFor(context, false)),
  )
  routes.get('/info/:bucket/:key{.+}', async (context) => describe(context, await findFor(context, false)))
  routes.get('/sign/:bucket/:key{.+}', async (context) => {
    const target = targetOf(context)
    const expiresAt = await signedTokens.verifyDownload(context.req.query('token') ?? '', target)
    return serve(context, () => findAsService(target), { expiresAt })
  })
  routes.get('/public/:bucket/:key{.+}', (context) => serve(context, () => findFor(context, true)))
  routes.get('/authenticated/:bucket/:key{.+}', (context) => serve(context, () => findFor(context, false)))
  routes.get('/:bucket/:key{.+}', (context) => serve(context, () => findFor(context, false)))
  routes.post('/:bucket/:key{.+}', (context) => receiveFromCaller(context, context.req.header('x-upsert') === 'true'))
  routes.put('/:bucket/:key{.+}', (context) => receiveFromCaller(context, true))

  return routes
}
