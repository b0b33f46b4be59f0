import { AppError } from '#server/base/errors.ts'

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export const missingBlob = (id: string, cause: unknown): AppError =>
  new AppError('not_found', 'These bytes are no longer there.', { cause, details: { blob: id } })

export const isBlobId = (text: string): boolean => ID.test(text)

/** Guards paths and keys against anything but an id. @throws AppError `not_found` */
export function requireBlobId(id: string): string {
  if (!isBlobId(id)) throw missingBlob(id, undefined)
  return id
}
