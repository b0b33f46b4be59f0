/** Asks for changes by HTTP while live channels are missing. */
import type { ChangesSince } from '#contract/changes.ts'
import { HttpError } from '#web/data/client.ts'
import { askForChanges } from './missed-changes.ts'

/** A part of the page that follows changes. */
export interface Follower {
  /** Messages of this conversation are asked for too. */
  readonly conversationId?: string
  /** Whether news may come any moment, so that it is asked for more often. */
  readonly isExpecting: () => boolean
  /** Reads what the changes do not tell; called before they are asked for. */
  readonly read?: (signal: AbortSignal) => Promise<void>
  /**
   * @param changes null if they are not known: then everything is to be read again
   * @param isFirst the follower has missed earlier changes
   */
  readonly apply: (changes: ChangesSince | null, isFirst: boolean) => Promise<void>
}

const EXPECTING_INTERVAL_MS = 1_000
const INTERVAL_MS = 4_000
const HIDDEN_INTERVAL_MS = 30_000
const MAX_INTERVAL_MS = 30_000
/** A question that was sent is followed within this time. */
const CHECK_INTERVAL_MS = 250
const REQUEST_TIMEOUT_MS = 10_000

/**
 * Asks in turns that never overlap, and less often while there is no answer. Resolves when `signal` aborts: an answer that
 * comes later is dropped, as the channels may have told newer changes.
 */
export async function pollChanges(
  followers: ReadonlySet<Follower>,
  signal: AbortSignal,
  report: (isAnswered: boolean) => void,
): Promise<void> {
  const known = new WeakSet<Follower>()
  let failures = 0
  let isUnknown = false
  const interval = (): number => {
    if (failures > 0) return Math.min(EXPECTING_INTERVAL_MS * 2 ** failures, MAX_INTERVAL_MS)
    if (document.visibilityState === 'hidden') return HIDDEN_INTERVAL_MS
    return !isUnknown && [...followers].some((follower) => follower.isExpecting()) ? EXPECTING_INTERVAL_MS : INTERVAL_MS
  }
  do {
    try {
      isUnknown = !(await poll(followers, known, signal))
      failures = 0
      report(true)
    } catch (error) {
      if (signal.aborted) return
      if (failures === 0) console.warn('The page asked for changes in vain, and asks again', error)
      failures += 1
      report(isAnswer(error))
    }
    await untilPassed(interval, signal)
  } while (!signal.aborted)
}

/** An overloaded server, or one that refuses, is no lost connection. */
const isAnswer = (error: unknown): boolean => error instanceof HttpError && error.status < 500

/** @returns false where it is not known what changed */
async function poll(followers: ReadonlySet<Follower>, known: WeakSet<Follower>, ending: AbortSignal): Promise<boolean> {
  const signal = AbortSignal.any([ending, AbortSignal.timeout(REQUEST_TIMEOUT_MS)])
  const asking = [...followers]
  for (const follower of asking) await follower.read?.(signal)
  const conversationId = asking.findLast((follower) => follower.conversationId !== undefined)?.conversationId
  const { changes, accept } = await askForChanges(conversationId, signal)
  signal.throwIfAborted()
  const failures: unknown[] = []
  for (const follower of asking) {
    if (!followers.has(follower)) continue
    try {
      await follower.apply(changes, !known.has(follower))
      known.add(follower)
    } catch (error) {
      failures.push(error)
    }
  }
  // Otherwise the next question is for these changes again; those that were applied are the same then.
  if (failures.length === 0) accept()
  else throw failures[0]
  return changes !== null
}

/** Resolves early when the browser is online again; the interval may change meanwhile. */
async function untilPassed(interval: () => number, signal: AbortSignal): Promise<void> {
  const begun = performance.now()
  await new Promise<void>((resolve) => {
    const ending = new AbortController()
    const end = (): void => {
      clearInterval(timer)
      ending.abort()
      resolve()
    }
    const check = (): void => {
      if (performance.now() - begun >= interval()) end()
    }
    const timer = setInterval(check, CHECK_INTERVAL_MS)
    signal.addEventListener('abort', end, { signal: ending.signal })
    window.addEventListener('online', end, { signal: ending.signal })
    document.addEventListener('visibilitychange', check, { signal: ending.signal })
  })
}
