/** Finds documents of a question that are still being read, and waits for them up to a limit. */
import { setTimeout as delay } from 'node:timers/promises'
import { type Scope } from '#server/database/scope.ts'
import { listUnread } from '#server/documents/store/ingestion.ts'

/** Scans may take minutes: after so long the question is answered from what there is. */
const WAIT_LIMIT_MS = 30_000
/** Limit for a question that names no document: it may be about none. */
const UNNAMED_WAIT_LIMIT_MS = 8_000
const POLL_INTERVAL_MS = 200
/** A model has something to say without documents; who has added a whole folder does not ask it about all of them. */
const MAX_UNNAMED_DOCUMENTS = 3

export interface UnreadDocuments {
  /** Number of relevant documents that cannot be searched yet. */
  readonly count: number
  /** Those of them that it has to wait for. */
  readonly awaitedIds: readonly string[]
  /** Whether any of them may answer it, as soon as it has been read: none was named. */
  readonly isAnyEnough: boolean
  readonly waitLimitMs: number
}

const withoutWaiting = (count: number): UnreadDocuments => ({
  count,
  awaitedIds: [],
  isAnyEnough: false,
  waitLimitMs: 0,
})

interface UnreadInput {
  /** Documents that the question names or the person chose. */
  readonly targetDocumentIds: readonly string[]
  /** How many of all documents can be searched, and how many cannot yet. */
  readonly ready: number
  readonly unread: number
  /** Whether nothing but documents can answer: there is no model. */
  readonly onlyQuotes: boolean
  /** Whether those that can be searched hold anything that may answer. */
  readonly hasAnswer: boolean
  /** Whether whole documents are read for the answer. */
  readonly isWhole: boolean
}

/** Documents that are named or chosen are waited for, and any of them where no other has an answer. Run as the person. */
export async function findUnreadDocuments(
  scope: Scope,
  { targetDocumentIds, ready, unread, onlyQuotes, hasAnswer, isWhole }: UnreadInput,
): Promise<UnreadDocuments> {
  if (unread === 0) return withoutWaiting(0)
  if (targetDocumentIds.length > 0) {
    const awaitedIds = await listUnread(scope, targetDocumentIds)
    return { count: awaitedIds.length, awaitedIds, isAnyEnough: false, waitLimitMs: WAIT_LIMIT_MS }
  }
  const isWorthWaiting = onlyQuotes || (ready === 0 && unread <= MAX_UNNAMED_DOCUMENTS)
  if (hasAnswer || !isWorthWaiting) return withoutWaiting(isWhole ? 0 : unread)
  const awaitedIds = await listUnread(scope, null)
  return { count: unread, awaitedIds, isAnyEnough: true, waitLimitMs: UNNAMED_WAIT_LIMIT_MS }
}

/**
 * Resolves once none of them is being read any more, or one of them where any is enough, or when that takes too long.
 * @param read runs as the person.
 * @throws the reason of an aborted signal.
 */
export async function awaitDocuments(
  { awaitedIds, isAnyEnough }: UnreadDocuments,
  read: <T>(run: (scope: Scope) => Promise<T>) => Promise<T>,
  { waitLimitMs, signal }: { waitLimitMs: number; signal: AbortSignal },
): Promise<void> {
  const startedAt = performance.now()
  while (performance.now() - startedAt < waitLimitMs) {
    await delay(POLL_INTERVAL_MS, undefined, { signal })
    const left = await read((scope) => listUnread(scope, awaitedIds))
    if (left.length === 0 || (isAnyEnough && left.length < awaitedIds.length)) return
  }
}
