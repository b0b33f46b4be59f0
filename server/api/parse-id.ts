import { z } from 'zod'
import { AppError } from '#server/base/errors.ts'

/** @throws AppError `not_found` for a malformed id, like for an unknown one. */
export function parseId(value: string, subject: string): string {
  if (!z.uuid().safeParse(value).success) throw new AppError('not_found', `There is no such ${subject}.`)
  return value
}
