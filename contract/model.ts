import { z } from 'zod'

/** A row of `models`, with the columns that the picker selects. */
export const modelRow = z.object({
  id: z.uuid(),
  name: z.string(),
  version: z.string(),
  model_identifier: z.string(),
  provider: z.string(),
  family: z.string(),
  is_default: z.boolean(),
  context_window: z.int().positive(),
  /** The space whose key reaches it and in which alone it is offered; null: everywhere. */
  space_id: z
    .uuid()
    .nullish()
    .transform((id) => id ?? null),
})
export type ModelRow = z.infer<typeof modelRow>

/** `host` receives the question and the passages; null if nothing leaves the server. */
export const modelAvailability = z.object({
  model_identifier: z.string(),
  available: z.boolean(),
  reason: z.string().nullable(),
  host: z.string().nullable(),
  /** Only of a model that has left the lists, and that a conversation of the person uses. */
  name: z.string().optional(),
})
export type ModelAvailability = z.infer<typeof modelAvailability>
