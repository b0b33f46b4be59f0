/**
 * Broadcasts between members of a room, on whatever nodes they are: every one goes through the database, so that all
 * nodes hear all of them in one order, whether a client, the REST route or SQL has sent it. Members of the node whose SQL
 * sends it may be told ahead.
 */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type Log } from '#server/base/log.ts'
import { isConnectionFailure } from '#server/database/errors.ts'
import { type Listener } from '#server/database/listen.ts'
import { type Database } from '#server/database/scope.ts'
import { type Channel, type Channels, roomName } from './channels.ts'
import { createEarlyDeliveries } from './early-delivery.ts'
import { type BroadcastBody, broadcastPayload, encodeBroadcast, encodeFrame } from './frames.ts'
import { createWorkLoop } from './work-loop.ts'
import { type Retry } from './retry.ts'
import { type Sender } from './sender.ts'

export interface Broadcast {
  /** Without the prefix of the wire. */
  readonly topic: string
  readonly event: string
  readonly isPrivate: boolean
  readonly body: BroadcastBody
  /** The channel that sent it, where one did. */
  readonly from?: string
}

/** What SQL of this node is about to send with `realtime.send`, in a payload that bears this `id`. */
export interface EarlyBroadcast {
  readonly id: string
  readonly topic: string
  readonly event: string
  readonly payload: object
}

export interface Broadcasts {
  /** Resolves when every node has been told. */
  publish(broadcast: Broadcast): Promise<void>
  /** Tells members of a private room on this node at once; the notification then passes over them. */
  readonly deliverEarly: (broadcast: EarlyBroadcast) => void
  /** Removes payloads that were stored on their way and have long been delivered. */
  sweep(): Promise<void>
  close(): Promise<void>
}

const CHANNEL = 'realtime_broadcast'
/** In `from` of what no channel sent, to tell it from what SQL sent. */
const REST = 'rest'
const MAX_BATCH_SIZE = 200

const envelope = z.object({
  id: z.uuid(),
  topic: z.string(),
  event: z.string(),
  private: z.boolean(),
  payload: z.unknown().optional(),
  stored: z.literal(true).optional(),
  /** Set where `payload` is a string that stands for bytes. */
  encoding: z.literal('base64').optional(),
  from: z.string().optional(),
})
type Envelope = z.output<typeof envelope>

interface PendingBroadcast {
  readonly json: string
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export interface BroadcastOptions {
  readonly database: Database
  readonly listener: Listener
  readonly log: Log
  readonly channels: Channels
  readonly sender: Sender
  readonly persevere: Retry
}

export async function createBroadcasts(options: BroadcastOptions): Promise<Broadcasts> {
  const { database, listener, log, channels, sender, persevere } = options
  const outgoing: PendingBroadcast[] = []
  const arrived: Envelope[] = []
  const ahead = createEarlyDeliveries()
  const sending = createWorkLoop(log, () => outgoing.length > 0, sendOutgoing)
  const delivering = createWorkLoop(log, () => arrived.length > 0 && !isClosed, deliverArrived)
  let isClosed = false

  const stop = await listener.on(CHANNEL, (payload) => {
    const parsed = envelope.safeParse(parseJson(payload))
    if (!parsed.success) return log.warn({ payload: payload.slice(0, 200) }, 'a broadcast that cannot be read')
    if (isClosed) return
    const room = roomName(parsed.data.topic, parsed.data.private)
    if (channels.members(room).size === 0) return ahead.complete(room, parsed.data.id)
    arrived.push(parsed.data)
    delivering.wake()
  })

  /** In order: one that was stored holds back those behind it until its payload is here. */
  async function deliverArrived(): Promise<void> {
    const next = arrived.shift()
    if (!next) return
    const room = roomName(next.topic, next.private)
    const told = ahead.recipients(room, next.id)
    if (!channels.members(room).isSubsetOf(told)) {
      const body = next.stored ? await persevere(readStored(next)) : bodyOf(next)
      if (body) deliver(next, body, channels.members(room).difference(told))
    }
    ahead.complete(room, next.id)
  }

  function tellAhead({ id, topic, event, payload }: EarlyBroadcast): void {
    const room = roomName(topic, true)
    const members = channels.members(room)
    if (isClosed || members.size === 0) return
    const audience = ahead.upToDateMembers(members, room)
    ahead.record(room, id, audience)
    deliver({ id, topic, event, private: true }, { json: JSON.stringify(payload) }, audience)
  }

  const readStored = (stored: Envelope) => async () => {
    const { rows } = await database.asService(
      (scope) =>
        scope.query<{ payload: string }>('select payload::text from realtime.messages where id = $1', [stored.id]),
      { readOnly: true },
    )
    const [row] = rows
    return row && bodyOf({ ...stored, payload: parseJson(row.payload) })
  }

  function bodyOf({ payload, encoding }: Envelope): BroadcastBody {
    return encoding === 'base64' && typeof payload === 'string'
      ? { bytes: Buffer.from(payload, 'base64') }
      : { json: JSON.stringify(payload ?? null) }
  }

  function deliver({ id, topic: name, event, from }: Envelope, body: BroadcastBody, to: Iterable<Channel>): void {
    const topic = `realtime:${name}`
    const meta = from === undefined ? JSON.stringify({ id }) : ''
    let binary: Buffer | string | undefined
    let text: string | undefined
    for (const channel of to) {
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
    return new Promise((resolve, reject) => {
      outgoing.push({ json, resolve, reject })
      sending.wake()
    })
  }

  /** What comes while one batch is on its way makes the next. */
  async function sendOutgoing(): Promise<void> {
    const batch = outgoing.splice(0, MAX_BATCH_SIZE)
    try {
      await relay(batch)
      for (const { resolve } of batch) resolve()
    } catch (error) {
      // jsonb refuses some of what JSON allows (a NUL character): that one must not take the others with it.
      if (isConnectionFailure(error) || batch.length === 1) for (const { reject } of batch) reject(error)
      else for (const one of batch) await relay([one]).then(one.resolve, one.reject)
    }
  }

  const relay = (batch: readonly PendingBroadcast[]) =>
    database.asService((scope) =>
      scope.query(
        `select realtime.relay(e.envelope) from unnest($1::jsonb[]) with ordinality as e (envelope, position) order by position`,
        [batch.map(({ json }) => json)],
      ),
    )

  return {
    publish,
    deliverEarly: tellAhead,
    async sweep() {
      ahead.sweep()
      await database.asService((scope) =>
        scope.query(`delete from realtime.messages where inserted_at < now() - interval '15 minutes'`),
      )
    },
    async close() {
      isClosed = true
      stop()
      await sending.idle()
      await delivering.idle()
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
