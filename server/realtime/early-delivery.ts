/**
 * What members of this node were told ahead of the database. When the notification of it comes, only those are told who
 * joined meanwhile; until then nothing more reaches them ahead, so that everybody hears a room in one order.
 */
import { type Channel } from './channels.ts'

/** A message whose transaction failed is never notified. */
const FORGOTTEN_AFTER_MS = 60_000
const NOBODY: ReadonlySet<Channel> = new Set()

interface Told {
  readonly channels: ReadonlySet<Channel>
  readonly at: number
}

export interface Ahead {
  /** Who of a room has heard everything of it that was told ahead, and so may be told the next. */
  upToDate(members: ReadonlySet<Channel>, room: string): Channel[]
  note(room: string, id: string, channels: readonly Channel[]): void
  /** Whom a message that has now been notified had reached. */
  reached(room: string, id: string): ReadonlySet<Channel>
  notified(room: string, id: string): void
  sweep(): void
}

export function createAhead(): Ahead {
  const rooms = new Map<string, { readonly told: Map<string, Told>; last: ReadonlySet<Channel> }>()

  function forget(room: string, id: string): void {
    const of = rooms.get(room)
    of?.told.delete(id)
    if (of?.told.size === 0) rooms.delete(room)
  }

  return {
    upToDate(members, room) {
      const of = rooms.get(room)
      // Whoever was told the last one was told those before it.
      return [...members].filter((channel) => of?.last.has(channel) ?? true)
    },
    note(room, id, told) {
      const of = rooms.get(room) ?? { told: new Map<string, Told>(), last: NOBODY }
      const channels = new Set(told)
      of.told.set(id, { channels, at: Date.now() })
      of.last = channels
      rooms.set(room, of)
    },
    reached: (room, id) => rooms.get(room)?.told.get(id)?.channels ?? NOBODY,
    notified: forget,
    sweep() {
      for (const [room, { told }] of rooms)
        for (const [id, { at }] of told) if (Date.now() - at > FORGOTTEN_AFTER_MS) forget(room, id)
    },
  }
}
