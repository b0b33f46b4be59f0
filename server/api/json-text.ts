import type { Context } from 'hono'

/** Answers with text that is JSON already, as PostgreSQL rendered it. */
export const jsonText = (context: Context, text: string): Response =>
  context.body(text, 200, { 'content-type': 'application/json' })
