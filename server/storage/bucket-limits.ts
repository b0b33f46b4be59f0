import { z } from 'zod'
import { parseMediaType } from '#server/base/media-type.ts'
import { UNKNOWN_TYPE } from '#server/blobs/media-types.ts'
import { StorageError } from './errors.ts'

const BYTES_PER_UNIT = { b: 1, kb: 1e3, mb: 1e6, gb: 1e9 } as const
const sizeTextSchema = z
  .string()
  .toLowerCase()
  .regex(/^\d+(\.\d+)?(b|kb|mb|gb)$/)
  .transform((text) => {
    const unit = z.enum(['b', 'kb', 'mb', 'gb']).parse(/[a-z]+$/.exec(text)?.[0])
    return Math.floor(Number.parseFloat(text) * BYTES_PER_UNIT[unit])
  })

/** Accepts bytes, or text such as "20MB". @throws StorageError `InvalidRequest` */
export function parseSizeLimit(limit: string | number): number {
  const parsed = z.union([z.int().nonnegative(), sizeTextSchema]).safeParse(limit)
  if (parsed.success) return parsed.data
  throw new StorageError('InvalidRequest', 'Invalid file size format, hint: use 20GB / 20MB / 30KB / 3B')
}

const MIME_PATTERN = /^(\*|\*\/\*|[a-z0-9+.-]+\/(\*|[a-z0-9+.-]+(;\s*charset=[a-z0-9-]+)?))$/i

/** @throws StorageError `InvalidMimeType` */
export function requireMimePatterns(patterns: readonly string[]): void {
  const invalid = patterns.find((pattern) => pattern.length > 255 || !MIME_PATTERN.test(pattern))
  if (invalid !== undefined) throw new StorageError('InvalidMimeType', `mime type ${invalid} is not supported`)
}

/** Ignores parameters of the media type; a pattern is `image/png` or `image/*`. */
function matchesPattern(mimetype: string, pattern: string): boolean {
  const allowed = pattern.split(';')[0]?.trim().toLowerCase() ?? ''
  if (allowed === '*' || allowed === '*/*') return true
  const actual = parseMediaType(mimetype)?.type ?? UNKNOWN_TYPE
  return allowed.endsWith('/*') ? actual.startsWith(allowed.slice(0, -1)) : actual === allowed
}

/** Null or an empty list allows every type. @throws StorageError `InvalidMimeType` */
function requireAllowedType(mimetype: string, allowed: readonly string[] | null): void {
  if (!allowed || allowed.length === 0 || allowed.some((pattern) => matchesPattern(mimetype, pattern))) return
  throw new StorageError('InvalidMimeType', `mime type ${mimetype} is not supported`)
}

interface Limits {
  readonly file_size_limit: number | null
  readonly allowed_mime_types: readonly string[] | null
}

/** Returns the maximum size in bytes. Without `mimetype`, every type is allowed. @throws StorageError `InvalidMimeType`, `EntityTooLarge` */
export function requireAllowedObject(
  { file_size_limit, allowed_mime_types }: Limits,
  { mimetype, size = 0 }: { readonly mimetype?: string | undefined; readonly size?: number | undefined },
  maxObjectBytes: number,
): number {
  if (mimetype !== undefined) requireAllowedType(mimetype, allowed_mime_types)
  const maxBytes = Math.min(file_size_limit ?? maxObjectBytes, maxObjectBytes)
  if (size > maxBytes) throw new StorageError('EntityTooLarge')
  return maxBytes
}
