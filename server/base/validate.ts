import type { z } from 'zod'
import { AppError } from './errors.ts'

/**
 * Parses what came over the wire.
 * @throws AppError `bad_request`, naming the first field that does not fit and why.
 */
export function validate<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const where = issue && issue.path.length > 0 ? `${issue.path.join('.')}: ` : ''
  throw new AppError('bad_request', `${where}${issue?.message ?? 'invalid input'}`, {
    details: { issues: parsed.error.issues },
  })
}
