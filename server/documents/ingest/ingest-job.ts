/** Parses uploads in two repeatable stages: store pages while parsing, then index and mark ready in one transaction. */
import { availableParallelism } from 'node:os'
import type { DocumentRow } from '#contract/document.ts'
import { fileTypeOf } from '#contract/file-types.ts'
import { AppError } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import { withFrugalHeaps } from '#server/base/garbage-collector.ts'
import { traceOperation } from '#server/base/tracing.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import { toAppError } from '#server/database/errors.ts'
import { requireFileRoom } from '#server/database/quotas.ts'
import type { Database } from '#server/database/scope.ts'
import {
  claimDocument,
  type ClaimedDocument,
  countTries,
  listUnfinished,
  markFailed,
  markReady,
  returnAttempt,
} from '#server/documents/store/ingestion.ts'
import { supersedeVersions } from '#server/documents/store/library.ts'
import { deletePages, readPages } from '#server/documents/store/pages.ts'
import type { JobHandlers, JobRun } from '#server/jobs/handler.ts'
import type { Jobs } from '#server/jobs/start.ts'
import { ParseFailure } from '#server/parsing/failure.ts'
import type { ParseLimits } from '#server/parsing/sandbox/limits.ts'
import { isSmall, type ReusedParsers } from '#server/parsing/sandbox/reused-parsers.ts'
import { createFairSemaphore } from '#server/parsing/sandbox/semaphore.ts'
import type { WarmParsers } from '#server/parsing/sandbox/warm-processes.ts'
import { indexDocument, removeIndex, TooManyPassagesError } from '#server/search/index/index-document.ts'
import { type IngestStage, StaleAttemptError, writeInAttempt } from './attempt.ts'
import { createBlobJobs } from './blob-cleanup.ts'
import { documentJob, requestFor } from './document-job.ts'
import { ingestTogether } from './ingest-together.ts'
import { createLongFiles, type LongFiles } from './long-files.ts'
import { createReindexJob } from './reindex-job.ts'
import { storePages, type StorePagesParts } from './store-pages.ts'

export const INGEST_JOB = 'documents.ingest'
export const INGEST_TOGETHER_JOB = 'documents.ingest-together'

export interface IngestParts {
  readonly database: Database
  readonly blobs: BlobStore
  readonly log: Log
  /** Files parsed at once, without those in OCR; by default half the processors. */
  readonly concurrency?: number
  /** OCR processes over all files; by default the number of processors. */
  readonly ocrProcesses?: number
  readonly warmParsers?: WarmParsers
  readonly reusedParsers?: ReusedParsers
  readonly limits?: ParseLimits
  /** A file that takes longer counts as long, and the next one may begin. */
  readonly longFileMs?: number
  readonly onStage?: (stage: IngestStage, documentId: string) => void
  readonly onProcess?: (pid: number) => void
}

const MAX_TRIES = 3
const TOGETHER_BYTES = 256 * 1024
const TOGETHER_FILES = 50
/** One batch is read while another one is stored. */
const TOGETHER_BATCHES = 2
const LONG_FILE_MS = 3_000
/** Enough for a long scan behind many others. Parse limits end hanging files, and a dead server loses its job locks. */
const INGEST_EXPIRE_S = 24 * 3_600

type IngestContext = Omit<IngestParts, 'ocrProcesses'> &
  Pick<StorePagesParts, 'ocrSemaphore'> & { longFiles: LongFiles }

/** Whether a document may be read together with others. A PDF that turns out to need OCR is then read by itself. */
const isReadTogether = ({ mimetype, size }: Pick<DocumentRow, 'mimetype' | 'size'>): boolean =>
  size <= TOGETHER_BYTES && isSmall({ mimetype, size })

/** The queue of a document that waits. One that was not ready after its first attempt is read by itself. */
const ingestJobOf = (document: Pick<DocumentRow, 'mimetype' | 'size'> & { readonly attempt: number }): string =>
  document.attempt === 0 && isReadTogether(document) ? INGEST_TOGETHER_JOB : INGEST_JOB

/** @param place among the person's documents; the first is read first */
export const enqueueIngest = (
  jobs: Pick<Jobs, 'enqueue'>,
  document: Parameters<typeof ingestJobOf>[0] & Pick<DocumentRow, 'id'>,
  place: number,
): void => jobs.enqueue(ingestJobOf(document), { ...requestFor(document.id), priority: -place })

export function createDocumentJobs(parts: IngestParts): JobHandlers {
  return { ...createIngestJob(parts), ...createReindexJob(parts.database), ...createBlobJobs(parts) }
}

