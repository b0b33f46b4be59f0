import { Hono } from 'hono'
import { z } from 'zod'
import type { TokenVerifier, VerifiedClaims } from '#server/access/tokens.ts'
import { UNKNOWN_TYPE } from '#server/blobs/media-types.ts'
import type { Database } from '#server/database/scope.ts'
import { requireAllowedObject } from './bucket-limits.ts'
import { asCaller, readRequest, verifyCaller } from './caller.ts'
import { noTransformation, StorageError } from './errors.ts'
import { listEntries, listPage, listRequestSchema, pageRequestSchema } from './list-objects.ts'
import { requireBucketName, requireKey } from './names.ts'
import { parseObjectPath } from './object-path.ts'
import { findVisibleKeys, getBucket, getObject, moveObject, removeObjects, requireWriteAccess } from './objects.ts'
import type { SignedTokens, Signer } from './signed-tokens.ts'

interface ObjectRouteOptions {
  readonly database: Database
  readonly tokens: TokenVerifier
  readonly signedTokens: SignedTokens
  readonly maxObjectBytes: number
  readonly onDiscarded: () => void
}

const MAX_KEYS = 1000
const UPLOAD_TOKEN_LIFETIME_S = 7200
const MAX_TOKEN_LIFETIME_S = 10 * 365 * 86_400

const removeRequestSchema = z.object({ prefixes: z.array(z.string()).min(1).max(MAX_KEYS) })
const signRequestSchema = z.object({
  expiresIn: z.int().min(1).max(MAX_TOKEN_LIFETIME_S),
  transform: z.record(z.string(), z.unknown()).nullish(),
})
const signManyRequestSchema = signRequestSchema.extend({ paths: z.array(z.string()).min(1).max(MAX_KEYS) })
const moveRequestSchema = z.object({
  bucketId: z.string(),
  sourceKey: z.string(),
  destinationKey: z.string(),
  destinationBucket: z.string().nullish(),
})

/** Tokens of other issuers, which have no session, may name an account that is not in this database. */
const signerOf = ({ sub, session_id: sessionId }: VerifiedClaims): Signer =>
  sessionId === undefined ? null : (sub ?? null)

export function createObjectRoutes({
  database,
  tokens,
  signedTokens,
  maxObjectBytes,
  onDiscarded,
}: ObjectRouteOptions): Hono {
  const routes = new Hono()

  routes.post('/list/:bucket', async (context) => {
    const { claims, request } = await readRequest(context, tokens, listRequestSchema)
    const bucket = requireBucketName(context.req.param('bucket'))
    return context.json(
      await asCaller(database, claims, (scope) => listEntries(scope, bucket, request), { readOnly: true }),
    )
  })

  routes.post('/list-v2/:bucket', async (context) => {
    const { claims, request } = await readRequest(context, tokens, pageRequestSchema)
    const bucket = requireBucketName(context.req.param('bucket'))
    return context.json(
      await asCaller(database, claims, (scope) => listPage(scope, bucket, request), { readOnly: true }),
    )
  })

  routes.post('/move', async (context) => {
    const { claims, request } = await readRequest(context, tokens, moveRequestSchema)
    const { bucketId, sourceKey, destinationKey, destinationBucket } = request
    const from = { bucket: bucketId, key: sourceKey }
    const to = { bucket: destinationBucket ?? bucketId, key: requireKey(destinationKey) }
    if (to.bucket !== from.bucket) {
      const object = await asCaller(database, claims, (scope) => getObject(scope, from), { readOnly: true })
      const moved = { ...object.metadata, mimetype: object.metadata?.mimetype ?? UNKNOWN_TYPE }
      requireAllowedObject(await getBucket(database, to.bucket), moved, maxObjectBytes)
    }
    await asCaller(database, claims, (scope) => moveObject(scope, from, to, claims.sub))
    return context.json({ message: 'Successfully moved' })
  })

  routes.post('/sign/:bucket', async (context) => {
    const { claims, request } = await readRequest(context, tokens, signManyRequestSchema)
    const bucket = requireBucketName(context.req.param('bucket'))
    const { expiresIn, paths, transform } = request
    if (Object.keys(transform ?? {}).length > 0) throw noTransformation()
    const found = await asCaller(database, claims, (scope) => findVisibleKeys(scope, bucket, paths), { readOnly: true })
    const answers = paths.map(async (path) => {
      if (!found.has(path)) {
        return { path, signedURL: null, error: 'Either the object does not exist or you do not have access to it' }
      }
      const token = await signedTokens.signDownload(
        { bucket, key: path },
        { signer: signerOf(claims), expiresInS: expiresIn },
      )
      return { path, signedURL: `/object/sign/${bucket}/${path}?token=${token}`, error: null }
    })
    return context.json(await Promise.all(answers))
  })

  routes.post('/sign/:bucket/:key{.+}', async (context) => {
    const { claims, request } = await readRequest(context, tokens, signRequestSchema)
    const target = parseObjectPath(context)
    const { expiresIn, transform } = request
    // A signed URL would serve the original image instead of the requested transformation.
    if (Object.keys(transform ?? {}).length > 0) throw noTransformation()
    await asCaller(database, claims, (scope) => getObject(scope, target), { readOnly: true })
    const token = await signedTokens.signDownload(target, { signer: signerOf(claims), expiresInS: expiresIn })
    return context.json({ signedURL: `/object/sign/${target.bucket}/${target.key}?token=${token}` })
  })

  routes.post('/upload/sign/:bucket/:key{.+}', async (context) => {
    const claims = await verifyCaller(context, tokens)
    const target = parseObjectPath(context)
    const upsert = context.req.header('x-upsert') === 'true'
    await getBucket(database, target.bucket)
    const draft = { target, owner: claims.sub, metadata: {}, userMetadata: {} }
    await requireWriteAccess(database, claims, draft, { upsert })
    const token = await signedTokens.signUpload(
      target,
      { upsert, owner: claims.sub, signer: signerOf(claims) },
      UPLOAD_TOKEN_LIFETIME_S,
    )
    return context.json({ url: `/object/upload/sign/${target.bucket}/${target.key}?token=${token}`, token })
  })

  routes.delete('/:bucket', async (context) => {
    const { claims, request } = await readRequest(context, tokens, removeRequestSchema)
    const bucket = requireBucketName(context.req.param('bucket'))
    const { prefixes } = request
    const removed = await asCaller(database, claims, (scope) => removeObjects(scope, bucket, prefixes))
    if (removed.length > 0) onDiscarded()
    return context.json(removed)
  })

  routes.delete('/:bucket/:key{.+}', async (context) => {
    const claims = await verifyCaller(context, tokens)
    const target = parseObjectPath(context)
    await asCaller(database, claims, async (scope) => {
      await getObject(scope, target)
      const removed = await removeObjects(scope, target.bucket, [target.key])
      if (removed.length === 0) throw new StorageError('AccessDenied')
    })
    onDiscarded()
    return context.json({ message: 'Successfully deleted' })
  })

  return routes
}
