/** Hands the computing of indexes to a thread of its own (`index-thread.ts`), which runs while there is any. */
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import type { IndexAnswer, IndexRequest, IndexTasks } from './thread-tasks.ts'

type WithoutWork<Args extends unknown[]> = Args extends [number, ...infer Rest] ? Rest : never

/** Has the thread do one step of a piece of work. */
export type RunIndexTask = <Task extends keyof IndexTasks>(
  task: Task,
  ...args: WithoutWork<Parameters<IndexTasks[Task]>>
) => Promise<ReturnType<IndexTasks[Task]>>

interface IndexThread {
  run(request: Omit<IndexRequest, 'id'>): Promise<unknown>
  /** No step of this piece of work follows. */
  leave(): void
  enter(): void
}

const THREAD_FILE = path.join(import.meta.dirname, 'thread-tasks.ts')
/** A thread that nobody needs gives its memory back. */
const IDLE_MS = 10_000

let current: IndexThread | undefined
let lastWork = 0

/** @param use may ask for steps until it settles; what the thread knows of them is forgotten then. */
export async function inIndexThread<Result>(use: (run: RunIndexTask) => Promise<Result>): Promise<Result> {
  const thread = (current ??= startThread(() => (current = undefined)))
  const work = (lastWork += 1)
  thread.enter()
  try {
    return await use(
      (task, ...args) =>
        // What the thread answers is what its task returns, cloned.
        thread.run({ task, args: [work, ...args] }) as Promise<ReturnType<IndexTasks[typeof task]>>,
    )
  } finally {
    thread.run({ task: 'forget', args: [work] }).catch(() => undefined)
    thread.leave()
  }
}

/** @param onEnd called once, when it takes no more work. */
function startThread(onEnd: () => void): IndexThread {
  const worker = new Worker(THREAD_FILE, { env: {}, execArgv: [] })
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let [lastRequest, users] = [0, 0]
  let idle: NodeJS.Timeout | undefined
  let ended: Error | undefined
  const end = (reason: Error) => {
    if (ended !== undefined) return
    ended = reason
    clearTimeout(idle)
    onEnd()
    for (const { reject } of waiting.values()) reject(reason)
    waiting.clear()
  }
  // Whoever waits for an answer has a job or a connection that keeps the process.
  worker.unref()
  worker.on('message', (answer: IndexAnswer) => {
    const asked = waiting.get(answer.id)
    waiting.delete(answer.id)
    if ('failure' in answer) asked?.reject(answer.failure)
    else asked?.resolve(answer.result)
  })
  worker.on('error', (error) => end(new Error('the thread that computes indexes failed', { cause: error })))
  worker.on('exit', () => end(new Error('the thread that computes indexes ended')))
  return {
    run({ task, args }) {
      if (ended !== undefined) return Promise.reject(ended)
      const asked = Promise.withResolvers<unknown>()
      lastRequest += 1
      waiting.set(lastRequest, asked)
      worker.postMessage({ id: lastRequest, task, args } satisfies IndexRequest)
      return asked.promise
    },
    enter() {
      users += 1
      clearTimeout(idle)
    },
    leave() {
      users -= 1
      if (users > 0 || ended !== undefined) return
      idle = setTimeout(() => {
        end(new Error('the thread that computes indexes was not needed'))
        void worker.terminate()
      }, IDLE_MS).unref()
    },
  }
}
