/** Transactions of people that run now. Those that still run when their session ends, or rights change, are broken off. */
import type pg from 'pg'
import { AppError } from '#server/base/errors.ts'
import type { Claims } from './scope.ts'

export interface RunningTransaction {
  /** Why it was broken off, once it was. */
  readonly ended: AppError | undefined
  /** Call before the commit, and in any case once: nothing ends the transaction after this. */
  leave(): void
}

export interface RunningTransactions {
  /** @throws AppError `unauthenticated`: the session ended during the wait for the connection */
  enter(client: pg.ClientBase, claims: Claims, endsWithRights: boolean): RunningTransaction
  endSession(sessionId: string): void
  /** Breaks off those that began before rights of the person, by default of everyone, changed, unless they end soon by themselves. */
  endWithRights(person?: string): void
  /** Sessions in which something runs. */
  sessions(): readonly string[]
}

interface Entry {
  readonly client: pg.ClientBase
  readonly person: string | undefined
  readonly sessionId: string | undefined
  readonly endsWithRights: boolean
  ended: AppError | undefined
}

/** Longer than a request waits between the check of its token and its connection. */
const REMEMBERED_MS = 60_000
/** Statements of the page take some milliseconds: a change of rights must not make them fail. */
const RIGHTS_GRACE_MS = 500

const sessionEnded = () =>
  new AppError('unauthenticated', 'This session has ended. Sign in again.', { details: { reason: 'ended' } })

const rightsChanged = () =>
  new AppError('unavailable', 'Your rights changed while this was answered. Ask again.', {
    details: { retryAfterS: 1 },
  })

/** @param cancel ends the statement that the connection runs now; the connection must not be used again. */
export function createRunningTransactions(cancel: (client: pg.ClientBase) => void): RunningTransactions {
  const entries = new Set<Entry>()
  /** Ended sessions, the oldest first, with the time of their end. */
  const endedAt = new Map<string, number>()

  function breakOff(entry: Entry, reason: AppError): void {
    if (!entries.delete(entry)) return
    entry.ended = reason
    cancel(entry.client)
  }

  function forgetOldEnds(now: number): void {
    for (const [sessionId, at] of endedAt) {
      if (now - at <= REMEMBERED_MS) return
      endedAt.delete(sessionId)
    }
  }

  return {
    enter(client, { sub: person, session_id: claimed }, endsWithRights) {
      const sessionId = typeof claimed === 'string' ? claimed : undefined
      if (sessionId !== undefined && endedAt.has(sessionId)) throw sessionEnded()
      const entry: Entry = { client, person, sessionId, endsWithRights, ended: undefined }
      entries.add(entry)
      return {
        get ended() {
          return entry.ended
        },
        leave: () => void entries.delete(entry),
      }
    },
    endSession(sessionId) {
      const now = performance.now()
      forgetOldEnds(now)
      endedAt.set(sessionId, now)
      for (const entry of entries) if (entry.sessionId === sessionId) breakOff(entry, sessionEnded())
    },
    endWithRights(person) {
      const begun = [...entries].filter((entry) => entry.endsWithRights && (person ?? entry.person) === entry.person)
      if (begun.length === 0) return
      const timer = setTimeout(() => {
        for (const entry of begun) breakOff(entry, rightsChanged())
      }, RIGHTS_GRACE_MS)
      timer.unref()
    },
    sessions: () => [...new Set([...entries].flatMap(({ sessionId }) => sessionId ?? []))],
  }
}
