/** Turns texts into vectors at any server that speaks the OpenAI protocol. The SDK is loaded with the first text. */
import { z } from 'zod'
import { AppError, messageOf } from '#server/base/errors.ts'

export interface Embedder {
  /** The configured model; vectors of different models cannot be compared. */
  readonly model: string
  /**
   * One vector of length 1 for each text, in order.
   * @param model another one of the same server, while its vectors are still in use.
   * @throws AppError `unavailable`, or the reason of the aborted signal.
   */
  embed(
    texts: readonly string[],
    options: { readonly signal: AbortSignal; readonly model?: string; readonly retries?: number },
  ): Promise<Float32Array[]>
}

export interface EmbedderSettings {
  readonly model: string | undefined
  readonly baseUrl: string | undefined
  readonly apiKey: string | undefined
  /** The way to an address that a person entered. */
  readonly fetch?: typeof fetch | undefined
}

const vectors = z.array(z.array(z.number()).min(1))

/** Null where no model is configured. */
export function createEmbedder({ model, baseUrl, apiKey, fetch }: EmbedderSettings): Embedder | null {
  if (model === undefined || baseUrl === undefined) return null
  return {
    model,
    async embed(texts, { signal, model: asked = model, retries = 2 }) {
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
        const { embeddings } = await embedMany({
          model: provider.embeddingModel(asked),
          values: [...texts],
          abortSignal: signal,
          maxRetries: retries,
          maxParallelCalls: 1,
          telemetry: { isEnabled: false },
        })
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
