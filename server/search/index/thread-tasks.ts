/** Runs in the indexing worker thread that `worker-thread.ts` starts, without a database connection. */
import { readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { getHeapStatistics } from 'node:v8'
import { parentPort } from 'node:worker_threads'
import { codeOf } from '#server/base/errors.ts'
import { openCollector } from '#server/base/garbage-collector.ts'
import { lowerPriority } from '#server/base/lower-priority.ts'
import type { ByteRuns } from './byte-runs.ts'
import { type BatchTerms, createBatchTerms, type TextToIndex } from './batch-terms.ts'
import type { PageToIndex } from './document-terms.ts'
import { createSegmentMerge, type SegmentMerge } from './pack-segment.ts'

interface Session {
  readonly batch: BatchTerms
  readonly merge: SegmentMerge
}

const sessions = new Map<number, Session>()

function sessionOf(number: number): Session {
  const session = sessions.get(number) ?? {
    batch: createBatchTerms(),
    merge: createSegmentMerge(),
  }
  sessions.set(number, session)
  return session
}

const tasks = {
  addPages: (session: number, pages: readonly PageToIndex[]) => sessionOf(session).batch.addPages(pages),
  /** Ends the document of the pages added. */
  listWords: (session: number, filename: string) => {
    const { batch } = sessionOf(session)
    batch.end(filename)
    return batch.words()
  },
  addTexts: (session: number, texts: readonly TextToIndex[]) => {
    const { batch } = sessionOf(session)
    batch.add(texts)
    return batch.words()
  },
  addTerms: (session: number, language: string, terms: readonly string[]) =>
    sessionOf(session).batch.addTerms(language, terms),
  packBatch: (session: number) => sessionOf(session).batch.pack(),
  addSegment: (session: number, contents: ByteRuns, numbers: Int32Array) =>
    sessionOf(session).merge.add(contents, numbers),
  packMerged: (session: number, lengths: readonly number[]) => sessionOf(session).merge.pack(lengths),
  forget: (session: number) => {
    sessions.delete(session)
    collectGrowth()
  },
}

/** Growth of the heap after which it is collected. V8 alone lets the heap of this thread grow to 140 MB with 10 MB in use. */
const MAX_GROWTH_BYTES = 32_000_000
let collectedBytes = 0

function collectGrowth(): void {
  if (getHeapStatistics().total_heap_size - collectedBytes < MAX_GROWTH_BYTES) return
  openCollector()({ type: 'major', execution: 'sync' })
  collectedBytes = getHeapStatistics().total_heap_size
}

export type IndexTasks = typeof tasks

export interface IndexRequest {
  readonly id: number
  readonly task: keyof IndexTasks
  readonly args: readonly unknown[]
}

export type IndexAnswer =
  { readonly id: number; readonly result: unknown } | { readonly id: number; readonly failure: unknown }

function answer({ id, task, args }: IndexRequest): IndexAnswer {
  try {
    return { id, result: Reflect.apply(tasks[task], undefined, args) }
  } catch (failure) {
    return { id, failure }
  }
}

/** Linux has a priority per thread and names this one under /proc; on other systems it stays unchanged. */
function lowerThreadPriority(): void {
  try {
    lowerPriority(Number(basename(readlinkSync('/proc/thread-self'))))
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}

if (parentPort !== null) {
  lowerThreadPriority()
  parentPort.on('message', (request: IndexRequest) => parentPort?.postMessage(answer(request)))
}
