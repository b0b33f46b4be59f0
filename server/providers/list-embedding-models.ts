/** Embeddings models of an endpoint: by its list, and where it is Ollama or LM Studio by what it states about each model. */
import { z } from 'zod'
import { recommendedFirst } from './embedding-models.ts'
import { embedsText, type Endpoint, type Listed, readEntries, readJson, readModelList } from './list-models.ts'

const DETAILS_TIMEOUT_MS = 3_000
const MAX_OFFERED = 20
/** Ollama states capabilities one model at a time. */
const MAX_ASKED = 40

const shownModel = z.object({ capabilities: z.array(z.string()).min(1) })

/** Undefined if the endpoint has no such route, or is too slow: it is optional. */
async function readOptional(
  url: string,
  endpoint: Endpoint,
  signal: AbortSignal,
  body?: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const ended = AbortSignal.any([signal, AbortSignal.timeout(DETAILS_TIMEOUT_MS)])
  return readJson(url, endpoint, ended, body).catch(() => {
    signal.throwIfAborted()
    return undefined
  })
}

const idsOf = (list: unknown): Listed[] => {
  try {
    return readEntries(list)
  } catch (error) {
    if (error instanceof z.ZodError) return []
    throw error
  }
}

/** Whether each model is for embeddings, by its id, as the native interface states it; empty for any other endpoint. */
async function readNativeDetails(endpoint: Endpoint, signal: AbortSignal): Promise<ReadonlyMap<string, boolean>> {
  const root = endpoint.baseUrl.replace(/\/v\d+$/, '')
  const [ofOllama, ofLmStudio] = await Promise.all([
    readOptional(`${root}/api/tags`, endpoint, signal),
    readOptional(`${root}/api/v0/models`, endpoint, signal),
  ])
  const typed = idsOf(ofLmStudio)
    .filter(({ type }) => type !== undefined)
    .map((model) => [model.id, embedsText(model)] as const)
  const shown = await Promise.all(
    idsOf(ofOllama)
      .slice(0, MAX_ASKED)
      .map(async ({ id }) => {
        const answer = shownModel.safeParse(await readOptional(`${root}/api/show`, endpoint, signal, { model: id }))
        return answer.success ? [[id, answer.data.capabilities.includes('embedding')] as const] : []
      }),
  )
  return new Map([...typed, ...shown.flat()])
}

/** Ollama lists the default version of a model with the suffix, and answers to either name. */
const withoutLatest = (id: string): string => id.replace(/:latest$/, '')

/** The recommended one first; empty without any. @throws AppError as `readModelList`. */
export async function listEmbeddingModels(endpoint: Endpoint, signal: AbortSignal): Promise<string[]> {
  const [listed, details] = await Promise.all([
    readModelList(endpoint, signal),
    // OpenAI has no other interface.
    endpoint.name === 'OpenAI' ? new Map<string, boolean>() : readNativeDetails(endpoint, signal),
  ])
  const ids = listed.filter((model) => details.get(model.id) ?? embedsText(model)).map(({ id }) => withoutLatest(id))
  return recommendedFirst([...new Set(ids)]).slice(0, MAX_OFFERED)
}
