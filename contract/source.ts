import { z } from 'zod'

/**
 * One passage that an answer rests on. `start` and `end` count UTF-16 code units in the text of that page
 * (`GET /api/documents/{id}/pages/{page}`); `score` is the retrieval's own, not a probability.
 */
export const source = z.object({
  n: z.int().positive(),
  documentId: z.uuid(),
  filename: z.string(),
  page: z.int().positive(),
  start: z.int().nonnegative(),
  end: z.int().nonnegative(),
  text: z.string(),
  score: z.number(),
})
export type Source = z.infer<typeof source>
