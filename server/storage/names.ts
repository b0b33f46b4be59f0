/** Validated names never become paths on a disk. */
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

/** Programs that read the key as a path would normalise empty and dotted segments. */
const isPlainPath = (key: string) => key.split('/').every((part) => part !== '' && part !== '.' && part !== '..')

/** @throws StorageError `InvalidKey` */
export function requireKey(key: string): string {
  if (key.length <= MAX_KEY_LENGTH && KEY_PATTERN.test(key) && isPlainPath(key)) return key
  throw new StorageError('InvalidKey', `Invalid key: ${key.slice(0, MAX_KEY_LENGTH)}`)
}
