import { type Context } from 'hono'
import { requireBucketName, requireKey, type Target } from './names.ts'

/** Bucket and key of a path. @throws StorageError `InvalidBucketName`, `InvalidKey` */
export const targetOf = (context: Context): Target => ({
  bucket: requireBucketName(context.req.param('bucket') ?? ''),
  key: requireKey(context.req.param('key') ?? ''),
})
