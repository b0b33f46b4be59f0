import { z } from 'zod'

/** `own`: a provider of the person, `server`: an endpoint of this server that they chose, `operator`: set for everybody. */
const EMBEDDINGS_SOURCES = ['own', 'server', 'operator'] as const

/** `GET /api/embeddings`: which model searches the person's documents by meaning; null: words alone. */
export const embeddingsState = z.object({
  chosen: z
    .object({
      source: z.enum(EMBEDDINGS_SOURCES),
      /** The id of a provider of the person, or the name of an endpoint of this server; null for the operator's model. */
      provider: z.string().nullable(),
      provider_name: z.string(),
      model: z.string(),
      /** The host that receives the texts; null if they stay in this server. */
      host: z.string().nullable(),
      /** False if this server no longer uses the endpoint that the person agreed to. */
      available: z.boolean(),
      passages: z.int(),
      /** Passages that have a vector of this model. */
      embedded: z.int(),
      /** Why the last attempt to compute vectors failed, in one sentence. */
      failure: z.string().nullable(),
    })
    .nullable(),
})
export type EmbeddingsState = z.infer<typeof embeddingsState>
export type ChosenEmbeddings = NonNullable<EmbeddingsState['chosen']>

/** `GET /api/embeddings/offers`: embeddings models that connected endpoints list, and endpoints that failed. */
export const embeddingsOffers = z.object({
  offers: z.array(
    z.object({
      provider: z.string(),
      provider_name: z.string(),
      host: z.string(),
      /** The recommended one first. */
      models: z.array(z.string()).min(1),
    }),
  ),
  failures: z.array(z.string()),
})
export type EmbeddingsOffers = z.infer<typeof embeddingsOffers>
export type EmbeddingsOffer = EmbeddingsOffers['offers'][number]

/** Body of `PUT /api/embeddings`: agrees that the host of this offer receives all texts of the person's documents. */
export const embeddingsChoice = z.object({
  provider: z.string().min(1).max(60),
  model: z.string().trim().min(1, 'Name a model.').max(150),
  /** The host that the person was shown; another one is refused. */
  host: z.string().min(1).max(300),
})
export type EmbeddingsChoice = z.infer<typeof embeddingsChoice>
