/** `realtime.presences` is the source of truth. A notification names a room; each node sends members the difference. */
import type { Log } from '#server/base/log.ts'
import type { Listener } from '#server/database/listen.ts'
import type { Database } from '#server/database/scope.ts'
import type { Channel, Channels } from './channels.ts'
import { createPresenceStore, type Presence, PRESENCE_CHANNEL, type PresenceMeta } from './presence-store.ts'
import type { Retry } from './retry.ts'
import type { Sender } from './sender.ts'
import { createWorkLoop, type WorkLoop } from './work-loop.ts'

type PresenceState = Record<string, { metas: Record<string, unknown>[] }>

export interface Presences {
  track(channel: Channel, meta: PresenceMeta): Promise<void>
  untrack(channel: Channel): Promise<void>
  /** Untracks a channel that has closed. */
  leave(channel: Channel): Promise<void>
  /** Sends the current state, then all changes. */
  watch(channel: Channel): void
  /** Rooms whose changes this node follows. */
  readonly roomCount: number
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
  /** By ref, as members on this node know them. */
  announced: Map<string, Presence>
  readonly watchers: Set<Channel>
  isStale: boolean
  readonly refreshLoop: WorkLoop
}

export async function createPresences(options: PresenceOptions): Promise<Presences> {
  const { database, listener, log, channels, sender, retry } = options
  const store = createPresenceStore(database)
  const tracked = new Map<Channel, PresenceMeta>()
  const rooms = new Map<string, Room>()

  const stop = await listener.on(PRESENCE_CHANNEL, refresh)
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
    const rows = await retry(() => store.readRoom(name))
    // Its last member may have left during the read.
    if (rows && rooms.get(name) === room) announce(name, room, new Map(rows.map((row) => [row.ref, row])))
  }

  function announce(name: string, room: Room, current: Map<string, Presence>): void {
    const joins = [...current.values()].filter(({ ref }) => !room.announced.has(ref))
    const leaves = [...room.announced.values()].filter(({ ref }) => !current.has(ref))
    room.announced = current
    const diff = JSON.stringify({ joins: presenceState(joins), leaves: presenceState(leaves) })
    const hasChanged = joins.length + leaves.length > 0
    for (const channel of channels.members(name)) {
      if (!channel.wantsPresence || !channel.permissions.presence.read) continue
      if (room.watchers.has(channel)) {
        if (hasChanged) sender.push(channel, 'presence_diff', diff)
      } else {
        room.watchers.add(channel)
        sender.push(channel, 'presence_state', JSON.stringify(presenceState(current.values())))
      }
    }
  }

  /** A channel may be untracked or tracked with another meta during the write: the last call counts. */
  async function write(entries: readonly (readonly [Channel, PresenceMeta])[]): Promise<void> {
    try {
      await store.write(entries)
    } finally {
      for (const [channel] of entries) if (!tracked.has(channel)) await retry(() => store.delete(channel))
    }
    const changed = entries.flatMap(([channel, meta]) => {
      const current = tracked.get(channel)
      return current === undefined || current === meta ? [] : [[channel, current] as const]
    })
    if (changed.length > 0) await write(changed)
  }

  async function untrack(channel: Channel): Promise<void> {
    if (!tracked.delete(channel)) return
    await retry(() => store.delete(channel))
  }

  return {
    get roomCount() {
      return rooms.size
    },
    async track(channel, meta) {
      tracked.set(channel, meta)
      await write([[channel, meta]])
    },
    untrack,
    async leave(channel) {
      const { room } = channel
      rooms.get(room)?.watchers.delete(channel)
      const members = channels.members(room).values()
      if (rooms.has(room) && !members.some(({ wantsPresence }) => wantsPresence)) rooms.delete(room)
      await untrack(channel)
    },
    watch(channel) {
      if (!rooms.has(channel.room)) rooms.set(channel.room, openRoom(channel.room))
      refresh(channel.room)
    },
    async heartbeat() {
      if (!store.isRegistered && rooms.size === 0) return store.removeLostNodes()
      const wasMissing = await store.heartbeat()
      // Another node removed this one while it was suspended, or PostgreSQL crashed.
      if (wasMissing && tracked.size > 0) {
        log.warn('this node was taken for gone; its presences are announced again')
        await write([...tracked])
      }
    },
    async close() {
      stop()
      for (const { refreshLoop: reading } of [...rooms.values()]) await reading.idle()
      await store.removeNode()
    },
  }
}

function presenceState(presences: Iterable<Presence>): PresenceState {
  const byKey = Map.groupBy(presences, ({ key }) => key)
  return Object.fromEntries(
    [...byKey].map(([key, own]) => [key, { metas: own.map(({ ref, meta }) => ({ ...meta, phx_ref: ref })) }]),
  )
}
