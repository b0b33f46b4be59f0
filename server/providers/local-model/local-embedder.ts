/** An embedder whose model runs in a thread of this process, below its priority: no text leaves the server. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { AppError, messageOf } from '#server/base/errors.ts'
import { guardEvents } from '#server/base/guard-events.ts'
import { lowerThreadPriority } from '#server/base/lower-priority.ts'
import { shellCommand } from '#server/base/shell-command.ts'
import type { Embedder } from '#server/providers/embed.ts'
import type { EmbedAnswer, EmbedRequest, ThreadData } from './embedding-thread.ts'
import { type ModelFolder, type Prefixes, readModelFolder } from './read-model-folder.ts'

const LIBRARY = fileURLToPath(new URL('../../../optional/local-embeddings', import.meta.url))
const THREAD_FILE = path.join(import.meta.dirname, 'embedding-thread.ts')
const THREAD_NAME = 'alcove-embed'
/** Memory of a batch grows with its tokens, at most 512 of each text; a question waits for one batch. */
const BATCH_TEXTS = 4
/** Limits of JavaScript. The runtime's own memory is bounded by the size of the model and of a batch. */
const MEMORY_LIMITS = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 32 }

const stopped = (): AppError => new AppError('unavailable', 'The server is stopping.')

interface Batch {
  readonly texts: readonly string[]
  readonly isQuestion: boolean
  readonly signal: AbortSignal
  readonly answer: PromiseWithResolvers<readonly Float32Array[]>
}

export interface LocalEmbedder extends Embedder {
  /** The name of the model, for people. */
  readonly name: string
  stop(): Promise<void>
}

/** Whether the library that runs models is installed: by `scripts/prepare.mjs`, next to the npm package by hand. */
export const hasModelLibrary = (library = LIBRARY): boolean =>
  existsSync(path.join(library, 'node_modules', '@huggingface', 'transformers', 'package.json'))

/** Loads the model once, so that a broken one ends the start. @throws AppError `startup` */
export async function openLocalEmbedder(folder: string, prefixes?: Prefixes): Promise<LocalEmbedder> {
  const model = await readModelFolder(folder, prefixes)
  if (!hasModelLibrary())
    throw new AppError(
      'startup',
      `EMBEDDINGS_PATH is set, but the library that runs models is not installed: run ${shellCommand('npm', 'ci', '--ignore-scripts', '--prefix', LIBRARY)} once.`,
    )
  const embedder = createLocalEmbedder(model)
  try {
    await embedder.embed(['A text.'], { signal: new AbortController().signal })
  } catch (error) {
    await embedder.stop()
    throw new AppError('startup', `EMBEDDINGS_PATH is "${folder}", but its model does not run: ${messageOf(error)}`, {
      cause: error,
    })
  }
  return embedder
}

function createLocalEmbedder(model: ModelFolder): LocalEmbedder {
  const waiting: Batch[] = []
  let running: Batch | undefined
  let thread: Worker | undefined
  let isStopped = false

  function fail(reason: string): void {
    thread = undefined
    running?.answer.reject(new AppError('unavailable', `The embeddings model failed: ${reason}`))
    running = undefined
    runNext()
  }

  function startThread(): Worker {
    const started = new Worker(THREAD_FILE, {
      name: THREAD_NAME,
      env: {},
      execArgv: [],
      resourceLimits: MEMORY_LIMITS,
      workerData: { model, library: LIBRARY } satisfies ThreadData,
    })
    started.once('online', () => lowerThreadPriority(THREAD_NAME))
    // Its end fails the batch.
    guardEvents(started, () => void started.terminate())
    started.unref()
    started.on('message', (answer: EmbedAnswer) => {
      if (thread !== started) return
      const batch = running
      running = undefined
      if ('failure' in answer)
        batch?.answer.reject(new AppError('unavailable', `The embeddings model failed: ${answer.failure}`))
      else batch?.answer.resolve(answer.vectors)
      runNext()
    })
    started.on('error', (error) => {
      if (thread === started) fail(messageOf(error))
    })
    started.on('exit', () => {
      if (thread === started) fail('its thread ended')
    })
    return started
  }

  /** Questions come before passages. */
  function runNext(): void {
    if (running !== undefined || isStopped) return
    const at = waiting.findIndex(({ isQuestion }) => isQuestion)
    const [next] = waiting.splice(Math.max(at, 0), 1)
    if (next === undefined) return
    if (next.signal.aborted) {
      next.answer.reject(next.signal.reason)
      runNext()
      return
    }
    running = next
    thread ??= startThread()
    thread.postMessage({ texts: next.texts } satisfies EmbedRequest)
  }

  async function request(texts: readonly string[], isQuestion: boolean, signal: AbortSignal) {
    signal.throwIfAborted()
    if (isStopped) throw stopped()
    const answer = Promise.withResolvers<readonly Float32Array[]>()
    const abort = () => answer.reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    waiting.push({ texts, isQuestion, signal, answer })
    runNext()
    try {
      return await answer.promise
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  return {
    model: model.key,
    name: model.name,
    batch: BATCH_TEXTS,
    async embed(texts, { signal, model: wanted = model.key, purpose = 'passage' }) {
      if (wanted !== model.key)
        throw new AppError(
          'unavailable',
          'The model of the vectors in use is gone, those of another are being computed.',
        )
      const prefixed = texts.map((text) => model.prefixes[purpose] + text)
      const vectors: Float32Array[] = []
      for (let start = 0; start < prefixed.length; start += BATCH_TEXTS)
        vectors.push(...(await request(prefixed.slice(start, start + BATCH_TEXTS), purpose === 'question', signal)))
      return vectors
    },
    async stop() {
      isStopped = true
      for (const { answer } of waiting.splice(0)) answer.reject(stopped())
      running?.answer.reject(stopped())
      running = undefined
      const ending = thread
      thread = undefined
      await ending?.terminate()
    },
  }
}
