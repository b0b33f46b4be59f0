/**
 * What members of this node were told ahead of the database. When the notification of it comes, only those are told who
 * joined meanwhile; until then nothing more reaches them ahead, so that everybody hears a room in one order.
 */
import { type Channel } from './channels.ts'

/** A message whose transaction failed is never notified. */
const EXPIRY_MS = 60_000
const NO_CHANNELS: ReadonlySet<Channel> = new Set()

interface EarlyDelivery {
  readonly channels: ReadonlySet<Channel>
  readonly at: number
}

export interface EarlyDeliveries {
  /** Who of a room has heard everything of it that was told ahead, and so may be told the next. */
  upToDateMembers(members: ReadonlySet<Channel>, room: string): Channel[]
  record(room: string, id: string, channels: readonly Channel[]): void
  /** Whom a message that has now been notified had reached. */
  recipients(room: string, id: string): ReadonlySet<Channel>
  complete(room: string, id: string): void
  sweep(): void
}

export function createEarlyDeliveries(): EarlyDeliveries {
  const rooms = new Map<string, { readonly told: Map<string, EarlyDelivery>; last: ReadonlySet<Channel> }>()

  function forget(room: string, id: string): void {
    const of = rooms.get(room)
    of?.told.delete(id)
    if (of?.told.size === 0) rooms.delete(room)
  }

  return {
    upToDateMembers(members, room) {
      const of = rooms.get(room)
      // Whoever was told the last one was told those before it.
      return [...members].filter((channel) => of?.last.has(channel) ?? true)
    },
    record(room, id, told) {
      const of = rooms.get(room) ?? { told: new Map<string, EarlyDelivery>(), last: NO_CHANNELS }
      const channels = new Set(told)
      of.told.set(id, { channels, at: Date.now() })
      of.last = channels
      rooms.set(room, of)
    },
    recipients: (room, id) => rooms.get(room)?.told.get(id)?.channels ?? NO_CHANNELS,
    complete: forget,
    sweep() {
      for (const [room, { told }] of rooms)
        for (const [id, { at }] of told) if (Date.now() - at > EXPIRY_MS) forget(room, id)
    },
  }
}
