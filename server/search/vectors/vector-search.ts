import { AppError, isTimeout } from '#server/base/errors.ts'
import type { Scope } from '#server/database/scope.ts'
import type { Embedder } from '#server/providers/embed.ts'
import { findSimilarPassages, modelInUse, type SimilarPassage } from './vector-store.ts'

const EMBED_TIMEOUT_MS = 3_000
const LATE = 'The model did not answer within three seconds.'

export interface VectorSearchResult {
  readonly similar: readonly SimilarPassage[]
  readonly notes: readonly string[]
}

/** Keys of a model that a person chose begin with its provider, those of one that runs here end with its digest. */
const nameOfModel = (model: string): string =>
  model.replace(/^(endpoint:[^/]*\/|server:[^ ]* )/, '').replace(/^local:(.*) [\da-f]{16}$/, '$1')

/** A failing provider yields no passages and a note for the trace. */
export async function searchVectors(
  scope: Scope,
  question: string,
  {
    embedder,
    documentIds,
    limit,
  }: { readonly embedder: Embedder; readonly documentIds: readonly string[] | null; readonly limit: number },
): Promise<VectorSearchResult> {
  const model = await modelInUse(scope, embedder.model)
  if (model === undefined) return { similar: [], notes: ['No passage has a vector yet: found by words alone.'] }
  try {
    const signal = AbortSignal.timeout(EMBED_TIMEOUT_MS)
    const [vector] = await embedder.embed([question], { signal, model, retries: 0, purpose: 'question' })
    if (!vector) return { similar: [], notes: [] }
    const notes =
      model === embedder.model
        ? []
        : [`Vectors of ${nameOfModel(model)}, until those of ${nameOfModel(embedder.model)} are complete.`]
    return { similar: await findSimilarPassages(scope, { model, vector, documentIds, limit }), notes }
  } catch (error) {
    if (isTimeout(error)) return { similar: [], notes: [`Found by words alone. ${LATE}`] }
    if (!(error instanceof AppError)) throw error
    return { similar: [], notes: [`Found by words alone. ${error.message}`] }
  }
}
