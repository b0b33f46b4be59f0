import { z } from 'zod'

/** A personal provider of models. Only the last characters of its key are ever shown. */
export const personalProvider = z.object({
  id: z.uuid(),
  kind: z.enum(['anthropic', 'openai', 'compatible']),
  name: z.string(),
  base_url: z.string().nullable(),
  last_four: z.string().nullable(),
  /** The embeddings model that replaces the operator's for this person. */
  embeddings_model: z.string().nullable(),
  created_at: z.string(),
})
export type PersonalProvider = z.infer<typeof personalProvider>

const apiKey = z
  .string()
  .trim()
  .max(500, 'This is too long for a key.')
  .regex(/^[\x21-\x7e]*$/, 'A key has no spaces and no special letters.')

/** Body of `POST /api/providers`: a personal key that replaces the server's, or an additional endpoint. */
export const newPersonalProvider = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['anthropic', 'openai']), apiKey: apiKey.min(8, 'This is too short for a key.') }),
  z.object({
    kind: z.literal('compatible'),
    name: z.string().trim().min(1, 'Give it a name.').max(60),
    baseUrl: z
      .url({ protocol: /^https?$/, error: 'The address begins with https:// or http://.' })
      .max(500)
      .transform((value) => value.replace(/\/+$/, '')),
    /** Some model servers accept any key, for example `none` or `EMPTY`. */
    apiKey: apiKey.min(1, 'This is too short for a key.').optional(),
  }),
])
export type NewPersonalProvider = z.input<typeof newPersonalProvider>

/** Body of `PATCH /api/providers/{id}`; null deselects the embeddings of this provider. */
export const providerPatch = z.object({
  embeddings_model: z.string().trim().min(1, 'Name a model.').max(150).nullable(),
})
export type ProviderPatch = z.input<typeof providerPatch>
