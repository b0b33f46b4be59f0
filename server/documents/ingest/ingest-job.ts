/**
 * Reads uploaded documents in the background. Two stages, each repeatable: pages are stored as they are read, then
 * passages and postings replace whatever was there in the transaction that makes the document ready. Every write first
 * checks that its attempt is still the newest, so that a worker that was given up writes nothing.
 */
import { availableParallelism } from 'node:os'
import { z } from 'zod'
import { type Log } from '#server/base/log.ts'
import { type BlobStore } from '#server/blobs/store.ts'
import { type Database, type Scope } from '#server/database/scope.ts'
import {
  claimDocument,
  type ClaimedDocument,
  countTries,
  handBack,
  holdAttempt,
  keepRecognised,
  listLanguages,
  listStale,
  listUnfinished,
  markFailed,
  markParsed,
  markReady,
  removePages,
  setProgress,
  supersedeVersions,
} from '#server/documents/store/library.ts'
import { type JobHandlers, type JobRequest, type JobRun } from '#server/jobs/handler.ts'
import { ParseFailure } from '#server/parsing/failure.ts'
import { type ParsedPage } from '#server/parsing/page.ts'
import { type ParseLimits } from '#server/parsing/sandbox/limits.ts'
import { type RecognisedBefore, runParser } from '#server/parsing/sandbox/run-parser.ts'
import { createSlots, type Slots } from '#server/parsing/sandbox/semaphore.ts'
import { type ReadyReaders } from '#server/parsing/sandbox/warm-processes.ts'
import { type PageToIndex } from '#server/search/index/document-terms.ts'
import { indexDocument, removeIndex, TooManyPassagesError } from '#server/search/index/index-document.ts'
import { TOKENIZER_VERSION } from '#server/search/text/tokenizer.ts'
import { sweepBlobs } from './blob-cleanup.ts'
import { createLongReadings, type LongReadings } from './long-files.ts'

export const INGEST_JOB = 'documents.ingest'
export const REINDEX_JOB = 'documents.reindex'
export const DISCARD_JOB = 'blobs.discard'
const SWEEP_JOB = 'blobs.sweep'

/** Moments that a test may interrupt. */
export type IngestStage = 'claimed' | 'pages stored' | 'parsed' | 'indexed'

export interface IngestParts {
  readonly database: Database
  readonly blobs: BlobStore
  readonly log: Log
  /** How many files are read at once, without those whose pages are recognised; half the processors where nothing is said. */
  readonly concurrency?: number
  /** How many processes of all files together recognise pages; as many as there are processors where nothing is said. */
  readonly recognisers?: number
  /** Without them each process that recognises starts from nothing. */
  readonly readers?: ReadyReaders
  readonly limits?: ParseLimits
  /** From when on the reading of a file is long, and the next one may begin beside it. */
  readonly longReadingMs?: number
  readonly onStage?: (stage: IngestStage, documentId: string) => void
  readonly onProcess?: (pid: number) => void
}

const MAX_TRIES = 3
const LONG_READING_MS = 3_000
const PROGRESS_INTERVAL_MS = 250
const BATCH_CHARACTERS = 1_000_000
const READ_BATCH_PAGES = 50
const EXPIRE_S = 3_600
/** A long scan, or one behind many others. What hangs is ended by the limits of reading, a dead server's jobs by their lock. */
const INGEST_EXPIRE_S = 24 * 3_600
const STALE_CHECK_INTERVAL_MS = 60_000
const SWEEP_INTERVAL_MS = 6 * 60 * 60_000

type ReadingParts = Omit<IngestParts, 'recognisers'> & {
  readonly recognisers: Slots
  readonly longReadings: LongReadings
}

const documentJob = z.object({ documentId: z.uuid() })

/** The attempt is not the newest any more, or the document is gone: somebody else decides what happens now. */
class StaleAttempt extends Error {}

