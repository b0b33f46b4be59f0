import { z } from 'zod'

/** A provider of models that a person has connected. Its key is never shown again, only how it ends. */
export const ownProvider = z.object({
  id: z.uuid(),
  kind: z.enum(['anthropic', 'openai', 'compatible']),
  name: z.string(),
  base_url: z.string().nullable(),
  last_four: z.string().nullable(),
  /** The model of it that gives the person's passages vectors, in place of the operator's. */
  embeddings_model: z.string().nullable(),
  created_at: z.string(),
})
export type OwnProvider = z.infer<typeof ownProvider>

const apiKey = z
  .string()
  .trim()
  .max(500, 'This is too long for a key.')
  .regex(/^[\x21-\x7e]*$/, 'A key has no spaces and no special letters.')

/** Body of `POST /api/providers`: an own key in place of the server's, or an own endpoint beside its models. */
export const newOwnProvider = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['anthropic', 'openai']), apiKey: apiKey.min(8, 'This is too short for a key.') }),
  z.object({
    kind: z.literal('compatible'),
    name: z.string().trim().min(1, 'Give it a name.').max(60),
    baseUrl: z
      .url({ protocol: /^https?$/, error: 'The address begins with https:// or http://.' })
      .max(500)
      .transform((value) => value.replace(/\/+$/, '')),
    /** Servers of one's own are given anything where their programs want something: `none`, `EMPTY`. */
    apiKey: apiKey.min(1, 'This is too short for a key.').optional(),
  }),
])
export type NewOwnProvider = z.input<typeof newOwnProvider>

/** Body of `PATCH /api/providers/{id}`; null: passages get no vectors of this provider any more. */
export const providerPatch = z.object({
  embeddings_model: z.string().trim().min(1, 'Name a model.').max(150).nullable(),
})
export type ProviderPatch = z.input<typeof providerPatch>
