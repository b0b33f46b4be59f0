/** Names of buckets and objects, and what a bucket admits. Nothing here ever becomes a path on a disk. */
import { z } from 'zod'
import { StorageError } from './errors.ts'

const KEY = /^[A-Za-z0-9_/!.*'() &$@=;:+,?-]+$/
const BUCKET = /^[A-Za-z0-9_!.*'() &$@=;:+,?-]{1,100}$/
const LONGEST_KEY = 1024

export interface Target {
  readonly bucket: string
  readonly key: string
}

/** @throws StorageError `InvalidBucketName` */
export function requireBucketName(name: string): string {
  if (BUCKET.test(name) && name.trim() === name && name !== '.' && name !== '..') return name
  throw new StorageError('InvalidBucketName')
}

/** Empty and dotted segments are refused, so that a key means the same to everything that reads it as a path. */
const isPlainPath = (key: string) => key.split('/').every((part) => part !== '' && part !== '.' && part !== '..')

/** @throws StorageError `InvalidKey` */
export function requireKey(key: string): string {
  if (key.length <= LONGEST_KEY && KEY.test(key) && isPlainPath(key)) return key
  throw new StorageError('InvalidKey', `Invalid key: ${key.slice(0, LONGEST_KEY)}`)
}

const UNITS = { b: 1, kb: 1e3, mb: 1e6, gb: 1e9 } as const
const sizeText = z
  .string()
  .toLowerCase()
  .regex(/^\d+(\.\d+)?(b|kb|mb|gb)$/)
  .transform((text) => {
    const unit = z.enum(['b', 'kb', 'mb', 'gb']).parse(/[a-z]+$/.exec(text)?.[0])
    return Math.floor(Number.parseFloat(text) * UNITS[unit])
  })

/** A limit as a number of bytes or in words ("20MB"). @throws StorageError `InvalidRequest` */
export function parseSizeLimit(given: string | number): number {
  const parsed = z.union([z.int().nonnegative(), sizeText]).safeParse(given)
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
function fits(mimetype: string, pattern: string): boolean {
  const plain = (text: string) => text.split(';')[0]?.trim().toLowerCase() ?? ''
  const wanted = plain(pattern)
  if (wanted === '*' || wanted === '*/*') return true
  const given = plain(mimetype)
  return wanted.endsWith('/*') ? given.startsWith(wanted.slice(0, -1)) : given === wanted
}

/** @param allowed the bucket's patterns; null or none at all admit everything. @throws StorageError `InvalidMimeType` */
function requireAdmittedType(mimetype: string, allowed: readonly string[] | null): void {
  if (!allowed || allowed.length === 0 || allowed.some((pattern) => fits(mimetype, pattern))) return
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
export function requireAdmittedObject(
  { file_size_limit, allowed_mime_types }: Limits,
  {
    mimetype = 'application/octet-stream',
    size = 0,
  }: { readonly mimetype?: string | undefined; readonly size?: number | undefined },
  maxObjectBytes: number,
): number {
  requireAdmittedType(mimetype, allowed_mime_types)
  const maxBytes = Math.min(file_size_limit ?? maxObjectBytes, maxObjectBytes)
  if (size > maxBytes) throw new StorageError('EntityTooLarge')
  return maxBytes
}