/** The jobs around documents, to be handed to `startJobs`. */
export function createIngest(given: IngestParts): JobHandlers {
  const { database, blobs, log, concurrency = Math.max(1, availableParallelism() >> 1) } = given
  const parts = {
    ...given,
    recognisers: createSlots(given.recognisers ?? availableParallelism()),
    longReadings: createLongReadings(given.longReadingMs ?? LONG_READING_MS),
  }
  let nextStaleCheckAt = 0
  let nextSweepAt = 0
  return {
    [INGEST_JOB]: {
      concurrency,
      expireInSeconds: INGEST_EXPIRE_S,
      run: (data, run) => ingest(parts, documentJob.parse(data).documentId, run),
      async findWork() {
        const unfinished = await database.asService(listUnfinished)
        return unfinished.map(({ id, ahead }) => ({ ...requestFor(id), priority: -ahead }))
      },
    },
    [REINDEX_JOB]: {
      concurrency: 1,
      expireInSeconds: EXPIRE_S,
      run: (data) => reindex(database, documentJob.parse(data).documentId),
      async findWork() {
        // Renaming asks for the job itself; this is for a new version of the tokenizer, and for what was lost.
        if (performance.now() < nextStaleCheckAt) return []
        nextStaleCheckAt = performance.now() + STALE_CHECK_INTERVAL_MS
        const stale = await database.asService((scope) => listStale(scope, TOKENIZER_VERSION))
        return stale.map(({ id }) => requestFor(id))
      },
    },
    [DISCARD_JOB]: {
      concurrency: 1,
      expireInSeconds: 600,
      run: () => discardBlobs(database, blobs),
      async findWork() {
        const { rowCount } = await database.asService((scope) => scope.query('select from discarded_blobs limit 1'))
        return rowCount === 0 ? [] : [DISCARD_REQUEST]
      },
    },
    [SWEEP_JOB]: {
      concurrency: 1,
      expireInSeconds: EXPIRE_S,
      async run(_data, { signal }) {
        const removed = await sweepBlobs({ database, blobs }, { signal })
        if (removed > 0) log.warn({ removed }, 'bytes that nothing named were removed')
      },
      async findWork() {
        if (performance.now() < nextSweepAt) return []
        nextSweepAt = performance.now() + SWEEP_INTERVAL_MS
        return [{ key: 'all', data: {} }]
      },
    },
  }
}

const requestFor = (documentId: string): JobRequest => ({ key: documentId, data: { documentId } })

export const DISCARD_REQUEST: JobRequest = { key: 'all', data: {} }

async function ingest(parts: ReadingParts, documentId: string, run: JobRun): Promise<void> {
  const { database, log, onStage } = parts
  const document = await database.asService((scope) => claimDocument(scope, documentId))
  if (!document) return
  onStage?.('claimed', documentId)
  try {
    if (document.tries > MAX_TRIES) throw new ParseFailure('crashed')
    if (!document.is_parsed)
      await parts.longReadings.during(run.stepAside, (stepAside) => storePages(parts, document, { ...run, stepAside }))
    onStage?.('parsed', documentId)
    await writeAs(database, document, async (scope) => {
      await indexDocument(scope, document, readPages(scope, document.id))
      await markReady(scope, document.id)
      for (const id of await supersedeVersions(scope, document.series)) await removeIndex(scope, id)
    })
    onStage?.('indexed', documentId)
  } catch (error) {
    if (error instanceof StaleAttempt) return
    if (run.signal.aborted) {
      await database.asService((scope) => handBack(scope, document))
      throw error
    }
    const failed = error instanceof TooManyPassagesError ? new ParseFailure('too_large', { cause: error }) : error
    const mayTryAgain =
      !(failed instanceof ParseFailure) &&
      (await database.asService((scope) => countTries(scope, document))) < MAX_TRIES
    if (mayTryAgain) throw error
    const failure = failed instanceof ParseFailure ? failed : new ParseFailure('crashed', { cause: failed })
    log.info({ document: documentId, code: failure.code, cause: failure.cause }, 'a document could not be read')
    await writeAs(database, document, async (scope) => {
      await removePages(scope, document.id)
      await removeIndex(scope, document.id)
      await markFailed(scope, document.id, failure.toDocumentError())
    }).catch(ignoreStale)
  }
}

function ignoreStale(error: unknown): void {
  if (!(error instanceof StaleAttempt)) throw error
}

/** @throws StaleAttempt */
async function writeAs(
  database: Database,
  document: ClaimedDocument,
  write: (scope: Scope) => Promise<void>,
): Promise<void> {
  await database.asService(async (scope) => {
    if (!(await holdAttempt(scope, document))) throw new StaleAttempt()
    await write(scope)
  })
}

/**
 * Stores the pages as they come, in batches a quarter of a second apart; each batch moves the progress that people see. What
 * an interrupted attempt recognised stays as it is.
 */
