import { z } from 'zod'

export const headerName = z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/)
export const headerValue = z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/)

export const jsonText = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    context.addIssue('no JSON')
    return z.NEVER
  }
})
