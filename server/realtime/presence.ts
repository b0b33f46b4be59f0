/**
 * Presence in rooms. The rows of `realtime.presences` are the source of truth for all nodes. A notification names a
 * changed room, and each node sends its members the difference to what it announced before.
 */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type Log } from '#server/base/log.ts'
import { type Listener } from '#server/database/listen.ts'
import { type Database } from '#server/database/scope.ts'
import { type Channel, type Channels } from './channels.ts'
import { type Retry } from './retry.ts'
import { type Sender } from './sender.ts'
import { createWorkLoop, type WorkLoop } from './work-loop.ts'

const CHANNEL = 'realtime_presence'
/** A node counts as lost after three missed heartbeats. */
const NODE_TIMEOUT = '30 seconds'

const presenceSchema = z.object({ ref: z.string(), key: z.string(), meta: z.record(z.string(), z.unknown()) })
type Presence = z.output<typeof presenceSchema>
type PresenceState = Record<string, { metas: Record<string, unknown>[] }>

export interface Presences {
  track(channel: Channel, meta: Readonly<Record<string, unknown>>): Promise<void>
  untrack(channel: Channel): Promise<void>
  /** Sends the current presence state to a channel that joined, then all changes. */
  watch(channel: Channel): void
  /** Keeps this node's presences alive and removes those of lost nodes. */
  heartbeat(): Promise<void>
  close(): Promise<void>
}

export interface PresenceOptions {
  readonly database: Database
  readonly listener: Listener
  readonly log: Log
  readonly channels: Channels
  readonly sender: Sender
  readonly retry: Retry
}

interface Room {
  /** Presences that members on this node know, by ref. */
  announced: Map<string, Presence>
  readonly watchers: Set<Channel>
  isStale: boolean
  readonly refreshLoop: WorkLoop
}

export async function createPresences(options: PresenceOptions): Promise<Presences> {
  const { database, listener, log, channels, sender, retry } = options
  const node = randomUUID()
  const tracked = new Map<Channel, Readonly<Record<string, unknown>>>()
  const rooms = new Map<string, Room>()
  let isRegistered = false

  const stop = await listener.on(CHANNEL, refresh)
  listener.onReconnect(() => {
    for (const name of rooms.keys()) refresh(name)
  })

  function refresh(name: string): void {
    const room = rooms.get(name)
    if (!room) return
    room.isStale = true
    room.refreshLoop.wake()
  }

  function openRoom(name: string): Room {
    const room: Room = {
      announced: new Map(),
      watchers: new Set(),
      isStale: false,
      refreshLoop: createWorkLoop(
        log,
        () => room.isStale,
        () => readRoom(name, room),
      ),
    }
    return room
  }

  async function readRoom(name: string, room: Room): Promise<void> {
    room.isStale = false
    const rows = await retry(async () => {
      const read = await database.asService(
        (scope) =>
          scope.query('select ref, key, meta from realtime.presences where room = $1 order by tracked_at, ref', [name]),
        { readOnly: true },
      )
      return z.array(presenceSchema).parse(read.rows)
    })
    if (rows) announce(name, room, new Map(rows.map((row) => [row.ref, row])))
  }

  function announce(name: string, room: Room, current: Map<string, Presence>): void {
    const joins = [...current.values()].filter(({ ref }) => !room.announced.has(ref))
    const leaves = [...room.announced.values()].filter(({ ref }) => !current.has(ref))
    room.announced = current
    const diff = JSON.stringify({ joins: presenceState(joins), leaves: presenceState(leaves) })
    const hasChanged = joins.length + leaves.length > 0
    let isWatched = false
    for (const channel of channels.members(name)) {
      if (!channel.wantsPresence || !channel.permissions.presence.read) continue
      isWatched = true
      if (room.watchers.has(channel)) {
        if (hasChanged) sender.push(channel, 'presence_diff', diff)
      } else {
        room.watchers.add(channel)
        sender.push(channel, 'presence_state', JSON.stringify(presenceState(current.values())))
      }
    }
    for (const channel of room.watchers) if (!channel.isOpen) room.watchers.delete(channel)
    if (!isWatched) rooms.delete(name)
  }

  async function write(entries: readonly (readonly [Channel, Readonly<Record<string, unknown>>])[]): Promise<void> {
    await database.asService(async (scope) => {
      if (!isRegistered)
        await scope.query(
          'insert into realtime.nodes (id) values ($1) on conflict (id) do update set seen_at = now()',
          [node],
        )
      await scope.query(
        `insert into realtime.presences (channel, ref, node, room, key, meta)
         select p.channel, gen_random_uuid()::text, $1, p.room, p.key, p.meta
         from jsonb_to_recordset($2) as p (channel uuid, room text, key text, meta jsonb)
         on conflict (channel) do update set ref = excluded.ref, meta = excluded.meta, tracked_at = excluded.tracked_at`,
        [
          node,
          JSON.stringify(
            entries.map(([{ id, room, presenceKey }, meta]) => ({ channel: id, room, key: presenceKey, meta })),
          ),
        ],
      )
      await scope.query('select realtime.ring($1, room) from (select distinct unnest($2::text[]) as room) r', [
        CHANNEL,
        entries.map(([{ room }]) => room),
      ])
    })
    isRegistered = true
  }

  return {
    async track(channel, meta) {
      tracked.set(channel, meta)
      await write([[channel, meta]])
    },
    async untrack(channel) {
      if (!tracked.delete(channel)) return
      await retry(() =>
        database.asService((scope) =>
          scope.query(
            `with gone as (delete from realtime.presences where channel = $1 returning room)
             select realtime.ring($2, room) from gone`,
            [channel.id, CHANNEL],
          ),
        ),
      )
    },
    watch(channel) {
      if (!rooms.has(channel.room)) rooms.set(channel.room, openRoom(channel.room))
      refresh(channel.room)
    },
    async heartbeat() {
      if (!isRegistered && rooms.size === 0) return
      const { rows } = await database.asService((scope) =>
        scope.query<{ isNew: boolean }>(
          `with gone as (delete from realtime.nodes where seen_at < now() - $2::interval and id <> $1 returning id),
             left_rooms as (select distinct p.room from realtime.presences p join gone on gone.id = p.node),
             told as (select realtime.ring($3, room) from left_rooms)
           insert into realtime.nodes (id)
           select $1 from (select count(*) from told) t
           on conflict (id) do update set seen_at = now()
           returning xmax = 0 as "isNew"`,
          [node, NODE_TIMEOUT, CHANNEL],
        ),
      )
      // Another node removed this one while it was suspended, or PostgreSQL crashed.
      isRegistered = true
      if (rows[0]?.isNew && tracked.size > 0) {
        log.warn('this node was taken for gone; its presences are announced again')
        await write([...tracked])
      }
    },
    async close() {
      stop()
      for (const { refreshLoop: reading } of [...rooms.values()]) await reading.idle()
      if (!isRegistered) return
      await database.asService((scope) =>
        scope.query(
          `with gone as (delete from realtime.presences where node = $1 returning room),
             left_node as (delete from realtime.nodes where id = $1)
           select realtime.ring($2, room) from (select distinct room from gone) r`,
          [node, CHANNEL],
        ),
      )
    },
  }
}

function presenceState(presences: Iterable<Presence>): PresenceState {
  const byKey = Map.groupBy(presences, ({ key }) => key)
  return Object.fromEntries(
    [...byKey].map(([key, own]) => [key, { metas: own.map(({ ref, meta }) => ({ ...meta, phx_ref: ref })) }]),
  )
}
