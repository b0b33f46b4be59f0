import path from 'node:path'
import { Worker } from 'node:worker_threads'
import { lowerThreadPriority } from '#server/base/lower-priority.ts'
import { guardEvents } from '#server/base/guard-events.ts'
import type { IndexAnswer, IndexRequest, IndexTasks } from './thread-tasks.ts'

type WithoutSession<Args extends unknown[]> = Args extends [number, ...infer Rest] ? Rest : never

export type RunIndexTask = <Task extends keyof IndexTasks>(
  task: Task,
  ...args: WithoutSession<Parameters<IndexTasks[Task]>>
) => Promise<ReturnType<IndexTasks[Task]>>

interface IndexThread {
  run(request: Omit<IndexRequest, 'id'>): Promise<unknown>
  acquire(): void
  release(): void
}

const THREAD_FILE = path.join(import.meta.dirname, 'thread-tasks.ts')
const THREAD_NAME = 'alcove-index'
/** Ending an idle thread frees its memory. */
const IDLE_MS = 10_000

let current: IndexThread | undefined
let lastSession = 0

export async function inIndexThread<Result>(use: (run: RunIndexTask) => Promise<Result>): Promise<Result> {
  const thread = (current ??= startThread(() => (current = undefined)))
  const session = (lastSession += 1)
  thread.acquire()
  try {
    return await use(
      (task, ...args) => thread.run({ task, args: [session, ...args] }) as Promise<ReturnType<IndexTasks[typeof task]>>,
    )
  } finally {
    thread.run({ task: 'forget', args: [session] }).catch(() => undefined)
    thread.release()
  }
}

function startThread(onEnd: () => void): IndexThread {
  const worker = new Worker(THREAD_FILE, { name: THREAD_NAME, env: {}, execArgv: [] })
  // Answers come first: they need the main thread and PostgreSQL.
  worker.once('online', () => lowerThreadPriority(THREAD_NAME))
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
  guardEvents(worker, (error) => {
    end(new Error('an answer of the thread that computes indexes could not be handled', { cause: error }))
    void worker.terminate()
  })
  // Callers hold a job or a connection, which keeps the process alive.
  worker.unref()
  worker.on('message', (answer: IndexAnswer) => {
    const request = waiting.get(answer.id)
    waiting.delete(answer.id)
    if ('failure' in answer) request?.reject(answer.failure)
    else request?.resolve(answer.result)
  })
  worker.on('error', (error) => end(new Error('the thread that computes indexes failed', { cause: error })))
  worker.on('exit', () => end(new Error('the thread that computes indexes ended')))
  return {
    run({ task, args }) {
      if (ended !== undefined) return Promise.reject(ended)
      const pending = Promise.withResolvers<unknown>()
      lastRequest += 1
      waiting.set(lastRequest, pending)
      worker.postMessage({ id: lastRequest, task, args } satisfies IndexRequest)
      return pending.promise
    },
    acquire() {
      users += 1
      clearTimeout(idle)
    },
    release() {
      users -= 1
      if (users > 0 || ended !== undefined) return
      idle = setTimeout(() => {
        end(new Error('the thread that computes indexes is idle'))
        void worker.terminate()
      }, IDLE_MS).unref()
    },
  }
}
