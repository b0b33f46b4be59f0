import { type Context, Hono } from 'hono'
import { z } from 'zod'
import type { AccessWatch } from '#server/access/access-watch.ts'
import { endWithAccess, endWithSession } from '#server/access/end-with-access.ts'
import { findAccountState, isAccountOpen } from '#server/access/open-sessions.ts'
import type { TokenVerifier } from '#server/access/tokens.ts'
import { streamBody } from '#server/base/caller.ts'
import { listedMediaType, UNKNOWN_TYPE } from '#server/blobs/media-types.ts'
import type { Database } from '#server/database/scope.ts'
import { requireAllowedObject } from './bucket-limits.ts'
import { asCaller, readRequest, verifyCaller } from './caller.ts'
import { StorageError } from './errors.ts'
import { headerTextSchema } from './header-text.ts'
import { requireKey, type ObjectPath } from './names.ts'
import { parseObjectPath } from './object-path.ts'
import { type ObjectDraft, findStoredVersion, getBucket, getObject, requireWriteAccess } from './objects.ts'
import { type NodeBindings, parseUpload } from './parse-upload.ts'
import type { SignedTokens, UploadGrant } from './signed-tokens.ts'
import { limitToRoom, putLimited, storeObject, type StoreOptions } from './store-object.ts'

interface UploadRouteOptions extends StoreOptions {
  /** Never waits behind requests of people. */
  readonly background: Database
  readonly tokens: TokenVerifier
  readonly accessWatch: AccessWatch
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
  const { database, background, blobs, tokens, accessWatch, signedTokens, maxObjectBytes, onDiscarded } = options
  const routes = new Hono<NodeBindings>()

  interface Upload {
    readonly target: ObjectPath
    readonly owner: string | undefined
    readonly upsert: boolean
    readonly requireWriteAccess: (draft: ObjectDraft) => Promise<void>
    readonly requireStillAllowed: () => Promise<void>
  }

  async function storeUpload(context: StorageContext, { target, owner, upsert, ...rights }: Upload) {
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
        requireWriteAccess: () => rights.requireWriteAccess(draft),
        requireStillAllowed: rights.requireStillAllowed,
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
    const isLost = endWithSession(context, accessWatch, claims)
    const upload = {
      target: parseObjectPath(context),
      owner: claims.sub,
      upsert,
      requireWriteAccess: (draft: ObjectDraft) => requireWriteAccess(database, claims, draft, { upsert }),
      requireStillAllowed: () => (isLost() ? Promise.reject(new StorageError('AccessDenied')) : Promise.resolve()),
    }
    return context.json(await storeUpload(context, upload))
  }

  /** @throws StorageError `InvalidSignature` */
  async function requireOpenAccount(signer: string | null): Promise<void> {
    if (signer !== null && !(await isAccountOpen(background, signer))) throw new StorageError('InvalidSignature')
  }

  /** Links of earlier versions name only the owner, who may be of another issuer and then ends no link. */
  async function findSigner({ owner, signer }: UploadGrant): Promise<string | null> {
    if (signer !== undefined) return signer
    return owner !== undefined && (await findAccountState(background, owner)) !== undefined ? owner : null
  }

  /** Write access was checked when the token was signed; without `upsert` it creates an object only once. */
  routes.put('/upload/sign/:bucket/:key{.+}', async (context) => {
    const target = parseObjectPath(context)
    const grant = await signedTokens.verifyUpload(context.req.query('token') ?? '', target)
    const { upsert, owner } = grant
    const signer = await findSigner(grant)
    await requireOpenAccount(signer)
    endWithAccess(context, accessWatch, {
      person: signer ?? undefined,
      isAllowed: async () => signer === null || (await isAccountOpen(background, signer)),
    })
    const { Key } = await storeUpload(context, {
      target,
      owner,
      upsert,
      async requireWriteAccess() {
        if (!upsert && (await findStoredVersion(database, target))) throw new StorageError('KeyAlreadyExists')
      },
      requireStillAllowed: () => requireOpenAccount(signer),
    })
    return context.json({ Key })
  })

  routes.post('/copy', async (context) => {
    const { claims, request } = await readRequest(context, tokens, copyRequestSchema)
    const { bucketId, sourceKey, destinationKey, destinationBucket, copyMetadata, metadata } = request
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
