/** Lists the models of an endpoint, which also tests its key. */
import { z } from 'zod'
import { AppError } from '#server/base/errors.ts'
import { findAnsweredError } from './answered-error.ts'
import { isEmbeddingModelName } from './embedding-models.ts'
import { networkReason } from './network-reason.ts'
import { isVisionModelName } from './vision.ts'
import { isJson } from './wire-format.ts'

export interface Endpoint {
  readonly protocol: 'anthropic' | 'openai'
  readonly name: string
  /** Ends in the version: `…/v1`. */
  readonly baseUrl: string
  readonly apiKey: string | undefined
  readonly fetch?: typeof fetch
}

export interface ListedModel {
  readonly id: string
  readonly contextWindow: number
  /** Whether it accepts pictures, by the endpoint's capabilities or else by its name. */
  readonly sees: boolean
}

const TIMEOUT_MS = 10_000
const MAX_BYTES = 4 * 1024 * 1024
const MAX_MODELS = 1_000
/** `conversations.model_name` also holds the prefix of the endpoint. */
const MAX_ID_LENGTH = 150
const DEFAULT_CONTEXT_WINDOW = 32_000
const NOT_FOR_CHAT = /embed(?!ded)|whisper|transcri|tts|speech|dall-e|image|rerank|moderation/i
/** As Together, LM Studio, LiteLLM, Ollama and others name what a model is for. */
const EMBEDDING_KIND = /^(text[-_])?embed(ding|dings|der)?$|^feature-extraction$|^sentence-similarity$/i

const contextWindow = z.int().positive().max(2_147_483_647).optional().catch(undefined)

const word = z.string().optional().catch(undefined)

const listedModel = z.looseObject({
  id: z.string().min(1),
  // As OpenRouter, vLLM, Mistral and Groq name it.
  context_length: contextWindow,
  max_model_len: contextWindow,
  max_context_length: contextWindow,
  context_window: contextWindow,
  architecture: z
    .object({ input_modalities: z.array(z.string()) })
    .optional()
    .catch(undefined),
  capabilities: z
    .union([z.array(z.string()), z.object({ vision: z.boolean() })])
    .optional()
    .catch(undefined),
  type: word,
  task: word,
  mode: word,
})
export type Listed = z.infer<typeof listedModel>

/** Bare lists are of Together, `models` of Ollama's own format, whose entries have a `name` or `model` as their id. */
const modelList = z.union([
  z.array(z.unknown()),
  z.object({ data: z.array(z.unknown()) }).transform(({ data }) => data),
  z.object({ models: z.array(z.unknown()) }).transform(({ models }) => models),
  z.object({ data: z.null() }).transform(() => []),
  z.object({ models: z.null() }).transform(() => []),
])

const namedEntry = z.union([
  z.looseObject({ id: z.string() }),
  z.looseObject({ model: z.string() }).transform(({ model, ...rest }) => ({ ...rest, id: model })),
  z.looseObject({ name: z.string() }).transform(({ name, ...rest }) => ({ ...rest, id: name })),
  z.string().transform((id) => ({ id })),
])

/** One entry that is unreadable costs only itself. */
const readEntry = (entry: unknown): readonly Listed[] => {
  const read = namedEntry.pipe(listedModel).safeParse(entry)
  return read.success ? [read.data] : []
}

/** By the kind that the endpoint states, else by its name. */
export function embedsText({ id, type, task, mode, capabilities }: Listed): boolean {
  const stated = [type, task, mode].flatMap((kind) => kind ?? [])
  if (Array.isArray(capabilities) && capabilities.length > 0) stated.push(...capabilities)
  if (stated.some((kind) => EMBEDDING_KIND.test(kind))) return true
  const states = stated.some((kind) => /^(chat|completion|llm|vlm|generate|text-generation)/i.test(kind))
  return !states && isEmbeddingModelName(id)
}

/** OpenRouter lists input modalities; others list capabilities as words or booleans. */
function supportsVision({ id, architecture, capabilities }: Listed): boolean {
  if (architecture) return architecture.input_modalities.includes('image')
  if (Array.isArray(capabilities)) return capabilities.some((name) => name === 'vision' || name === 'multimodal')
  return capabilities?.vision ?? isVisionModelName(id)
}

