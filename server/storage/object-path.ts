import type { Context } from 'hono'
import { requireBucketName, requireKey, type ObjectPath } from './names.ts'

/** @throws StorageError `InvalidBucketName`, `InvalidKey` */
export const parseObjectPath = (context: Context): ObjectPath => ({
  bucket: requireBucketName(context.req.param('bucket') ?? ''),
  key: requireKey(context.req.param('key') ?? ''),
})
