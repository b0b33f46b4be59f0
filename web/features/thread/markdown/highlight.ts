/** Requests highlighting from the worker and caches it, so that a block rendered again has its colours at once. */

export type CodeRole =
  'keyword' | 'type' | 'title' | 'string' | 'number' | 'attribute' | 'comment' | 'addition' | 'deletion'

export type CodeRun = { role: CodeRole | null; text: string }
export type HighlightRequest = { id: number; code: string; language: string }
/** `runs` is null for an unknown language or code that is too long. */
export type HighlightAnswer = { id: number; runs: CodeRun[] | null }

const REMEMBERED = 300

const known = new Map<string, readonly CodeRun[] | null>()
const asked = new Map<number, { key: string; done: () => void }>()
let worker: Worker | null = null
let lastId = 0

const keyOf = (code: string, language: string): string => `${language}\n${code}`

function remember(key: string, runs: readonly CodeRun[] | null): void {
  known.set(key, runs)
  const oldest = known.keys().next()
  if (known.size > REMEMBERED && oldest.done !== true) known.delete(oldest.value)
}

function startWorker(): Worker {
  const started = new Worker(new URL('./highlight-worker.ts', import.meta.url), { type: 'module' })
  started.addEventListener('message', ({ data }: MessageEvent<HighlightAnswer>) => {
    const request = asked.get(data.id)
    asked.delete(data.id)
    if (request === undefined) return
    remember(request.key, data.runs)
    request.done()
  })
  started.addEventListener('error', (event) => console.error('Code cannot be coloured', event.message))
  return started
}

export const knownRuns = (code: string, language: string): readonly CodeRun[] | null | undefined =>
  known.get(keyOf(code, language))

/** Calls `done` once the colours are known; returns the function that cancels. */
export function askForRuns(code: string, language: string, done: () => void): () => void {
  worker ??= startWorker()
  lastId += 1
  const id = lastId
  asked.set(id, { key: keyOf(code, language), done })
  worker.postMessage({ id, code, language } satisfies HighlightRequest)
  return () => asked.delete(id)
}
