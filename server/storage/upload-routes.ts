import { type Context, Hono } from 'hono'
import { z } from 'zod'
import type { TokenVerifier } from '#server/access/tokens.ts'
import { streamBody } from '#server/base/caller.ts'
import { validate } from '#server/base/validate.ts'
import { listedMediaType, UNKNOWN_TYPE } from '#server/blobs/media-types.ts'
import { requireAllowedObject } from './bucket-limits.ts'
import { asCaller, verifyCaller } from './caller.ts'
import { StorageError } from './errors.ts'
import { headerTextSchema } from './header-text.ts'
import { readJson } from './json-body.ts'
import { requireKey, type ObjectPath } from './names.ts'
import { parseObjectPath } from './object-path.ts'
import { type ObjectDraft, findStoredVersion, getBucket, getObject, requireWriteAccess } from './objects.ts'
import { type NodeBindings, parseUpload } from './parse-upload.ts'
import type { SignedTokens } from './signed-tokens.ts'
import { limitToRoom, putLimited, storeObject, type StoreOptions } from './store-object.ts'

interface UploadRouteOptions extends StoreOptions {
  readonly tokens: TokenVerifier
  readonly signedTokens: SignedTokens
  readonly maxObjectBytes: number
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

export function createUploadRoutes(options: UploadRouteOptions): Hono<NodeBindings> {
  const { database, blobs, tokens, signedTokens, maxObjectBytes, onDiscarded } = options
  const routes = new Hono<NodeBindings>()

  interface Upload {
    readonly target: ObjectPath
    readonly owner: string | undefined
    readonly upsert: boolean
    readonly requireWriteAccess: (draft: ObjectDraft) => Promise<void>
  }

  async function storeUpload(context: StorageContext, { target, owner, upsert, requireWriteAccess }: Upload) {
    const bucket = await getBucket(database, target.bucket)
    streamBody()
    const { mimetype, cacheControl, userMetadata, declaredBytes, bytes, stopReading } = await parseUpload(context)
    const declared = declaredBytes === undefined ? {} : { size: declaredBytes, contentLength: declaredBytes }
    const metadata = { mimetype: listedMediaType(mimetype), cacheControl, ...declared }
    const draft = { target, owner, userMetadata, metadata }
    let id: string
    try {
      const maxBytes = requireAllowedObject(bucket, { ...metadata, mimetype }, maxObjectBytes)
      const limit = await limitToRoom(options, draft, maxBytes)
      id = await storeObject(options, {
        draft,
        upsert,
        requireWriteAccess: () => requireWriteAccess(draft),
        putBytes: () => putLimited(blobs, bytes, limit),
      })
    } catch (error) {
      stopReading()
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
      requireWriteAccess: (draft: ObjectDraft) => requireWriteAccess(database, claims, draft, { upsert }),
    }
    return context.json(await storeUpload(context, upload))
  }

  /** Write access was checked when the token was signed; without `upsert` it creates an object only once. */
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
    const given = copyMetadata ? undefined : metadata
    const mimetype = given?.mimetype ?? source.metadata?.mimetype ?? UNKNOWN_TYPE
    const draft = {
      target,
      owner: claims.sub,
      metadata: { ...source.metadata, ...given, mimetype: listedMediaType(mimetype) },
      userMetadata: (copyMetadata ? source.user_metadata : undefined) ?? {},
    }
    // The bucket took the type that was declared, of which only a listed one is stored.
    const isTaken = target.bucket === bucketId && given?.mimetype === undefined
    const maxBytes = requireAllowedObject(
      await getBucket(database, target.bucket),
      { ...source.metadata, mimetype: isTaken ? undefined : mimetype },
      maxObjectBytes,
    )
    const limit = await limitToRoom(options, draft, maxBytes)
    const id = await storeObject(options, {
      draft,
      upsert,
      requireWriteAccess: () => requireWriteAccess(database, claims, draft, { upsert }),
      putBytes: async () => putLimited(blobs, await blobs.open(blobId), limit),
    })
    if (upsert) onDiscarded()
    return context.json({ Id: id, Key: `${target.bucket}/${target.key}` })
  })

  routes.post('/:bucket/:key{.+}', (context) => uploadAsCaller(context, context.req.header('x-upsert') === 'true'))
  routes.put('/:bucket/:key{.+}', (context) => uploadAsCaller(context, true))

  return routes
}