function createIngestJob(parts: IngestParts): JobHandlers {
  const { database, concurrency = Math.max(1, availableParallelism() >> 1) } = parts
  const context: IngestContext = {
    ...parts,
    ocrSemaphore: createFairSemaphore(parts.ocrProcesses ?? availableParallelism()),
    longFiles: createLongFiles(parts.longFileMs ?? LONG_FILE_MS),
  }
  const findWork = async (name: string) => {
    const unfinished = await database.asService(listUnfinished)
    return unfinished
      .filter((document) => ingestJobOf(document) === name)
      .map(({ id, ahead }) => ({ ...requestFor(id), priority: -ahead }))
  }
  const runTogether = async (data: readonly unknown[], { signal, enqueue }: JobRun) => {
    const ids = data.map((one) => documentJob.parse(one).documentId)
    const { reusedParsers } = context
    const left = reusedParsers
      ? await withFrugalHeaps(() => ingestTogether({ ...context, reusedParsers }, ids, signal))
      : ids
    for (const id of left) enqueue(INGEST_JOB, requestFor(id))
  }
  return {
    [INGEST_JOB]: {
      concurrency,
      expireInSeconds: INGEST_EXPIRE_S,
      run: (data, run) => ingest(context, documentJob.parse(data).documentId, run),
      leavesKeysTo: [INGEST_TOGETHER_JOB],
      findWork: () => findWork(INGEST_JOB),
    },
    [INGEST_TOGETHER_JOB]: {
      concurrency: TOGETHER_BATCHES,
      expireInSeconds: INGEST_EXPIRE_S,
      run: (data, run) => runTogether([data], run),
      batch: { size: TOGETHER_FILES, run: runTogether },
      leavesKeysTo: [INGEST_JOB],
      findWork: () => findWork(INGEST_TOGETHER_JOB),
    },
  }
}

async function ingest(context: IngestContext, documentId: string, run: JobRun): Promise<void> {
  const { database, longFiles, onStage } = context
  const document = await database.asService((scope) => claimDocument(scope, documentId))
  if (!document) return
  onStage?.('claimed', documentId)
  try {
    if (document.tries > MAX_TRIES) throw new ParseFailure('crashed')
    if (!document.is_parsed) {
      await requireRoom(database, document)
      const parts = { ...context, onPagesStored: () => onStage?.('pages stored', documentId) }
      await traceOperation('parse', fileTypeOf(document.mimetype)?.parser ?? 'unknown', () =>
        longFiles.run(run.yieldSlot, (yieldSlot) => storePages(parts, document, { ...run, yieldSlot })),
      )
    }
    onStage?.('parsed', documentId)
    await traceOperation('index', 'document', () => withFrugalHeaps(() => makeSearchable(database, document)))
    onStage?.('indexed', documentId)
  } catch (error) {
    await endAttempt(context, document, { error, signal: run.signal })
  }
}

/** A small file may hold much text, so what is kept about one counts once it has been read. @throws ParseFailure */
async function requireRoom(database: Database, { owner }: ClaimedDocument): Promise<void> {
  try {
    await database.asService((scope) => requireFileRoom(scope, owner))
  } catch (thrown) {
    const error = toAppError(thrown)
    if (error instanceof AppError && error.code === 'too_large') throw new ParseFailure('no_room', { cause: error })
    throw thrown
  }
}

async function makeSearchable(database: Database, document: ClaimedDocument): Promise<void> {
  await writeInAttempt(database, document, async (scope) => {
    await indexDocument(scope, document, readPages(scope, document.id))
    await markReady(scope, document.id)
    for (const id of await supersedeVersions(scope, [document.series])) await removeIndex(scope, id)
  })
}

/** Marks the document as failed if the file is to blame. @throws the error if another attempt may succeed */
async function endAttempt(
  { database, log }: IngestContext,
  document: ClaimedDocument,
  { error, signal }: { readonly error: unknown; readonly signal: AbortSignal },
): Promise<void> {
  if (error instanceof StaleAttemptError) return
  if (signal.aborted) {
    await database.asService((scope) => returnAttempt(scope, document))
    throw error
  }
  const failed = error instanceof TooManyPassagesError ? new ParseFailure('too_large', { cause: error }) : error
  const canRetry =
    !(failed instanceof ParseFailure) && (await database.asService((scope) => countTries(scope, document))) < MAX_TRIES
  if (canRetry) throw error
  const failure = failed instanceof ParseFailure ? failed : new ParseFailure('crashed', { cause: failed })
  log.info({ document: document.id, code: failure.code, cause: failure.cause }, 'a document could not be read')
  try {
    await writeInAttempt(database, document, async (scope) => {
      await deletePages(scope, document.id)
      await removeIndex(scope, document.id)
      await markFailed(scope, document.id, failure.toDocumentError())
    })
  } catch (stale) {
    if (!(stale instanceof StaleAttemptError)) throw stale
  }
}
