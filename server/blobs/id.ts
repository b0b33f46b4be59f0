import { AppError } from '#server/base/errors.ts'

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export const missingBlob = (id: string, cause: unknown): AppError =>
  new AppError('not_found', 'These bytes are no longer there.', { cause, details: { blob: id } })

export const isBlobId = (text: string): boolean => ID.test(text)

/** @throws AppError `not_found` for anything else, which guards paths and keys */
export function requireBlobId(id: string): string {
  if (!isBlobId(id)) throw missingBlob(id, undefined)
  return id
}
