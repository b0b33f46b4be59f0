/** Runs in the thread that `local-embedder.ts` starts: loads the model of a folder, and computes vectors of texts. */
import { createRequire } from 'node:module'
import path from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '#server/base/errors.ts'
import type { ModelFolder } from './read-model-folder.ts'

export interface ThreadData {
  readonly model: ModelFolder
  /** The folder of the package whose dependencies run models. */
  readonly library: string
}

export interface EmbedRequest {
  readonly texts: readonly string[]
}

/** Requests are answered in their order. */
export type EmbedAnswer = { readonly vectors: readonly Float32Array[] } | { readonly failure: string }

/** As much of `@huggingface/transformers` as is used; it is installed only where EMBEDDINGS_PATH is set. */
interface Transformers {
  readonly env: Record<string, unknown>
  readonly pipeline: (
    task: 'feature-extraction',
    name: string,
    options: Readonly<Record<string, unknown>>,
  ) => Promise<Extractor>
}

interface Extractor {
  readonly tokenizer: object
  (
    texts: string[],
    options: { pooling: string; normalize: true },
  ): Promise<{ readonly data: Float32Array; readonly dims: readonly number[] }>
}

async function loadModel({ model, library }: ThreadData): Promise<Extractor> {
  const { env, pipeline } = createRequire(path.join(library, 'package.json'))(
    '@huggingface/transformers',
  ) as Transformers
  // Nothing is downloaded, and nothing is written.
  Object.assign(env, {
    allowRemoteModels: false,
    allowLocalModels: true,
    localModelPath: path.dirname(model.folder),
    useFSCache: false,
    useBrowserCache: false,
    fetch: () => Promise.reject(new Error('nothing may be downloaded')),
  })
  const extractor = await pipeline('feature-extraction', path.basename(model.folder), {
    local_files_only: true,
    device: 'cpu',
    dtype: model.weights === 'model' ? 'fp32' : 'q8',
    session_options: {
      // One thread of computing, this one, whose priority is low. An arena would keep the memory of the largest batch.
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      enableCpuMemArena: false,
      enableMemPattern: false,
    },
  })
  // Many models state none, or one that their table of positions does not have.
  Object.defineProperty(extractor.tokenizer, 'model_max_length', { value: model.maxTokens })
  return extractor
}

async function computeVectors(extractor: Extractor, texts: readonly string[], model: ModelFolder) {
  const { data, dims } = await extractor([...texts], { pooling: model.pooling, normalize: true })
  const [count = 0, size = 0] = dims
  return Array.from({ length: count }, (_, index) => data.slice(index * size, (index + 1) * size))
}

if (parentPort !== null) {
  const port = parentPort
  const given = workerData as ThreadData
  const loading = loadModel(given)
  // Each request reports the failure.
  loading.catch(() => undefined)
  port.on('message', ({ texts }: EmbedRequest) => {
    loading
      .then((extractor) => computeVectors(extractor, texts, given.model))
      .then(
        (vectors) => port.postMessage({ vectors } satisfies EmbedAnswer),
        (error: unknown) => port.postMessage({ failure: messageOf(error) } satisfies EmbedAnswer),
      )
  })
}
