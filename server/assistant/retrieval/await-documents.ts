/** A question about documents that are still being read: which they are, and a while of patience for them. */
import { setTimeout as delay } from 'node:timers/promises'
import { type Scope } from '#server/database/scope.ts'
import { listUnread } from '#server/documents/store/ingestion.ts'

/** Scans may take minutes: after so long the question is answered from what there is. */
const PATIENCE_MS = 30_000
/** What names no document may be about none of them. */
const PATIENCE_UNNAMED_MS = 8_000
const LOOK_MS = 200
/** A model has something to say without documents; who has added a whole folder does not ask it about all of them. */
const MOST_UNNAMED = 3

export interface Unread {
  /** Of the documents that the question is to be answered from, so many cannot be searched yet. */
  readonly count: number
  /** Those of them that it has to wait for. */
  readonly awaited: readonly string[]
  /** Whether any of them may answer it, as soon as it has been read: none was named. */
  readonly isAnyEnough: boolean
  /** For so long. */
  readonly patienceMs: number
}

const waitsForNone = (count: number): Unread => ({ count, awaited: [], isAnyEnough: false, patienceMs: 0 })

interface Library {
  /** Documents that the question names, or that the person chose beside it. */
  readonly meant: readonly string[]
  /** How many of all documents can be searched, and how many cannot yet. */
  readonly ready: number
  readonly unread: number
  /** Whether nothing but documents can answer: there is no model. */
  readonly onlyQuotes: boolean
  /** Whether those that can be searched hold anything that may answer. */
  readonly hasAnswer: boolean
  /** Whether whole documents are read for it: then no other is meant. */
  readonly isWhole: boolean
}

/** Documents that are named or chosen are waited for, and any of them where no other has an answer. Run as the person. */
export async function findUnread(
  scope: Scope,
  { meant, ready, unread, onlyQuotes, hasAnswer, isWhole }: Library,
): Promise<Unread> {
  if (unread === 0) return waitsForNone(0)
  if (meant.length > 0) {
    const awaited = await listUnread(scope, meant)
    return { count: awaited.length, awaited, isAnyEnough: false, patienceMs: PATIENCE_MS }
  }
  const isWorthIt = onlyQuotes || (ready === 0 && unread <= MOST_UNNAMED)
  if (hasAnswer || !isWorthIt) return waitsForNone(isWhole ? 0 : unread)
  const awaited = await listUnread(scope, null)
  return { count: unread, awaited, isAnyEnough: true, patienceMs: PATIENCE_UNNAMED_MS }
}

/**
 * Resolves once none of them is being read any more, or one of them where any is enough, or when that takes too long.
 * @param read runs as the person.
 * @throws the reason of an aborted signal.
 */
export async function awaitDocuments(
  { awaited, isAnyEnough }: Unread,
  read: <T>(run: (scope: Scope) => Promise<T>) => Promise<T>,
  { patienceMs, signal }: { patienceMs: number; signal: AbortSignal },
): Promise<void> {
  const startedAt = performance.now()
  while (performance.now() - startedAt < patienceMs) {
    await delay(LOOK_MS, undefined, { signal })
    const left = await read((scope) => listUnread(scope, awaited))
    if (left.length === 0 || (isAnyEnough && left.length < awaited.length)) return
  }
}
