/** The embedder of a person: a model that they chose, else the operator's. */
import { AppError } from '#server/base/errors.ts'
import { personalIdentifier } from '#server/providers/provider-registry.ts'
import { createEmbedder, type Embedder, ENDPOINT_BATCH } from '#server/providers/embed.ts'

interface Address {
  readonly name: string
  readonly baseUrl: string
  readonly apiKey: string | undefined
  readonly fetch?: typeof fetch | undefined
}

/** An endpoint that the environment configures, and whose models people may choose for their own documents. */
export interface ServerEndpoint extends Address {
  readonly id: 'compatible' | 'openai'
}

/** An endpoint that a person can use, with the model that they chose there; null without one. */
export interface EmbeddingsEndpoint extends Address {
  readonly id: string
  readonly model: string | null
  /** Keys of vectors of its models: this and the model. */
  readonly keyPrefix: string
}

export const personalKeyPrefix = (id: string): string => personalIdentifier(id, '')

/** Ends in a space, which no address has. */
export const serverKeyPrefix = (address: string): string => `server:${address} `

/** @param model as the provider names it. */
export function createEndpointEmbedder({ baseUrl, apiKey, fetch }: Address, model: string): Embedder {
  const embedder = createEmbedder({ model, baseUrl, apiKey, fetch })
  if (!embedder) throw new AppError('unavailable', 'This provider has no address.')
  return embedder
}

/**
 * A model of a personal provider comes before the operator's, which comes before one of an endpoint of the server. `embed`
 * also accepts earlier models: their vectors stay in use until those of the chosen model are complete. An endpoint of the
 * server receives a question only while the person agrees to it.
 */
export function choosePersonalEmbedder(
  { personal, server }: { personal: readonly EmbeddingsEndpoint[]; server: readonly EmbeddingsEndpoint[] },
  operatorEmbedder: Embedder | null,
): Embedder | null {
  const chosenOf = (endpoints: readonly EmbeddingsEndpoint[]) =>
    endpoints.flatMap(({ keyPrefix, model }) => (model === null ? [] : [keyPrefix + model]))[0]
  const chosen = chosenOf(personal) ?? operatorEmbedder?.model ?? chosenOf(server)
  if (chosen === undefined) return null
  const endpoints = [...personal, ...server.filter(({ model }) => model !== null)]
  return {
    model: chosen,
    batch: chosen === operatorEmbedder?.model ? operatorEmbedder.batch : ENDPOINT_BATCH,
    async embed(texts, { model = chosen, ...options }) {
      const endpoint = endpoints.find(({ keyPrefix }) => model.startsWith(keyPrefix))
      if (endpoint)
        return createEndpointEmbedder(endpoint, model.slice(endpoint.keyPrefix.length)).embed(texts, options)
      // Names that only this server gives would tell another provider nothing.
      if (!operatorEmbedder || (model !== operatorEmbedder.model && /^(endpoint|server|local):/.test(model)))
        throw new AppError(
          'unavailable',
          'The model of these vectors is no longer used, those of another are being computed.',
        )
      return operatorEmbedder.embed(texts, { model, ...options })
    },
  }
}