async function storePages(
  { database, blobs, limits, recognisers, readers, onStage, onProcess }: ReadingParts,
  document: ClaimedDocument,
  { signal, stepAside }: JobRun,
): Promise<void> {
  const { path, size, mimetype, owner } = document
  let recognisedBefore: readonly RecognisedBefore[] = []
  await writeAs(database, document, async (scope) => {
    recognisedBefore = await keepRecognised(scope, document.id)
    await setProgress(scope, document.id, { pages: null, pagesDone: recognisedBefore.length, isLasting: false })
  })
  let pages: number | null = null
  let pagesDone = recognisedBefore.length
  let batch: ParsedPage[] = []
  let batchCharacters = 0
  let storedAt = performance.now()

  const store = async () => {
    const taken = batch
    batch = []
    batchCharacters = 0
    pagesDone += taken.length
    await writeAs(database, document, async (scope) => {
      await insertPages(scope, document, taken)
      await setProgress(scope, document.id, { pages, pagesDone, isLasting: taken.some(isRecognised) })
    })
    storedAt = performance.now()
    onStage?.('pages stored', document.id)
  }

  const languages = await database.asService((scope) => listLanguages(scope, owner))
  for await (const part of runParser({
    open: () => blobs.open(path),
    size,
    mimetype,
    signal,
    languages,
    recognisedBefore,
    recognisers,
    owner,
    onRecognition: stepAside,
    ...(readers ? { readers } : {}),
    ...(limits ? { limits } : {}),
    ...(onProcess ? { onProcess } : {}),
  })) {
    if ('pages' in part) pages = part.pages
    else if ('text' in part) {
      batch.push(part)
      batchCharacters += part.text.length
    }
    if (
      batch.length > 0 &&
      (performance.now() - storedAt >= PROGRESS_INTERVAL_MS || batchCharacters > BATCH_CHARACTERS)
    )
      await store()
  }
  await store()
  await writeAs(database, document, (scope) => markParsed(scope, document.id, pagesDone))
}

const isRecognised = ({ confidence }: ParsedPage): boolean => confidence !== undefined

async function insertPages(scope: Scope, { id, owner }: ClaimedDocument, pages: readonly ParsedPage[]): Promise<void> {
  if (pages.length === 0) return
  const json = (values: readonly unknown[] | undefined) => (values && values.length > 0 ? JSON.stringify(values) : null)
  await scope.query(
    `insert into document_pages
       (document_id, owner, page, text, items, headings, rows, columns, boxes, confidence, is_cut, blocks, gap)
     select $1, $2, page, text, items::jsonb, headings::jsonb, rows::jsonb, columns::jsonb, boxes::jsonb, confidence,
       is_cut, blocks::jsonb, gap
     from unnest($3::int[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::smallint[],
         $11::boolean[], $12::text[], $13::text[])
       as given (page, text, items, headings, rows, columns, boxes, confidence, is_cut, blocks, gap)`,
    [
      id,
      owner,
      pages.map(({ page }) => page),
      pages.map(({ text }) => text),
      pages.map(({ items }) => (items ? JSON.stringify(items) : null)),
      pages.map(({ headings }) => json(headings)),
      pages.map(({ rows }) => json(rows)),
      pages.map(({ columns }) => json(columns)),
      pages.map(({ boxes }) => json(boxes)),
      pages.map(({ confidence }) => confidence ?? null),
      pages.map(({ isCut }) => isCut ?? false),
      pages.map(({ blocks }) => (blocks ? JSON.stringify(blocks) : null)),
      pages.map(({ gap }) => gap ?? null),
    ],
  )
}

async function* readPages(scope: Scope, documentId: string): AsyncGenerator<PageToIndex> {
  for (let last = 0; ;) {
    const { rows } = await scope.query<{ page: number; text: string; headings: PageToIndex['headings'] }>(
      'select page, text, headings from document_pages where document_id = $1 and page > $2 order by page limit $3',
      [documentId, last, READ_BATCH_PAGES],
    )
    yield* rows
    const next = rows.at(-1)?.page
    if (next === undefined || rows.length < READ_BATCH_PAGES) return
    last = next
  }
}

/** Makes the postings anew from the stored pages; the old ones answer until then. */
async function reindex(database: Database, documentId: string): Promise<void> {
  await database.asService(async (scope) => {
    const { rows } = await scope.query<{ id: string; owner: string; filename: string }>(
      `select id, owner, filename from documents where id = $1 and state = 'ready' and superseded_at is null for update`,
      [documentId],
    )
    if (rows[0]) await indexDocument(scope, rows[0], readPages(scope, documentId))
  })
}

/** Removes the bytes of all documents that are gone. Removing them twice is harmless, so the note of it goes last. */
export async function discardBlobs(database: Database, blobs: BlobStore): Promise<void> {
  for (;;) {
    const { rows } = await database.asService((scope) =>
      scope.query<{ path: string }>('select path from discarded_blobs order by discarded_at limit 1000'),
    )
    if (rows.length === 0) return
    for (const { path } of rows) {
      await blobs.remove(path)
      await database.asService((scope) => scope.query('delete from discarded_blobs where path = $1', [path]))
    }
  }
}
