/** Work that a trigger assigns to the process that runs the transaction, so that it skips the queue. */
import type pg from 'pg'
import type { Log } from '#server/base/log.ts'

export interface DirectDispatch {
  /** Transaction settings that allow a trigger to assign work to this process; empty while it has no free slot. */
  readonly settings: () => Readonly<Record<string, string>>
  /** Called after the commit. @param flushed resolves when the transaction is durable */
  readonly accept: (detail: string, flushed: Promise<void>) => void
}

const DISPATCH_CODE = 'ALCH1'

export interface Dispatches {
  settings(dispatch: DirectDispatch | undefined): Readonly<Record<string, string>>
  begin(client: pg.ClientBase): void
  collect(client: pg.ClientBase, code: string | undefined, detail: string): void
  deliver(client: pg.ClientBase, dispatch: DirectDispatch | undefined, flushed: () => Promise<void>): void
}

export function createDispatches(log: Log): Dispatches {
  const details = new WeakMap<pg.ClientBase, string[]>()
  return {
    settings(dispatch) {
      const settings = dispatch?.settings() ?? {}
      return Object.keys(settings).length > 0 ? { ...settings, client_min_messages: 'notice' } : {}
    },
    begin: (client) => void details.set(client, []),
    collect(client, code, detail) {
      if (code === DISPATCH_CODE) details.get(client)?.push(detail)
    },
    deliver(client, dispatch, flushed) {
      for (const detail of details.get(client) ?? []) {
        try {
          dispatch?.accept(detail, flushed())
        } catch (error) {
          // The transaction is committed, so the caller must not receive an error.
          log.error({ err: error }, 'directly dispatched work was not accepted')
        }
      }
    },
  }
}
