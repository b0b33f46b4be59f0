/**
 * What transactions announce to all servers. Where a message bus is open, the database raises a notice in place of NOTIFY,
 * and the server publishes it after the commit: PostgreSQL commits one notifying transaction at a time.
 */
import type pg from 'pg'
import { type Log } from '#server/base/log.ts'

export interface Notification {
  readonly channel: string
  readonly payload: string
}

/** A message bus that carries notifications to every server. */
export interface Notifier {
  /** While it is closed, transactions use NOTIFY. */
  readonly isOpen: boolean
  /** Notifies every server, this one included. Returns whether the bus has taken it. */
  notify(notification: Notification): boolean
}

/** SQLSTATE of the notice that `realtime.ring` raises in place of NOTIFY. */
const NOTIFICATION_CODE = 'ALCB1'
const RAISE_NOTICES = { 'alcove.bells': 'handed', client_min_messages: 'notice' }

export interface Notifications {
  /** Whether transactions raise notices at present. */
  readonly isOpen: boolean
  settings(): Readonly<Record<string, string>>
  /** Forgets what an earlier transaction of the connection left. */
  begin(client: pg.ClientBase): void
  collect(client: pg.ClientBase, code: string | undefined, channel: string | undefined, payload: string): void
  /** Publishes what the transaction announced. Only after the commit: receivers read what it wrote. */
  publish(client: pg.ClientBase): void
}

/** @param notify the fallback for what the bus does not take. */
export function createNotifications(
  bus: Notifier | undefined,
  notify: (notification: Notification) => Promise<unknown>,
  log: Log,
): Notifications {
  const collected = new WeakMap<pg.ClientBase, Map<string, Notification>>()
  return {
    get isOpen() {
      return bus?.isOpen ?? false
    },
    settings: () => (bus?.isOpen ? RAISE_NOTICES : {}),
    begin: (client) => void collected.delete(client),
    collect(client, code, channel, payload) {
      if (code !== NOTIFICATION_CODE || channel === undefined) return
      const own = collected.get(client) ?? new Map<string, Notification>()
      // As with NOTIFY, a transaction announces equal notifications once.
      collected.set(client, own.set(JSON.stringify([channel, payload]), { channel, payload }))
    },
    publish(client) {
      const own = collected.get(client)
      collected.delete(client)
      for (const notification of own?.values() ?? []) {
        if (bus?.notify(notification)) continue
        notify(notification).catch((error: unknown) =>
          log.warn({ err: error, channel: notification.channel }, 'a notification could not be sent'),
        )
      }
    },
  }
}
