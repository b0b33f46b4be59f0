import type { Log } from '#server/base/log.ts'
import type { Database } from '#server/database/scope.ts'
import { createWorkLoop } from './work-loop.ts'

const MAX_BATCH_SIZE = 200

interface PendingBroadcast {
  readonly json: string
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export function createBroadcastRelay(database: Database, log: Log) {
  const outgoing: PendingBroadcast[] = []
  const sendLoop = createWorkLoop(log, () => outgoing.length > 0, sendOutgoing)

  /** Broadcasts that arrive during one batch form the next batch. */
  async function sendOutgoing(): Promise<void> {
    const batch = outgoing.splice(0, MAX_BATCH_SIZE)
    try {
      await relay(batch)
      for (const { resolve } of batch) resolve()
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  /** As text: jsonb would write a number such as 1e99999 with all its digits. */
  const relay = (batch: readonly PendingBroadcast[]) =>
    database.asService((scope) =>
      scope.query(
        `select realtime.ring('realtime_broadcast', e.envelope)
         from unnest($1::text[]) with ordinality as e (envelope, position) order by position`,
        [batch.map(({ json }) => json)],
      ),
    )

  return {
    /** Resolves when the broadcast is committed. */
    send: (json: string): Promise<void> =>
      new Promise((resolve, reject) => {
        outgoing.push({ json, resolve, reject })
        sendLoop.wake()
      }),
    idle: () => sendLoop.idle(),
  }
}
