/** Transactions of people that run now. Those that still run when their session ends, or rights change, are broken off. */
import type pg from 'pg'
import { AppError } from '#server/base/errors.ts'
import { repeat } from '#server/base/repeat.ts'
import type { Claims } from './scope.ts'

export interface RunningTransaction {
  /** Why it was broken off, once it was. */
  readonly ended: AppError | undefined
  /** Names the connection of its statements. @throws AppError: it was broken off during the wait for the connection */
  begin(client: pg.ClientBase): void
  /** Call before the commit, and in any case once: nothing ends the transaction after this. */
  leave(): void
}

export interface RunningTransactions {
  /** Call before the wait for a connection. @throws AppError `unauthenticated` where the session has ended */
  enter(claims: Claims, endsWithRights: boolean): RunningTransaction
  endSession(sessionId: string): void
  /**
   * Breaks off transactions that run now, unless they end soon by themselves: later statements read the new rights.
   * @param person whose rights changed; by default everyone's may have
   */
  endWithRights(person?: string): void
  /** Sessions of which a transaction runs or waits for its connection. */
  sessions(): readonly string[]
}

interface Entry {
  readonly person: string | undefined
  readonly sessionId: string | undefined
  readonly endsWithRights: boolean
  client: pg.ClientBase | undefined
  ended: AppError | undefined
  cancelling: NodeJS.Timeout | undefined
}

/** Longer than a request waits between the check of its token and its connection. */
const REMEMBERED_MS = 60_000
/** Statements of the page take some milliseconds: a change of rights must not make them fail. */
const RIGHTS_GRACE_MS = 500
/** PostgreSQL ignores the request to cancel between two statements. */
const CANCEL_AGAIN_MS = 100

const sessionEnded = () =>
  new AppError('unauthenticated', 'This session has ended. Sign in again.', { details: { reason: 'ended' } })

const rightsChanged = () =>
  new AppError('unavailable', 'Your rights changed while this was answered. Send the request again.', {
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
    const { client } = entry
    if (!client) return
    cancel(client)
    entry.cancelling = repeat(() => cancel(client), CANCEL_AGAIN_MS)
  }

  function forgetOldEnds(now: number): void {
    for (const [sessionId, at] of endedAt) {
      if (now - at <= REMEMBERED_MS) return
      endedAt.delete(sessionId)
    }
  }

  return {
    enter({ sub: person, session_id: claimed }, endsWithRights) {
      const sessionId = typeof claimed === 'string' ? claimed : undefined
      if (sessionId !== undefined && endedAt.has(sessionId)) throw sessionEnded()
      const entry: Entry = {
        person,
        sessionId,
        endsWithRights,
        client: undefined,
        ended: undefined,
        cancelling: undefined,
      }
      entries.add(entry)
      return {
        get ended() {
          return entry.ended
        },
        begin(client) {
          if (entry.ended) throw entry.ended
          entry.client = client
        },
        leave() {
          entries.delete(entry)
          clearInterval(entry.cancelling)
        },
      }
    },
    endSession(sessionId) {
      const now = performance.now()
      forgetOldEnds(now)
      endedAt.set(sessionId, now)
      for (const entry of entries) if (entry.sessionId === sessionId) breakOff(entry, sessionEnded())
    },
    endWithRights(changed) {
      const isConcerned = ({ person, client, endsWithRights }: Entry) =>
        endsWithRights && client !== undefined && person !== undefined && (changed ?? person) === person
      const begun = [...entries].filter(isConcerned)
      if (begun.length === 0) return
      const timer = setTimeout(() => {
        for (const entry of begun) breakOff(entry, rightsChanged())
      }, RIGHTS_GRACE_MS)
      timer.unref()
    },
    sessions: () => [...new Set([...entries].flatMap(({ sessionId }) => sessionId ?? []))],
  }
}
