/** Who gives a person's passages vectors: a model of a provider of their own, else the operator's. */
import { AppError } from '#server/base/errors.ts'
import { personalIdentifier } from '#server/providers/provider-registry.ts'
import { createEmbedder, type Embedder } from '#server/providers/embed.ts'

/** A provider of the person's own, as far as it can be asked for vectors. */
export interface EmbeddingsEndpoint {
  readonly id: string
  readonly baseUrl: string
  readonly apiKey: string | undefined
  readonly fetch?: typeof fetch | undefined
  /** The model that the person chose of it; null where it is another provider's, or none. */
  readonly model: string | null
}

/** The provider's own embedder. @param model as the provider names it. */
export function embedderAt({ baseUrl, apiKey, fetch }: EmbeddingsEndpoint, model: string): Embedder {
  const embedder = createEmbedder({ model, baseUrl, apiKey, fetch })
  if (!embedder) throw new AppError('unavailable', 'This provider has no address.')
  return embedder
}

/**
 * The embedder of one person. Vectors of another model may still be in use, until those of the chosen one are complete: a
 * question is then asked of whoever made them.
 * @param everyones the operator's; null where none is configured.
 */
export function choosePersonalEmbedder(
  endpoints: readonly EmbeddingsEndpoint[],
  everyones: Embedder | null,
): Embedder | null {
  const chosen = endpoints.find(({ model }) => model !== null)
  if (chosen?.model == null) return everyones
  const key = personalIdentifier(chosen.id, chosen.model)
  return {
    model: key,
    async embed(texts, { model = key, ...options }) {
      const own = endpoints.find(({ id }) => model.startsWith(personalIdentifier(id, '')))
      if (own) return embedderAt(own, model.slice(personalIdentifier(own.id, '').length)).embed(texts, options)
      if (!everyones) throw new AppError('unavailable', 'The provider of these vectors is gone.')
      return everyones.embed(texts, { model, ...options })
    },
  }
}
