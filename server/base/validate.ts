import type { z } from 'zod'
import { AppError } from './errors.ts'

type Issue = z.core.$ZodIssue

/** The sentences of our own schemas end as sentences do; what zod says by itself does not. */
const isSentence = ({ message }: Issue): boolean => message.endsWith('.')

/** What one of the shapes says that was nearly met, where it says it in a sentence. */
const innermost = (issue: Issue): Issue =>
  issue.code === 'invalid_union' ? (issue.errors.flat().find(isSentence) ?? issue) : issue

/** A sentence is for the person who filled in a form, and knows nothing of the names of fields. */
function describe(issue: Issue): string {
  const where = issue.path.length > 0 && !isSentence(issue) ? `${issue.path.join('.')}: ` : ''
  return where + issue.message
}

/**
 * Parses what came over the wire.
 * @throws AppError `bad_request`, saying of the first field that does not fit why.
 */
export function validate<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new AppError('bad_request', issue ? describe(innermost(issue)) : 'invalid input', {
    details: { issues: parsed.error.issues },
  })
}
