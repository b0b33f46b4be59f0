/**
 * Reads small documents together: those of one person in one parser process, then their pages, index and result in one
 * transaction. Whatever goes wrong with a document here says nothing about it: the caller lets it be read by itself.
 */
import { fileTypeOf } from '#contract/file-types.ts'
import type { Log } from '#server/base/log.ts'
import { traceOperation } from '#server/base/tracing.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import { retryDeadlock } from '#server/database/deadlocks.ts'
import { requireFileRoom } from '#server/database/quotas.ts'
import type { Database, Scope } from '#server/database/scope.ts'
import {
  claimNewDocuments,
  type ClaimedDocument,
  lockAttempts,
  markAllReady,
  returnAttempts,
} from '#server/documents/store/ingestion.ts'
import { supersedeVersions } from '#server/documents/store/library.ts'
import { insertPages } from '#server/documents/store/pages.ts'
import { MAX_DOCUMENT_CHARACTERS, type ParsedPage, type ParsedPart } from '#server/parsing/page.ts'
import { PARSE_LIMITS, type ParseLimits } from '#server/parsing/sandbox/limits.ts'
import type { ReusedParsers } from '#server/parsing/sandbox/reused-parsers.ts'
import { indexNewDocuments, removeIndex } from '#server/search/index/index-document.ts'
import type { IngestStage } from './attempt.ts'

export interface TogetherParts {
  readonly database: Database
  readonly blobs: BlobStore
  readonly log: Log
  readonly reusedParsers: ReusedParsers
  readonly limits?: ParseLimits
  readonly onStage?: (stage: IngestStage, documentId: string) => void
  readonly onProcess?: (pid: number) => void
}

interface ReadDocument {
  readonly document: ClaimedDocument
  readonly pages: readonly ParsedPage[]
}

/** Time from the first that is read until those that are read are stored: they do not wait for all of a batch. */
const BATCH_MS = 1_000
/** Text that one transaction stores. With it a person may exceed the quota, as with one larger file. */
const BATCH_CHARACTERS = 2_000_000
/** Documents of one person. Those that misbehave in a batch delay others, while a document by itself is overtaken. */
const MAX_UNREADABLE = 2

/** Returns the ids of the documents that are not ready: they may be queued, deleted, or held by another attempt. */
export async function ingestTogether(
  parts: TogetherParts,
  documentIds: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const { database, log, onStage } = parts
  const documents = await database.asService((scope) => claimNewDocuments(scope, documentIds))
  const open = new Map(documents.map((document) => [document.id, document]))
  const left = new Set(documentIds)
  try {
    for (const { id } of documents) onStage?.('claimed', id)
    const byOwner = [...Map.groupBy(documents, ({ owner }) => owner).values()]
    // Those of whom little waits do not wait for the others.
    for (const ofOwner of byOwner.toSorted((one, other) => one.length - other.length)) {
      try {
        for await (const id of readAndStore(parts, ofOwner, signal)) {
          open.delete(id)
          left.delete(id)
        }
      } catch (error) {
        signal.throwIfAborted()
        log.info({ err: error, documents: ofOwner.length }, 'documents could not be read together')
      }
    }
  } finally {
    if (open.size > 0) await database.asService((scope) => returnAttempts(scope, [...open.values()]))
  }
  return [...left]
}

/** Yields the id of each document once it is ready. */
async function* readAndStore(
  parts: TogetherParts,
  documents: readonly ClaimedDocument[],
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { database } = parts
  const owner = documents[0]?.owner ?? ''
  let unreadable = 0
  for (let rest = documents; rest.length > 0 && unreadable < MAX_UNREADABLE;) {
    await database.asService((scope) => requireFileRoom(scope, owner))
    const read: ReadDocument[] = []
    let characters = 0
    let until = Number.POSITIVE_INFINITY
    while (characters < BATCH_CHARACTERS && performance.now() < until && unreadable < MAX_UNREADABLE) {
      const [document, ...others] = rest
      if (!document) break
      rest = others
      const pages = await traceOperation('parse', fileTypeOf(document.mimetype)?.parser ?? 'unknown', () =>
        readPages(parts, document, signal),
      )
      if (pages) read.push({ document, pages })
      else unreadable += 1
      characters += countCharacters(pages ?? [])
      // Not earlier: its process had to be started.
      until = Math.min(until, performance.now() + BATCH_MS)
    }
    yield* await traceOperation('index', 'batch', () => storeTogether(parts, owner, read))
  }
}

const countCharacters = (pages: readonly ParsedPage[]): number => pages.reduce((sum, { text }) => sum + text.length, 0)

const isPage = (part: ParsedPart): part is ParsedPage => 'text' in part

/** Undefined if the document must be read by itself: to find out why, for its OCR, or for its size. */
async function readPages(
  { blobs, reusedParsers, limits = PARSE_LIMITS, onProcess }: TogetherParts,
  { addedBy, mimetype, size, path }: ClaimedDocument,
  signal: AbortSignal,
): Promise<readonly ParsedPage[] | undefined> {
  const parts = await reusedParsers.read({
    owner: addedBy,
    mimetype,
    size,
    limits,
    signal,
    open: () => blobs.open(path),
    options: { languages: [] },
    ...(onProcess ? { onProcess } : {}),
  })
  if (!parts || parts.some((part) => 'deferred' in part || 'recognising' in part)) return undefined
  const pages = parts.filter(isPage)
  const isWhole = pages.some(({ text }) => text.trim() !== '') && countCharacters(pages) <= MAX_DOCUMENT_CHARACTERS
  return isWhole ? pages : undefined
}

/** Returns the ids of the documents that are now ready: all but those whose attempts are stale. */
async function storeTogether(
  { database, onStage }: TogetherParts,
  owner: string,
  read: readonly ReadDocument[],
): Promise<string[]> {
  if (read.length === 0) return []
  const stored = await retryDeadlock(() => database.asService((scope) => store(scope, owner, read)))
  for (const stage of ['pages stored', 'parsed', 'indexed'] as const) for (const id of stored) onStage?.(stage, id)
  return stored
}

async function store(scope: Scope, owner: string, read: readonly ReadDocument[]): Promise<string[]> {
  const locked = await lockAttempts(
    scope,
    read.map(({ document }) => document),
  )
  const current = read.flatMap(({ document, pages }) => (locked.has(document.id) ? [{ ...document, pages }] : []))
  if (current.length === 0) return []
  await insertPages(scope, owner, current)
  await indexNewDocuments(
    scope,
    owner,
    current.map(({ id, filename, pages }) => ({ id, owner, filename, pages: pages.map(toPageToIndex) })),
  )
  await markAllReady(
    scope,
    current.map(({ id, pages }) => ({ id, pages: pages.length })),
  )
  const superseded = await supersedeVersions(
    scope,
    current.map(({ series }) => series),
  )
  for (const id of superseded) await removeIndex(scope, id)
  return current.map(({ id }) => id)
}

const toPageToIndex = ({ page, text, headings }: ParsedPage) => ({ page, text, headings: headings ?? null })
