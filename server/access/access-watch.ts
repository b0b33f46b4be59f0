/** Ends what is being sent to a person who loses the right to it, as soon as the database says that rights or sessions end. */
import { z } from 'zod'
import { parseJson } from '#server/base/json.ts'
import type { Log } from '#server/base/log.ts'
import type { Listener } from '#server/database/listen.ts'

/** Sent by the function `announce_access_change`. A change of a topic, without a person, concerns channels only. */
const accessChange = z.object({ person: z.uuid().nullable() })

interface Watched {
  /** Its end, also by a ban or with the account, ends the right at once. */
  readonly sessionId: string | undefined
  readonly isAllowed: () => Promise<boolean>
  readonly onLost: () => void
}

export interface AccessWatch {
  /** Asks again after each change of the person's rights; a failed question counts as a lost right. @returns what ends the watch */
  watch(person: string, watched: Watched): () => void
}

export async function openAccessWatch(listener: Listener, log: Log): Promise<AccessWatch & { stop: () => void }> {
  const byPerson = new Map<string, Set<Watched>>()

  async function check(person: string): Promise<void> {
    const entries = byPerson.get(person) ?? []
    await Promise.all(
      [...entries].map(async (entry) => {
        const isAllowed = await entry.isAllowed().catch((error: unknown) => {
          log.warn({ err: error }, 'the right to a response could not be read, it was broken off')
          return false
        })
        if (!isAllowed && byPerson.get(person)?.has(entry)) entry.onLost()
      }),
    )
  }

  const stopChanges = await listener.on('realtime_access_change', (payload) => {
    const { person } = accessChange.parse(parseJson(payload))
    if (person !== null) void check(person)
  })
  const stopSessions = await listener.on('realtime_session_end', (ended) => {
    for (const entries of byPerson.values())
      for (const entry of [...entries]) if (entry.sessionId === ended) entry.onLost()
  })
  // Changes may have been missed.
  listener.onReconnect(() => {
    for (const person of byPerson.keys()) void check(person)
  })

  return {
    stop() {
      stopChanges()
      stopSessions()
    },
    watch(person, watched) {
      const entries = byPerson.get(person) ?? new Set()
      byPerson.set(person, entries.add(watched))
      return () => {
        entries.delete(watched)
        if (entries.size === 0 && byPerson.get(person) === entries) byPerson.delete(person)
      }
    },
  }
}
