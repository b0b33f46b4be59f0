import type { z } from 'zod'
import { AppError } from './errors.ts'

type Issue = z.core.$ZodIssue

/** Messages of Alcove's schemas end with a period; those of zod do not. */
const isSentence = ({ message }: Issue): boolean => message.endsWith('.')

const innermost = (issue: Issue): Issue =>
  issue.code === 'invalid_union' ? (issue.errors.flat().find(isSentence) ?? issue) : issue

function describe(issue: Issue): string {
  const where = issue.path.length > 0 && !isSentence(issue) ? `${issue.path.join('.')}: ` : ''
  return where + issue.message
}

/** @throws AppError `bad_request` with the reason for the first invalid field */
export function validate<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new AppError('bad_request', issue ? describe(innermost(issue)) : 'invalid input', {
    details: { issues: parsed.error.issues },
  })
}
