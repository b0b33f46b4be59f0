/**
 * Ends what is being sent to a person, or done for them, when they lose the right to it: as soon as the database says that
 * rights or sessions end.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { codeOf } from '#server/base/errors.ts'
import { parseJson } from '#server/base/json.ts'
import type { Log } from '#server/base/log.ts'
import { isRefusedTurn } from '#server/database/admission.ts'
import type { Listener } from '#server/database/listen.ts'
import type { OpenDatabase } from '#server/database/open-database.ts'

/** Sent by the function `announce_access_change`. A change of a topic, without a person, concerns channels only. */
const accessChange = z.object({ person: z.uuid().nullable() })

interface Watched {
  /** Its end, also by a ban or with the account, ends the right at once. */
  readonly sessionId: string | undefined
  readonly isAllowed: () => Promise<boolean>
  readonly onLost: () => void
}

export interface AccessWatch {
  /**
   * Asks again after each change of the person's rights, and for the session too where its end may have been missed. A
   * failed question counts as a lost right, except one that came to no turn: it is asked until it is answered.
   * @returns what ends the watch
   */
  watch(person: string, watched: Watched): () => void
}

/** A request waits for its turn and a connection at most this long between the check of its token and its watch. */
const MAX_WAIT_MS = 60_000

const ASK_AGAIN_MS = 1_000
/** PostgreSQL ended the statement, or its wait for a lock. */
const TIMEOUTS = new Set(['57014', '55P03'])

/** A busy database tells nothing about a right. */
const isUnanswered = (error: unknown): boolean => isRefusedTurn(error) || TIMEOUTS.has(codeOf(error) ?? '')

export async function openAccessWatch(
  listener: Listener,
  isSessionOpen: (sessionId: string) => Promise<boolean>,
  running: OpenDatabase['running'],
  log: Log,
): Promise<AccessWatch & { stop: () => void }> {
  const byPerson = new Map<string, Set<Watched>>()
  /** When a session ended, or its end may have been missed. */
  let lastEndAt = Number.NEGATIVE_INFINITY

  /** An expired token refuses further requests only. */
  const isStillOpen = async ({ sessionId }: Watched): Promise<boolean> =>
    sessionId === undefined || (await isSessionOpen(sessionId))

  async function check(person: string, entry: Watched, isStillRight: () => Promise<boolean>): Promise<void> {
    // One failed question, such as over a connection that was just lost, tells nothing.
    const asked = isStillRight().catch(isStillRight)
    const isRight = await asked.catch((error: unknown) => {
      if (isUnanswered(error)) return undefined
      log.warn({ err: error }, 'the right to a response could not be read, it was broken off')
      return false
    })
    if (isRight === undefined) {
      await pause(ASK_AGAIN_MS, undefined, { ref: false })
      if (byPerson.get(person)?.has(entry)) await check(person, entry, isStillRight)
      return
    }
    if (!isRight && byPerson.get(person)?.has(entry)) entry.onLost()
  }

  /** A statement whose session cannot be read goes on until its time limit. */
  async function endIfClosed(sessionId: string): Promise<void> {
    try {
      if (!(await isSessionOpen(sessionId))) running.endSession(sessionId)
    } catch (error) {
      log.warn({ err: error }, 'the session of a running statement could not be read')
    }
  }

  function checkRights(person: string): void {
    for (const entry of byPerson.get(person) ?? []) void check(person, entry, entry.isAllowed)
  }

  const stopChanges = await listener.on('realtime_access_change', (payload) => {
    const { person } = accessChange.parse(parseJson(payload))
    if (person === null) return
    running.endWithRights(person)
    checkRights(person)
  })
  const stopSessions = await listener.on('realtime_session_end', (ended) => {
    lastEndAt = performance.now()
    running.endSession(ended)
    for (const entries of byPerson.values())
      for (const entry of [...entries]) if (entry.sessionId === ended) entry.onLost()
  })
  // Changes and ends of sessions may have been missed.
  listener.onReconnect(() => {
    lastEndAt = performance.now()
    for (const [person, entries] of byPerson)
      for (const entry of entries)
        void check(person, entry, async () => (await isStillOpen(entry)) && (await entry.isAllowed()))
    running.endWithRights()
    for (const sessionId of running.sessions()) void endIfClosed(sessionId)
  })

  return {
    stop() {
      stopChanges()
      stopSessions()
    },
    watch(person, watched) {
      const entries = byPerson.get(person) ?? new Set()
      byPerson.set(person, entries.add(watched))
      // Its session may have ended since the token was checked.
      if (performance.now() - lastEndAt < MAX_WAIT_MS) void check(person, watched, () => isStillOpen(watched))
      return () => {
        entries.delete(watched)
        if (entries.size === 0 && byPerson.get(person) === entries) byPerson.delete(person)
      }
    },
  }
}
