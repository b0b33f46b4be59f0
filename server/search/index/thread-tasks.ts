/**
 * The thread on which indexes are computed, so that the one which answers people is free meanwhile. It has no connection
 * and knows nothing but what it is given; `index-worker.ts` starts it.
 */
import { readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { parentPort } from 'node:worker_threads'
import { codeOf } from '#server/base/errors.ts'
import { lowerPriority } from '#server/base/lower-priority.ts'
import { type Terms } from '#server/search/text/stemmer.ts'
import { type ByteRuns } from './byte-runs.ts'
import { createDocumentTerms, type DocumentTerms, type PageToIndex } from './document-terms.ts'
import { createSegmentJoin, type SegmentJoin } from './pack-segment.ts'

interface Work {
  readonly document: DocumentTerms
  readonly join: SegmentJoin
}

const works = new Map<number, Work>()

/** Work is done step by step, under a number that the other side gives it. */
function workOf(number: number): Work {
  const work = works.get(number) ?? { document: createDocumentTerms(), join: createSegmentJoin() }
  works.set(number, work)
  return work
}

const tasks = {
  addPages: (work: number, pages: readonly PageToIndex[]) => workOf(work).document.add(pages),
  listWords: (work: number, filename: string) => workOf(work).document.words(filename),
  addTerms: (work: number, terms: Terms) => workOf(work).document.addTerms(terms),
  packDocument: (work: number, filename: string) => workOf(work).document.pack(filename),
  addSegment: (work: number, contents: ByteRuns, numbers: Int32Array) => workOf(work).join.add(contents, numbers),
  packJoined: (work: number, lengths: readonly number[]) => workOf(work).join.pack(lengths),
  forget: (work: number) => works.delete(work),
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

/** Linux counts priority by thread, and names this one under /proc; elsewhere it stays as it is. */
function stepBack(): void {
  try {
    lowerPriority(Number(basename(readlinkSync('/proc/thread-self'))))
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}

// Whoever loads this file elsewhere, for its types, keeps the priority that it has.
if (parentPort !== null) {
  stepBack()
  parentPort.on('message', (request: IndexRequest) => parentPort?.postMessage(answer(request)))
}
