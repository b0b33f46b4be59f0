/** Members that join before a notification get no early delivery until it arrives; this keeps one order per room. */
import type { Channel } from './channels.ts'

/** A broadcast of a failed transaction is never notified. */
const EXPIRY_MS = 60_000
const NO_CHANNELS: ReadonlySet<Channel> = new Set()

interface EarlyDelivery {
  readonly channels: ReadonlySet<Channel>
  readonly at: number
}

export interface EarlyDeliveries {
  /** Only members that received every early broadcast of the room can receive the next one early. */
  upToDateMembers(members: ReadonlySet<Channel>, room: string): Channel[]
  record(room: string, id: string, channels: readonly Channel[]): void
  recipients(room: string, id: string): ReadonlySet<Channel>
  complete(room: string, id: string): void
  sweep(): void
}

export function createEarlyDeliveries(): EarlyDeliveries {
  const rooms = new Map<string, { readonly deliveries: Map<string, EarlyDelivery>; last: ReadonlySet<Channel> }>()

  function forget(room: string, id: string): void {
    const state = rooms.get(room)
    state?.deliveries.delete(id)
    if (state?.deliveries.size === 0) rooms.delete(room)
  }

  return {
    upToDateMembers(members, room) {
      const state = rooms.get(room)
      // A recipient of the last one received all earlier ones.
      return [...members].filter((channel) => state?.last.has(channel) ?? true)
    },
    record(room, id, recipients) {
      const state = rooms.get(room) ?? { deliveries: new Map<string, EarlyDelivery>(), last: NO_CHANNELS }
      const channels = new Set(recipients)
      state.deliveries.set(id, { channels, at: Date.now() })
      state.last = channels
      rooms.set(room, state)
    },
    recipients: (room, id) => rooms.get(room)?.deliveries.get(id)?.channels ?? NO_CHANNELS,
    complete: forget,
    sweep() {
      for (const [room, { deliveries }] of rooms)
        for (const [id, { at }] of deliveries) if (Date.now() - at > EXPIRY_MS) forget(room, id)
    },
  }
}