async function readText(response: Response, name: string): Promise<string> {
  const decoder = new TextDecoder()
  let [text, size] = ['', 0]
  const body: AsyncIterable<Uint8Array> | null = response.body
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > MAX_BYTES) throw new AppError('unavailable', `${name} answered with far too much.`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text
}

function headersOf({ protocol, apiKey }: Endpoint): Record<string, string> {
  if (apiKey === undefined) return {}
  return protocol === 'anthropic'
    ? { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }
    : { authorization: `Bearer ${apiKey}` }
}

const addressHint = ({ protocol, baseUrl }: Endpoint): string =>
  protocol === 'openai' && !/\/v\d+\w*$/.test(baseUrl) ? ' The address usually ends in /v1.' : ''

const cleanId = (id: string): string => id.toWellFormed().replaceAll('\0', '')

/**
 * Lists all models. Both protocols have `GET {baseUrl}/models`. @throws AppError: `bad_request` for a rejected key,
 * `unavailable` without a valid response; or the abort reason.
 */
export async function readModelList(endpoint: Endpoint, signal: AbortSignal): Promise<Listed[]> {
  const { name, baseUrl } = endpoint
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  try {
    const listed = await readJson(`${baseUrl}/models`, endpoint, AbortSignal.any([signal, timeout]))
    if (isJson(listed)) {
      const error = findAnsweredError(listed)
      if (error) throw new AppError('unavailable', `${name} answered with an error: ${error.message}`)
    }
    return readEntries(listed)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof AppError) throw error
    const reason = timeout.aborted
      ? `did not answer within ${TIMEOUT_MS / 1000} seconds.`
      : error instanceof z.ZodError || error instanceof SyntaxError
        ? `answered with something that is no list of models.${addressHint(endpoint)}`
        : `cannot be reached: ${networkReason(error instanceof Error ? (error.cause ?? error) : error)}.`
    throw new AppError('unavailable', `${name} ${reason}`, { cause: error })
  }
}

/** Entries of any known format of list. @throws ZodError */
export const readEntries = (listed: unknown): Listed[] =>
  modelList
    .parse(listed)
    .flatMap(readEntry)
    .filter(({ id }) => id.length <= MAX_ID_LENGTH)
    .map((model) => ({ ...model, id: cleanId(model.id) }))

/** @throws AppError for a status other than success; SyntaxError; or as `fetch` does. */
export async function readJson(
  url: string,
  endpoint: Endpoint,
  signal: AbortSignal,
  body?: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const { name, apiKey, fetch: send = fetch } = endpoint
  const response = await send(url, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    headers: { ...headersOf(endpoint), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    signal,
    redirect: 'error',
  })
  if (!response.ok) {
    await response.body?.cancel()
    if (response.status === 401 || response.status === 403)
      throw new AppError('bad_request', apiKey === undefined ? `${name} wants a key.` : `${name} refused this key.`)
    const hint = response.status === 404 ? addressHint(endpoint) : ''
    throw new AppError('unavailable', `${name} answered ${response.status} when asked for its models.${hint}`)
  }
  return JSON.parse(await readText(response, name)) as unknown
}

/**
 * Omits models that cannot chat; empty for an endpoint of embeddings models alone. @throws AppError: `empty` without any
 * model of either use, else as `readModelList`.
 */
export async function listModels(endpoint: Endpoint, signal: AbortSignal): Promise<ListedModel[]> {
  const listed = await readModelList(endpoint, signal)
  const models = listed
    .filter((model) => !NOT_FOR_CHAT.test(model.id) && !embedsText(model))
    .slice(0, MAX_MODELS)
    .map((model) => ({
      id: model.id,
      contextWindow:
        model.context_length ??
        model.max_model_len ??
        model.max_context_length ??
        model.context_window ??
        DEFAULT_CONTEXT_WINDOW,
      sees: supportsVision(model),
    }))
  if (models.length === 0 && !listed.some(embedsText))
    throw new AppError('empty', `${endpoint.name} lists no model that can chat.`)
  return models
}
