/**
 * A payload that is too large for a notification stays in the memory of the node that received it. It is stored only when
 * another node, which has listeners, asks for it.
 */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Log } from '#server/base/log.ts'
import type { Listener } from '#server/database/listen.ts'
import type { Database } from '#server/database/scope.ts'
import type { Retry } from './retry.ts'

const WANTED_CHANNEL = 'realtime_broadcast_wanted'
const STORED_CHANNEL = 'realtime_broadcast_stored'
const HOLD_MS = 15_000
const WAIT_MS = 5_000
/** Beyond it the oldest are dropped; this node delivers its own within milliseconds. */
const MAX_HELD_CHARACTERS = 64 * 1024 * 1024

const wantedSchema = z.object({ id: z.uuid(), holder: z.uuid() })

export interface HeldPayload {
  readonly topic: string
  readonly event: string
  readonly isPrivate: boolean
  /** JSON, or bytes in base64. */
  readonly text: string
}

export interface HeldPayloads {
  /** Id of this node, for the notification. */
  readonly holder: string
  hold(id: string, payload: HeldPayload): void
  drop(id: string): void
  /** From the memory of this node, or from the other node through the database. */
  take(id: string, holder: string): Promise<string | undefined>
  sweep(): void
  close(): void
}

export interface HeldPayloadOptions {
  readonly database: Database
  readonly listener: Listener
  readonly log: Log
  readonly retry: Retry
}

interface Held extends HeldPayload {
  readonly at: number
  isStored: boolean
}

export async function createHeldPayloads({
  database,
  listener,
  log,
  retry,
}: HeldPayloadOptions): Promise<HeldPayloads> {
  const node = randomUUID()
  const held = new Map<string, Held>()
  const waiting = new Map<string, () => void>()
  let heldCharacters = 0

  const stops = [
    await listener.on(WANTED_CHANNEL, (payload) => {
      const wanted = wantedSchema.safeParse(parseJson(payload))
      if (!wanted.success) return log.warn({ payload: payload.slice(0, 200) }, 'a request for a payload is malformed')
      if (wanted.data.holder === node) void retry(() => store(wanted.data.id))
    }),
    await listener.on(STORED_CHANNEL, (id) => waiting.get(id)?.()),
  ]

  /**
   * Stores a payload for the first node that asks: its row stays longer than the payload is held. Notifies without a row too,
   * so that no node waits for a payload that is gone.
   */
  async function store(id: string): Promise<void> {
    const payload = held.get(id)
    await database.asService(async (scope) => {
      if (payload && !payload.isStored) {
        await scope.query(
          `insert into realtime.messages (id, topic, extension, payload, event, private)
           values ($1, $2, 'held', to_jsonb($3::text), $4, $5) on conflict (id) do nothing`,
          [id, payload.topic, payload.text, payload.event, payload.isPrivate],
        )
      }
      await scope.query('select realtime.ring($1, $2)', [STORED_CHANNEL, id])
    })
    if (payload) payload.isStored = true
  }

  async function fetchStored(id: string, holder: string): Promise<string | undefined> {
    const isStored = Promise.withResolvers<undefined>()
    const endWait = () => isStored.resolve(undefined)
    const timer = setTimeout(endWait, WAIT_MS)
    waiting.set(id, endWait)
    try {
      await retry(() =>
        database.serviceStatement('select realtime.ring($1, $2)', [WANTED_CHANNEL, JSON.stringify({ id, holder })]),
      )
      await isStored.promise
    } finally {
      clearTimeout(timer)
      waiting.delete(id)
    }
    const stored = await retry(() =>
      database.asService(
        (scope) =>
          scope.query<{ text: string }>(`select payload #>> '{}' as text from realtime.messages where id = $1`, [id]),
        { readOnly: true },
      ),
    )
    return stored?.rows[0]?.text
  }

  function drop(id: string): void {
    heldCharacters -= held.get(id)?.text.length ?? 0
    held.delete(id)
  }

  return {
    holder: node,
    hold(id, payload) {
      held.set(id, { ...payload, at: Date.now(), isStored: false })
      heldCharacters += payload.text.length
      for (const oldest of held.keys()) {
        if (heldCharacters <= MAX_HELD_CHARACTERS) return
        drop(oldest)
      }
    },
    drop,
    take: async (id, holder) => (holder === node ? held.get(id)?.text : fetchStored(id, holder)),
    sweep() {
      for (const [id, { at }] of held) if (Date.now() - at > HOLD_MS) drop(id)
    },
    close() {
      for (const stop of stops) stop()
      for (const endWait of waiting.values()) endWait()
    },
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
