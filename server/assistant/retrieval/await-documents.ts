import { setTimeout as delay } from 'node:timers/promises'
import type { Scope } from '#server/database/scope.ts'
import { listUnread, listUnreadNames, type UnreadDocument } from '#server/documents/store/ingestion.ts'
import { occursAsName } from './occurs-as-name.ts'

/** A question that names no document may refer to none. */
const UNNAMED_WAIT_LIMIT_MS = 8_000
const POLL_INTERVAL_MS = 200
/** With more unread documents than this, a question that names none does not wait: a whole folder was probably added. */
const MAX_UNNAMED_DOCUMENTS = 3
/** Shorter names are also words of questions that mean no document. */
const MIN_NAME_CHARACTERS = 4

export interface UnreadDocuments {
  readonly count: number
  readonly awaitedIds: readonly string[]
  readonly isAnyEnough: boolean
}

const withoutWaiting = (count: number): UnreadDocuments => ({
  count,
  awaitedIds: [],
  isAnyEnough: false,
})

const idsOfAwaited = (unread: readonly UnreadDocument[]): string[] =>
  unread.filter(({ isPaused }) => !isPaused).map(({ id }) => id)

interface UnreadInput {
  /** Undefined if it searches no documents. */
  readonly question: string | undefined
  readonly targetDocumentIds: readonly string[]
  readonly ready: number
  readonly unread: number
  readonly onlyQuotes: boolean
  readonly hasAnswer: boolean
  readonly isWhole: boolean
}

/** Named or chosen documents are awaited; without any, the first few of a library where no other document answers. Runs as the person. */
export async function findUnreadDocuments(
  scope: Scope,
  { question, targetDocumentIds, ready, unread, onlyQuotes, hasAnswer, isWhole }: UnreadInput,
): Promise<UnreadDocuments> {
  if (unread === 0) return withoutWaiting(0)
  if (targetDocumentIds.length > 0) {
    const ofTargets = await listUnread(scope, targetDocumentIds)
    return { count: ofTargets.length, awaitedIds: idsOfAwaited(ofTargets), isAnyEnough: false }
  }
  const named = question === undefined ? [] : await listUnreadNames(scope, question)
  const awaitedNames = named.filter(
    ({ filename }) => filename.length >= MIN_NAME_CHARACTERS && occursAsName(question ?? '', filename),
  )
  if (awaitedNames.length > 0)
    return { count: unread, awaitedIds: awaitedNames.map(({ id }) => id), isAnyEnough: false }
  const isWorthWaiting = unread <= MAX_UNNAMED_DOCUMENTS && (onlyQuotes || ready === 0)
  if (hasAnswer || !isWorthWaiting) return withoutWaiting(isWhole ? 0 : unread)
  return { count: unread, awaitedIds: idsOfAwaited(await listUnread(scope, null)), isAnyEnough: true }
}

/** Scans may take minutes; after this limit the question is answered from the documents that are ready. */
export const waitLimitOf = ({ isAnyEnough }: UnreadDocuments, namedLimitMs: number): number =>
  isAnyEnough ? Math.min(UNNAMED_WAIT_LIMIT_MS, namedLimitMs) : namedLimitMs

/** Resolves when all are read, when one is and any is enough, or at the limit. @throws the reason of an aborted signal. */
export async function awaitDocuments(
  { awaitedIds, isAnyEnough }: UnreadDocuments,
  read: <T>(run: (scope: Scope) => Promise<T>) => Promise<T>,
  { waitLimitMs, signal }: { waitLimitMs: number; signal: AbortSignal },
): Promise<void> {
  const startedAt = performance.now()
  while (performance.now() - startedAt < waitLimitMs) {
    await delay(POLL_INTERVAL_MS, undefined, { signal })
    const left = idsOfAwaited(await read((scope) => listUnread(scope, awaitedIds)))
    if (left.length === 0 || (isAnyEnough && left.length < awaitedIds.length)) return
  }
}
