/** The embedder of a person: a model of a personal provider, else the operator's embedder. */
import { AppError } from '#server/base/errors.ts'
import { personalIdentifier } from '#server/providers/provider-registry.ts'
import { createEmbedder, type Embedder } from '#server/providers/embed.ts'

export interface EmbeddingsEndpoint {
  readonly id: string
  readonly baseUrl: string
  readonly apiKey: string | undefined
  readonly fetch?: typeof fetch | undefined
  /** Null if the person chose no embeddings model of this provider. */
  readonly model: string | null
}

/** @param model as the provider names it. */
export function createEndpointEmbedder({ baseUrl, apiKey, fetch }: EmbeddingsEndpoint, model: string): Embedder {
  const embedder = createEmbedder({ model, baseUrl, apiKey, fetch })
  if (!embedder) throw new AppError('unavailable', 'This provider has no address.')
  return embedder
}

/** `embed` also accepts earlier models: their vectors stay in use until those of the chosen model are complete. */
export function choosePersonalEmbedder(
  endpoints: readonly EmbeddingsEndpoint[],
  sharedEmbedder: Embedder | null,
): Embedder | null {
  const chosen = endpoints.find(({ model }) => model !== null)
  if (chosen?.model == null) return sharedEmbedder
  const identifier = personalIdentifier(chosen.id, chosen.model)
  return {
    model: identifier,
    async embed(texts, { model = identifier, ...options }) {
      const endpoint = endpoints.find(({ id }) => model.startsWith(personalIdentifier(id, '')))
      if (endpoint)
        return createEndpointEmbedder(endpoint, model.slice(personalIdentifier(endpoint.id, '').length)).embed(
          texts,
          options,
        )
      if (!sharedEmbedder) throw new AppError('unavailable', 'The provider of these vectors is gone.')
      return sharedEmbedder.embed(texts, { model, ...options })
    },
  }
}
