/** Reads a folder with an ONNX embeddings model in the layout of Hugging Face, and refuses one that is incomplete. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import { AppError, codeOf } from '#server/base/errors.ts'

export interface ModelFolder {
  readonly folder: string
  /** The name of the folder, for people. */
  readonly name: string
  /** Vectors of another model, pooling or prefix have another key. */
  readonly key: string
  readonly weights: 'model' | 'model_quantized'
  readonly pooling: Pooling
  readonly maxTokens: number
  readonly prefixes: Prefixes
}

export type Pooling = 'mean' | 'cls' | 'last_token'

/** Some models were trained with a word in front of each text. */
export interface Prefixes {
  readonly question: string
  readonly passage: string
}

const NEEDED = ['config.json', 'tokenizer.json', 'tokenizer_config.json']
const WEIGHTS = ['model', 'model_quantized'] as const
/** The model is held in the memory of this server. */
const MAX_WEIGHTS_BYTES = 1_500_000_000
const MAX_TOKENS = 512

const config = z.object({ model_type: z.string(), max_position_embeddings: z.int().positive().optional() })
const poolingConfig = z.looseObject({
  pooling_mode_mean_tokens: z.boolean().default(false),
  pooling_mode_cls_token: z.boolean().default(false),
  pooling_mode_lasttoken: z.boolean().default(false),
})
const sentenceConfig = z.object({ prompts: z.record(z.string(), z.string()).default({}) })

const refuse = (folder: string, reason: string): AppError =>
  new AppError('startup', `EMBEDDINGS_PATH is "${folder}", but ${reason}.`)

async function sizeOf(file: string): Promise<number | undefined> {
  try {
    const found = await stat(file)
    return found.isFile() ? found.size : undefined
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(codeOf(error) ?? '')) return undefined
    throw error
  }
}

/** Undefined if there is no such file. @throws AppError `startup` if it does not hold what is needed. */
async function readJson<T>(folder: string, name: string, schema: z.ZodType<T>): Promise<T | undefined> {
  const file = path.join(folder, name)
  if ((await sizeOf(file)) === undefined) return undefined
  try {
    return schema.parse(JSON.parse(await readFile(file, 'utf8')))
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError)
      throw refuse(folder, `its ${name} is not that of a model`)
    throw error
  }
}

async function findWeights(folder: string): Promise<ModelFolder['weights']> {
  for (const weights of WEIGHTS) {
    const size = await sizeOf(path.join(folder, 'onnx', `${weights}.onnx`))
    if (size === undefined) continue
    if (size > MAX_WEIGHTS_BYTES)
      throw refuse(folder, `its onnx/${weights}.onnx is larger than ${MAX_WEIGHTS_BYTES / 1e9} GB`)
    return weights
  }
  throw refuse(folder, 'onnx/model.onnx and onnx/model_quantized.onnx are missing there')
}

async function readPooling(folder: string): Promise<Pooling> {
  const stated = await readJson(folder, '1_Pooling/config.json', poolingConfig)
  if (stated === undefined || stated.pooling_mode_mean_tokens) return 'mean'
  if (stated.pooling_mode_cls_token) return 'cls'
  if (stated.pooling_mode_lasttoken) return 'last_token'
  throw refuse(folder, 'its 1_Pooling/config.json wants a pooling other than mean, first or last token')
}

const QUESTION_PROMPTS = ['query', 'search_query', 'question']
const PASSAGE_PROMPTS = ['passage', 'document', 'search_document']
const E5_PREFIXES: Prefixes = { question: 'query: ', passage: 'passage: ' }

/** As the model states its prompts; models of the E5 family often do not. */
async function readPrefixes(folder: string): Promise<Prefixes> {
  const stated = await readJson(folder, 'config_sentence_transformers.json', sentenceConfig)
  const promptOf = (names: readonly string[]) => names.flatMap((name) => stated?.prompts[name] ?? [])[0]
  const [question, passage] = [promptOf(QUESTION_PROMPTS), promptOf(PASSAGE_PROMPTS)]
  if (question !== undefined || passage !== undefined) return { question: question ?? '', passage: passage ?? '' }
  return /(?<![a-z])e5(?![a-z\d])/i.test(path.basename(folder)) && !/instruct/i.test(path.basename(folder))
    ? E5_PREFIXES
    : { question: '', passage: '' }
}

/** @throws AppError `startup`, with one sentence that names what is missing. */
export async function readModelFolder(folder: string, setPrefixes?: Prefixes): Promise<ModelFolder> {
  const found = await stat(folder).catch(() => undefined)
  if (!found?.isDirectory()) throw refuse(folder, 'there is no such folder')
  for (const name of NEEDED)
    if ((await sizeOf(path.join(folder, name))) === undefined) throw refuse(folder, `${name} is missing there`)
  const weights = await findWeights(folder)
  const stated = await readJson(folder, 'config.json', config)
  const pooling = await readPooling(folder)
  const prefixes = setPrefixes ?? (await readPrefixes(folder))
  const hash = createHash('sha256').update(JSON.stringify([pooling, prefixes]))
  await pipeline(createReadStream(path.join(folder, 'tokenizer.json')), hash, { end: false })
  await pipeline(createReadStream(path.join(folder, 'onnx', `${weights}.onnx`)), hash, { end: false })
  const name = path.basename(folder)
  return {
    folder,
    name,
    key: `local:${name} ${hash.digest('hex').slice(0, 16)}`,
    weights,
    pooling,
    maxTokens: Math.min(MAX_TOKENS, stated?.max_position_embeddings ?? MAX_TOKENS),
    prefixes,
  }
}
