import type pg from 'pg'
import type { Log } from '#server/base/log.ts'

export interface Notification {
  readonly channel: string
  readonly payload: string
}

export interface Notifier {
  readonly isOpen: boolean
  notify(notification: Notification): boolean
}

const NOTIFICATION_CODE = 'ALCB1'
const RAISE_NOTICES = { 'alcove.bells': 'handed', client_min_messages: 'notice' }

export interface Notifications {
  readonly isOpen: boolean
  settings(): Readonly<Record<string, string>>
  begin(client: pg.ClientBase): void
  collect(client: pg.ClientBase, code: string | undefined, channel: string | undefined, payload: string): void
  /** Call only after the commit: receivers read the written rows. */
  publish(client: pg.ClientBase): void
}

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
      // Like NOTIFY, a transaction sends equal notifications once.
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
