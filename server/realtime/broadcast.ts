/** All broadcasts pass through the database, so all nodes deliver in one order. */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Log } from '#server/base/log.ts'
import type { Listener } from '#server/database/listen.ts'
import type { Database } from '#server/database/scope.ts'
import { createBroadcastRelay } from './broadcast-relay.ts'
import { type Channel, type Channels, roomName } from './channels.ts'
import { createEarlyDeliveries } from './early-delivery.ts'
import { type BroadcastBody, broadcastPayload, encodeBroadcast, encodeFrame } from './frames.ts'
import type { Retry } from './retry.ts'
import type { Sender } from './sender.ts'
import { createWorkLoop } from './work-loop.ts'

export interface Broadcast {
  /** Without the wire prefix. */
  readonly topic: string
  readonly event: string
  readonly isPrivate: boolean
  readonly body: BroadcastBody
  /** Id of the sending channel; undefined for REST. */
  readonly from?: string
}

/** SQL of this node is about to send it with `realtime.send`; the payload holds this `id`. */
export interface EarlyBroadcast {
  readonly id: string
  readonly topic: string
  readonly event: string
  readonly payload: object
}

export interface Broadcasts {
  /** Resolves when the notification to every node is committed. */
  publish(broadcast: Broadcast): Promise<void>
  /** Delivers to members of a private room on this node; the later notification skips them. */
  readonly deliverEarly: (broadcast: EarlyBroadcast) => void
  /** Removes stored payloads of old broadcasts. */
  sweep(): Promise<void>
  close(): Promise<void>
}

const CHANNEL = 'realtime_broadcast'
/** Sender of broadcasts over REST; broadcasts from SQL have none. */
const REST = 'rest'
const envelopeSchema = z.object({
  id: z.uuid(),
  topic: z.string(),
  event: z.string(),
  private: z.boolean(),
  payload: z.unknown().optional(),
  stored: z.literal(true).optional(),
  /** Set if `payload` holds encoded bytes. */
  encoding: z.literal('base64').optional(),
  from: z.string().optional(),
})
type Envelope = z.output<typeof envelopeSchema>

export interface BroadcastOptions {
  readonly database: Database
  readonly listener: Listener
  readonly log: Log
  readonly channels: Channels
  readonly sender: Sender
  readonly retry: Retry
}

export async function createBroadcasts(options: BroadcastOptions): Promise<Broadcasts> {
  const { database, listener, log, channels, sender, retry } = options
  const received: Envelope[] = []
  const early = createEarlyDeliveries()
  const relay = createBroadcastRelay(database, log)
  const deliveryLoop = createWorkLoop(log, () => received.length > 0 && !isClosed, deliverNext)
  let isClosed = false

  const stop = await listener.on(CHANNEL, (payload) => {
    const parsed = envelopeSchema.safeParse(parseJson(payload))
    if (!parsed.success) return log.warn({ payload: payload.slice(0, 200) }, 'a broadcast notification is malformed')
    if (isClosed) return
    const room = roomName(parsed.data.topic, parsed.data.private)
    if (channels.members(room).size === 0) return early.complete(room, parsed.data.id)
    received.push(parsed.data)
    deliveryLoop.wake()
  })

  /** A stored broadcast delays later ones until its payload is read. */
  async function deliverNext(): Promise<void> {
    const next = received.shift()
    if (!next) return
    const room = roomName(next.topic, next.private)
    const delivered = early.recipients(room, next.id)
    if (!channels.members(room).isSubsetOf(delivered)) {
      const body = next.stored ? await retry(readStored(next)) : decodeBody(next)
      if (body) deliver(next, body, channels.members(room).difference(delivered))
    }
    early.complete(room, next.id)
  }

  function deliverEarly({ id, topic, event, payload }: EarlyBroadcast): void {
    const room = roomName(topic, true)
    const members = channels.members(room)
    if (isClosed || members.size === 0) return
    const audience = early.upToDateMembers(members, room)
    early.record(room, id, audience)
    deliver({ id, topic, event, private: true }, { json: JSON.stringify(payload) }, audience)
  }

  const readStored = (stored: Envelope) => async () => {
    const { rows } = await database.asService(
      (scope) =>
        scope.query<{ payload: string }>('select payload::text from realtime.messages where id = $1', [stored.id]),
      { readOnly: true },
    )
    const [row] = rows
    return row && decodeBody({ ...stored, payload: parseJson(row.payload) })
  }

  function decodeBody({ payload, encoding }: Envelope): BroadcastBody {
    return encoding === 'base64' && typeof payload === 'string'
      ? { bytes: Buffer.from(payload, 'base64') }
      : { json: JSON.stringify(payload ?? null) }
  }

  function deliver(
    { id, topic: name, event, from }: Envelope,
    body: BroadcastBody,
    recipients: Iterable<Channel>,
  ): void {
    const topic = `realtime:${name}`
    const meta = from === undefined ? JSON.stringify({ id }) : ''
    let binary: Buffer | string | undefined
    let text: string | undefined
    for (const channel of recipients) {
      if (!mayReceive(channel, from)) continue
      if (channel.connection.vsn === '2.0.0') {
        binary ??= encodeBroadcast(topic, event, meta, body)
        sender.frame(channel.connection, binary)
      } else if ('json' in body) {
        text ??= encodeFrame('1.0.0', { topic, event: 'broadcast', payload: broadcastPayload(event, meta, body.json) })
        sender.frame(channel.connection, text)
      }
    }
  }

  function publish({ topic, event, isPrivate, body, from = REST }: Broadcast): Promise<void> {
    const head = { id: randomUUID(), topic, event, private: isPrivate, from }
    const json =
      'json' in body
        ? `${JSON.stringify(head).slice(0, -1)},"payload":${body.json}}`
        : JSON.stringify({ ...head, encoding: 'base64', payload: body.bytes.toString('base64') })
    return relay.send(json)
  }

  return {
    publish,
    deliverEarly: deliverEarly,
    async sweep() {
      early.sweep()
      await database.asService((scope) =>
        scope.query(`delete from realtime.messages where inserted_at < now() - interval '15 minutes'`),
      )
    },
    async close() {
      isClosed = true
      stop()
      await relay.idle()
      await deliveryLoop.idle()
    },
  }
}

function mayReceive(channel: Channel, from: string | undefined): boolean {
  const isOwn = channel.id === from && !channel.receivesOwn
  return channel.isOpen && !isOwn && channel.permissions.broadcast.read && channel.claims.exp * 1000 > Date.now()
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
