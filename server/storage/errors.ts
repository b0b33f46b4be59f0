/** Supabase's protocol: most client errors have HTTP status 400; `statusCode` in the body is specific. */
import pg from 'pg'
import { AppError } from '#server/base/errors.ts'
import { isRefusedTurn } from '#server/database/admission.ts'
import { isConnectionFailure } from '#server/database/errors.ts'

interface ErrorKind {
  readonly statusCode: number
  readonly message: string
  /** Legacy name that clients read; defaults to the code. */
  readonly error?: string
  /** HTTP status; defaults to 400. */
  readonly status?: number
}

const KINDS = {
  NoSuchBucket: { statusCode: 404, error: 'Bucket not found', message: 'Bucket not found' },
  NoSuchKey: { statusCode: 404, error: 'not_found', message: 'Object not found' },
  NoSuchRoute: { statusCode: 404, error: 'Not Found', message: 'Route not found', status: 404 },
  BucketAlreadyExists: { statusCode: 409, error: 'Duplicate', message: 'The resource already exists' },
  KeyAlreadyExists: { statusCode: 409, error: 'Duplicate', message: 'The resource already exists' },
  ResourceAlreadyExists: { statusCode: 409, error: 'Duplicate', message: 'The resource already exists' },
  ResourceNotEmpty: { statusCode: 409, message: 'The bucket you tried to delete is not empty' },
  FeatureNotEnabled: { statusCode: 409, message: 'This feature is not enabled' },
  EntityTooLarge: {
    statusCode: 413,
    error: 'Payload too large',
    message: 'The object exceeded the maximum allowed size',
  },
  InvalidMimeType: { statusCode: 415, error: 'invalid_mime_type', message: 'mime type is not supported' },
  InvalidRange: { statusCode: 416, error: 'invalid_range', message: 'invalid range provided', status: 416 },
  AccessDenied: { statusCode: 403, error: 'Unauthorized', message: 'Access denied' },
  InvalidJWT: { statusCode: 400, message: 'Invalid JWT' },
  InvalidSignature: { statusCode: 400, message: 'Invalid signature' },
  InvalidKey: { statusCode: 400, message: 'Invalid key' },
  InvalidBucketName: { statusCode: 400, error: 'Invalid Input', message: 'Bucket name invalid' },
  InvalidParameter: { statusCode: 400, message: 'Invalid parameter' },
  InvalidRequest: { statusCode: 400, message: 'Invalid request' },
  SlowDown: { statusCode: 429, error: 'too_many_connections', message: 'Try again later', status: 429 },
  DatabaseTimeout: { statusCode: 544, message: 'The database took too long to answer', status: 544 },
  DatabaseLocked: {
    statusCode: 503,
    message: 'Another request is changing what this one needs. Try again in a moment.',
    status: 503,
  },
  DatabaseError: { statusCode: 503, message: 'The database cannot be reached', status: 503 },
  InternalError: { statusCode: 500, error: 'Internal', message: 'Internal Server Error', status: 500 },
} as const satisfies Record<string, ErrorKind>

export type StorageErrorCode = keyof typeof KINDS

export class StorageError extends Error {
  readonly code: StorageErrorCode
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: StorageErrorCode,
    message: string = KINDS[code].message,
    { cause, headers = {} }: { cause?: unknown; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'StorageError'
    this.code = code
    this.headers = headers
  }
}

export const noTransformation = (): StorageError =>
  new StorageError('FeatureNotEnabled', 'Image transformation is not enabled')

/** By SQLSTATE prefix. */
const SQL_CODES: readonly (readonly [sqlState: string, code: StorageErrorCode])[] = [
  ['23505', 'ResourceAlreadyExists'],
  ['57014', 'DatabaseTimeout'],
  ['55P03', 'DatabaseLocked'],
  ['53', 'SlowDown'],
  ['22', 'InvalidParameter'],
  ['23', 'InvalidParameter'],
  ['P0001', 'InvalidRequest'],
  ['PT413', 'EntityTooLarge'],
]

function fromDatabaseError(error: pg.DatabaseError): StorageError | undefined {
  const { code: sqlState = '', message } = error
  if (sqlState === '42501') {
    const isPolicy = message.includes('row-level security')
    return new StorageError('AccessDenied', isPolicy ? 'new row violates row-level security policy' : message, {
      cause: error,
    })
  }
  // The only foreign key is that of an object to its bucket.
  if (sqlState === '23503' && error.constraint === 'objects_bucketId_fkey') {
    const isReferenced = error.detail?.includes('still referenced') ?? false
    return new StorageError(isReferenced ? 'ResourceNotEmpty' : 'NoSuchBucket', undefined, { cause: error })
  }
  const code = SQL_CODES.find(([start]) => sqlState.startsWith(start))?.[1]
  if (code === undefined) return undefined
  const isOfCaller = code === 'InvalidParameter' || code === 'InvalidRequest' || code === 'EntityTooLarge'
  return new StorageError(code, isOfCaller ? message : undefined, { cause: error })
}

const retryHeaders = (error: AppError): Readonly<Record<string, string>> =>
  isRefusedTurn(error) ? { 'Retry-After': String(error.details.retryAfterS) } : {}

/** Undefined for an unexpected error. */
export function toStorageError(error: unknown): StorageError | undefined {
  if (error instanceof StorageError) return error
  if (isConnectionFailure(error)) return new StorageError('DatabaseError', undefined, { cause: error })
  if (error instanceof pg.DatabaseError) return fromDatabaseError(error)
  if (!(error instanceof AppError)) return undefined
  switch (error.code) {
    case 'unauthenticated': {
      const isExpired = error.details?.['reason'] === 'expired'
      return new StorageError('AccessDenied', isExpired ? '"exp" claim timestamp check failed' : error.message, {
        cause: error,
      })
    }
    case 'bad_request':
    case 'empty':
      return new StorageError('InvalidRequest', error.message, { cause: error })
    case 'too_large':
      return new StorageError('EntityTooLarge', error.message, { cause: error })
    case 'unsupported_type':
      return new StorageError('InvalidMimeType', error.message, { cause: error })
    case 'conflict':
      return new StorageError('ResourceAlreadyExists', undefined, { cause: error })
    case 'forbidden':
      return new StorageError('AccessDenied', error.message, { cause: error })
    case 'rate_limited':
      return new StorageError('SlowDown', error.message, { cause: error, headers: retryHeaders(error) })
    case 'unavailable':
      return new StorageError('DatabaseError', error.message, { cause: error, headers: retryHeaders(error) })
    case 'not_found':
      return new StorageError('NoSuchKey', undefined, { cause: error })
    case 'startup':
      return undefined
  }
}

export const isServerFault = ({ code }: StorageError): boolean => KINDS[code].statusCode >= 500

export function renderError({ code, message, headers }: StorageError, isHead: boolean): Response {
  const { statusCode, error = code, status = 400 }: ErrorKind = KINDS[code]
  const body = JSON.stringify({ statusCode: String(statusCode), error, message, code })
  return new Response(isHead ? null : body, {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store', ...headers },
  })
}
