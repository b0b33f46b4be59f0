/** Embeddings over the OpenAI protocol. The SDK is loaded with the first text. */
import { z } from 'zod'
import { AppError, messageOf } from '#server/base/errors.ts'
import { traceOperation } from '#server/base/tracing.ts'

export interface Embedder {
  /** Vectors of different models cannot be compared. */
  readonly model: string
  /** How many passages to give it at a time. */
  readonly batch: number
  /**
   * Returns one unit vector per text, in order. `model` may name an earlier model whose vectors are in use. Some models
   * read a question otherwise than a passage, the default.
   * @throws AppError `unavailable`, or the reason of the aborted signal.
   */
  embed(
    texts: readonly string[],
    options: {
      readonly signal: AbortSignal
      readonly model?: string
      readonly retries?: number
      readonly purpose?: 'question' | 'passage'
    },
  ): Promise<Float32Array[]>
}

export interface EmbedderSettings {
  readonly model: string | undefined
  readonly baseUrl: string | undefined
  readonly apiKey: string | undefined
  /** A guarded fetch for an address that a person entered. */
  readonly fetch?: typeof fetch | undefined
}

export const ENDPOINT_BATCH = 32

/** Above that of every published model; the answers of an endpoint that a person entered are stored. */
const MAX_DIMENSIONS = 8_192

const vectors = z.array(z.array(z.number()).min(1).max(MAX_DIMENSIONS))

export function createEmbedder({ model, baseUrl, apiKey, fetch }: EmbedderSettings): Embedder | null {
  if (model === undefined || baseUrl === undefined) return null
  return {
    model,
    batch: ENDPOINT_BATCH,
    async embed(texts, { signal, model: requestedModel = model, retries = 2 }) {
      const [{ embedMany }, { createOpenAICompatible }] = await Promise.all([
        import('ai'),
        import('@ai-sdk/openai-compatible'),
      ])
      const provider = createOpenAICompatible({
        name: 'embeddings',
        baseURL: baseUrl,
        ...(apiKey === undefined ? {} : { apiKey }),
        ...(fetch === undefined ? {} : { fetch }),
      })
      try {
        const request = {
          model: provider.embeddingModel(requestedModel),
          values: [...texts],
          abortSignal: signal,
          maxRetries: retries,
          maxParallelCalls: 1,
          telemetry: { isEnabled: false },
        }
        const { embeddings } = await traceOperation('model', 'embed', () => embedMany(request), { texts: texts.length })
        const checked = vectors.length(texts.length).parse(embeddings)
        return checked.map(normalise)
      } catch (error) {
        signal.throwIfAborted()
        throw new AppError('unavailable', `The embeddings provider failed: ${messageOf(error)}`, { cause: error })
      }
    },
  }
}

function normalise(vector: readonly number[]): Float32Array {
  const length = Math.hypot(...vector) || 1
  return Float32Array.from(vector, (value) => value / length)
}
