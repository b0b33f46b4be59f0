/** Names of buckets and objects, and what a bucket admits. Nothing here ever becomes a path on a disk. */
import { z } from 'zod'
import { StorageError } from './errors.ts'

const KEY_PATTERN = /^[A-Za-z0-9_/!.*'() &$@=;:+,?-]+$/
const BUCKET_PATTERN = /^[A-Za-z0-9_!.*'() &$@=;:+,?-]{1,100}$/
const MAX_KEY_LENGTH = 1024

export interface ObjectPath {
  readonly bucket: string
  readonly key: string
}

/** @throws StorageError `InvalidBucketName` */
export function requireBucketName(name: string): string {
  if (BUCKET_PATTERN.test(name) && name.trim() === name && name !== '.' && name !== '..') return name
  throw new StorageError('InvalidBucketName')
}

/** Empty and dotted segments are refused, so that a key means the same to everything that reads it as a path. */
const isPlainPath = (key: string) => key.split('/').every((part) => part !== '' && part !== '.' && part !== '..')

/** @throws StorageError `InvalidKey` */
export function requireKey(key: string): string {
  if (key.length <= MAX_KEY_LENGTH && KEY_PATTERN.test(key) && isPlainPath(key)) return key
  throw new StorageError('InvalidKey', `Invalid key: ${key.slice(0, MAX_KEY_LENGTH)}`)
}

const BYTES_PER_UNIT = { b: 1, kb: 1e3, mb: 1e6, gb: 1e9 } as const
const sizeTextSchema = z
  .string()
  .toLowerCase()
  .regex(/^\d+(\.\d+)?(b|kb|mb|gb)$/)
  .transform((text) => {
    const unit = z.enum(['b', 'kb', 'mb', 'gb']).parse(/[a-z]+$/.exec(text)?.[0])
    return Math.floor(Number.parseFloat(text) * BYTES_PER_UNIT[unit])
  })

/** A limit as a number of bytes or in words ("20MB"). @throws StorageError `InvalidRequest` */
export function parseSizeLimit(given: string | number): number {
  const parsed = z.union([z.int().nonnegative(), sizeTextSchema]).safeParse(given)
  if (parsed.success) return parsed.data
  throw new StorageError('InvalidRequest', 'Invalid file size format, hint: use 20GB / 20MB / 30KB / 3B')
}

const MIME_PATTERN = /^(\*|\*\/\*|[a-z0-9+.-]+\/(\*|[a-z0-9+.-]+(;\s*charset=[a-z0-9-]+)?))$/i

/** @throws StorageError `InvalidMimeType` */
export function requireMimePatterns(patterns: readonly string[]): void {
  const strange = patterns.find((pattern) => pattern.length > 255 || !MIME_PATTERN.test(pattern))
  if (strange !== undefined) throw new StorageError('InvalidMimeType', `mime type ${strange} is not supported`)
}

/** Whether a declared type fits a pattern such as `image/png` or `image/*`; its parameters do not count. */
function matchesPattern(mimetype: string, pattern: string): boolean {
  const plain = (text: string) => text.split(';')[0]?.trim().toLowerCase() ?? ''
  const wanted = plain(pattern)
  if (wanted === '*' || wanted === '*/*') return true
  const given = plain(mimetype)
  return wanted.endsWith('/*') ? given.startsWith(wanted.slice(0, -1)) : given === wanted
}

/** @param allowed the bucket's patterns; null or none at all admit everything. @throws StorageError `InvalidMimeType` */
function requireAllowedType(mimetype: string, allowed: readonly string[] | null): void {
  if (!allowed || allowed.length === 0 || allowed.some((pattern) => matchesPattern(mimetype, pattern))) return
  throw new StorageError('InvalidMimeType', `mime type ${mimetype} is not supported`)
}

interface Limits {
  readonly file_size_limit: number | null
  readonly allowed_mime_types: readonly string[] | null
}

/**
 * Whether a bucket takes an object of this type and size, as far as the size is known.
 * @returns most bytes that it may have. @throws StorageError `InvalidMimeType`, `EntityTooLarge`
 */
export function requireAllowedObject(
  { file_size_limit, allowed_mime_types }: Limits,
  {
    mimetype = 'application/octet-stream',
    size = 0,
  }: { readonly mimetype?: string | undefined; readonly size?: number | undefined },
  maxObjectBytes: number,
): number {
  requireAllowedType(mimetype, allowed_mime_types)
  const maxBytes = Math.min(file_size_limit ?? maxObjectBytes, maxObjectBytes)
  if (size > maxBytes) throw new StorageError('EntityTooLarge')
  return maxBytes
}
