/** All broadcasts pass through the database, so all nodes deliver those of a room in one order. */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Log } from '#server/base/log.ts'
import { deleteInBatches, inBatch } from '#server/database/batches.ts'
import type { Listener } from '#server/database/listen.ts'
import type { Database } from '#server/database/scope.ts'
import { createBroadcastRelay } from './broadcast-relay.ts'
import { type Channel, type Channels, roomName } from './channels.ts'
import { createEarlyDeliveries } from './early-delivery.ts'
import { type BroadcastBody, broadcastPayload, encodeBroadcast, encodeFrame } from './frames.ts'
import { createHeldPayloads } from './held-payloads.ts'
import type { Retry } from './retry.ts'
import type { Sender } from './sender.ts'
import { createWorkLoop, type WorkLoop } from './work-loop.ts'

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
/** PostgreSQL takes payloads of notifications up to 7,999 bytes. */
const MAX_NOTIFIED_BYTES = 7_500
const DELETE_DELIVERED = `
  delete from realtime.messages where ${inBatch(`realtime.messages
    where inserted_at < now() - interval '1 minute'
      and (extension = 'held' or inserted_at < now() - interval '15 minutes')`)}`
/** Sender of broadcasts over REST; broadcasts from SQL have none. */
const REST = 'rest'
const envelopeSchema = z.object({
  id: z.uuid(),
  topic: z.string(),
  event: z.string(),
  private: z.boolean(),
  payload: z.unknown().optional(),
  /** The payload is in `realtime.messages`, or with `holder`. */
  stored: z.literal(true).optional(),
  /** Node that holds the payload in its memory. */
  holder: z.uuid().optional(),
  /** Set if `payload` holds encoded bytes. */
  encoding: z.literal('base64').optional(),
  from: z.string().optional(),
})
type Envelope = z.output<typeof envelopeSchema>

interface RoomQueue {
  readonly waiting: Envelope[]
  readonly deliveryLoop: WorkLoop
}

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
  const rooms = new Map<string, RoomQueue>()
  const early = createEarlyDeliveries()
  const held = await createHeldPayloads(options)
  const relay = createBroadcastRelay(database, log)
  let isClosed = false

  const stop = await listener.on(CHANNEL, (payload) => {
    const parsed = envelopeSchema.safeParse(parseJson(payload))
    if (!parsed.success) return log.warn({ characters: payload.length }, 'a broadcast notification is malformed')
    if (isClosed) return
    const room = roomName(parsed.data.topic, parsed.data.private)
    if (channels.members(room).size === 0) return early.complete(room, parsed.data.id)
    const queue = rooms.get(room) ?? openQueue(room)
    queue.waiting.push(parsed.data)
    queue.deliveryLoop.wake()
  })

  function openQueue(room: string): RoomQueue {
    const waiting: Envelope[] = []
    const deliveryLoop = createWorkLoop(
      log,
      () => waiting.length > 0 && !isClosed,
      () => deliverNext(room, waiting),
    )
    const queue = { waiting, deliveryLoop }
    rooms.set(room, queue)
    return queue
  }

  /** A payload that must be read first delays later ones of its room only. */
  async function deliverNext(room: string, waiting: Envelope[]): Promise<void> {
    const next = waiting.shift()
    try {
      if (next) await deliverToRoom(room, next)
    } finally {
      if (waiting.length === 0) rooms.delete(room)
    }
  }

  async function deliverToRoom(room: string, next: Envelope): Promise<void> {
    const delivered = early.recipients(room, next.id)
    if (!channels.members(room).isSubsetOf(delivered)) {
      const body = await readBody(next)
      if (body) deliver(next, body, channels.members(room).difference(delivered))
    }
    early.complete(room, next.id)
  }

  async function readBody(envelope: Envelope): Promise<BroadcastBody | undefined> {
    const { id, holder, stored, encoding } = envelope
    if (holder === undefined) return stored ? retry(readStored(envelope)) : decodeBody(envelope)
    const text = await held.take(id, holder)
    if (text === undefined) log.warn({ id }, 'the payload of a broadcast did not come from its node')
    else return encoding === 'base64' ? { bytes: Buffer.from(text, 'base64') } : { json: text }
    return undefined
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

  async function publish({ topic, event, isPrivate, body, from = REST }: Broadcast): Promise<void> {
    const id = randomUUID()
    const head = { id, topic, event, private: isPrivate, from, ...('json' in body ? {} : { encoding: 'base64' }) }
    const text = 'json' in body ? body.json : body.bytes.toString('base64')
    const whole = `${JSON.stringify(head).slice(0, -1)},"payload":${'json' in body ? text : JSON.stringify(text)}}`
    if (Buffer.byteLength(whole) <= MAX_NOTIFIED_BYTES) return relay.send(whole)
    held.hold(id, { topic, event, isPrivate, text })
    try {
      await relay.send(JSON.stringify({ ...head, stored: true, holder: held.holder }))
    } catch (error) {
      held.drop(id)
      throw error
    }
  }

  return {
    publish,
    deliverEarly,
    async sweep() {
      early.sweep()
      held.sweep()
      await deleteInBatches(() => database.asService((scope) => scope.query(DELETE_DELIVERED)))
    },
    async close() {
      isClosed = true
      stop()
      await relay.idle()
      held.close()
      for (const { deliveryLoop } of [...rooms.values()]) await deliveryLoop.idle()
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
