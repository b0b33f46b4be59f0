import { AppError } from '#server/base/errors.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import { toAppError } from '#server/database/errors.ts'
import { requirePageRoom } from '#server/database/quotas.ts'
import type { Database } from '#server/database/scope.ts'
import {
  type ClaimedDocument,
  listDocumentLanguages,
  markParsed,
  setProgress,
} from '#server/documents/store/ingestion.ts'
import { deleteUnrecognisedPages, insertPages } from '#server/documents/store/pages.ts'
import type { JobRun } from '#server/jobs/handler.ts'
import { ParseFailure } from '#server/parsing/failure.ts'
import type { ParsedPage } from '#server/parsing/page.ts'
import type { ParseLimits } from '#server/parsing/sandbox/limits.ts'
import type { ReusedParsers } from '#server/parsing/sandbox/reused-parsers.ts'
import { type RecognisedPage, runParser } from '#server/parsing/sandbox/run-parser.ts'
import type { FairSemaphore } from '#server/parsing/sandbox/semaphore.ts'
import type { WarmParsers } from '#server/parsing/sandbox/warm-processes.ts'
import { writeInAttempt } from './attempt.ts'

const PROGRESS_INTERVAL_MS = 250
const BATCH_CHARACTERS = 1_000_000

export interface StorePagesParts {
  readonly database: Database
  readonly blobs: BlobStore
  readonly limits?: ParseLimits
  readonly ocrSemaphore: FairSemaphore
  readonly warmParsers?: WarmParsers
  readonly reusedParsers?: ReusedParsers
  readonly onPagesStored?: () => void
  readonly onProcess?: (pid: number) => void
}

/** Resolves once every page is stored; keeps pages recognised earlier. @throws ParseFailure, StaleAttemptError */
export async function storePages(
  parts: StorePagesParts,
  document: ClaimedDocument,
  { signal, yieldSlot }: JobRun,
): Promise<void> {
  const { database, blobs, limits, ocrSemaphore, warmParsers, reusedParsers, onProcess } = parts
  const { id, path, size, mimetype, addedBy } = document
  let recognised: readonly RecognisedPage[] = []
  await writeInAttempt(database, document, async (scope) => {
    recognised = await deleteUnrecognisedPages(scope, id)
    await setProgress(scope, id, { pages: null, pagesDone: recognised.length, isLasting: false })
  })
  const batch = createPageBatch(parts, document, recognised.length)
  const languages = await database.asService((scope) => listDocumentLanguages(scope, addedBy))
  for await (const part of runParser({
    open: () => blobs.open(path),
    size,
    mimetype,
    signal,
    languages,
    alreadyRecognised: recognised,
    ocrSemaphore,
    owner: addedBy,
    onOcrStart: async (pages) => {
      await withinPageLimit(database.asService((scope) => requirePageRoom(scope, id, pages)))
      yieldSlot()
    },
    ...(warmParsers ? { warmParsers } : {}),
    ...(reusedParsers ? { reusedParsers } : {}),
    ...(limits ? { limits } : {}),
    ...(onProcess ? { onProcess } : {}),
  })) {
    if ('pages' in part) batch.setTotal(part.pages)
    else if ('text' in part) batch.add(part)
    if (batch.isDue()) await batch.store()
  }
  await batch.store()
  await writeInAttempt(database, document, (scope) => markParsed(scope, id, batch.pagesDone))
}

function createPageBatch(
  { database, onPagesStored }: StorePagesParts,
  document: ClaimedDocument,
  pagesStoredBefore: number,
) {
  let total: number | null = null
  let pagesDone = pagesStoredBefore
  let pages: ParsedPage[] = []
  let characters = 0
  let storedAt = performance.now()
  return {
    get pagesDone() {
      return pagesDone
    },
    setTotal(count: number) {
      total = count
    },
    add(page: ParsedPage) {
      pages.push(page)
      characters += page.text.length
    },
    isDue: () =>
      pages.length > 0 && (performance.now() - storedAt >= PROGRESS_INTERVAL_MS || characters > BATCH_CHARACTERS),
    async store() {
      const taken = pages
      pages = []
      characters = 0
      pagesDone += taken.length
      await withinPageLimit(
        writeInAttempt(database, document, async (scope) => {
          await insertPages(scope, document.owner, [{ id: document.id, pages: taken }])
          await setProgress(scope, document.id, { pages: total, pagesDone, isLasting: taken.some(isRecognised) })
        }),
      )
      storedAt = performance.now()
      onPagesStored?.()
    },
  }
}

/** @throws ParseFailure for a limit on recognised pages, which no further attempt passes on the same day */
async function withinPageLimit(counting: Promise<void>): Promise<void> {
  try {
    await counting
  } catch (thrown) {
    const error = toAppError(thrown)
    if (error instanceof AppError && error.code === 'rate_limited')
      throw new ParseFailure('page_limit', { cause: error })
    throw thrown
  }
}

const isRecognised = ({ confidence }: ParsedPage): boolean => confidence !== undefined
