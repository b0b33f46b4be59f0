/** Counts different filters of each socket and each person: every change is compared with all of them. */
import { type Binding, type Channel, type Connection, personOf } from './channels.ts'
import type { RealtimeLimits } from './limits.ts'

export interface FilterCounts {
  add(channel: Channel): void
  remove(channel: Channel): void
  /** Why the channel cannot have the bindings; undefined if it can. */
  excess(channel: Channel, bindings: readonly Binding[]): string | undefined
}

export function createFilterCounts({ filtersPerSocket, filtersPerPerson }: RealtimeLimits): FilterCounts {
  const byOwner = new Map<Connection | string, Map<string, number>>()
  /** As added: a fresh token may change the person of a channel. */
  const ownersOf = new WeakMap<Channel, readonly (Connection | string)[]>()

  const keysOf = (bindings: readonly Binding[]) =>
    bindings.flatMap(({ schema, table, filterText }) =>
      filterText === '' ? [] : [JSON.stringify([schema, table ?? '*', filterText])],
    )

  function change(owner: Connection | string, keys: readonly string[], step: 1 | -1): void {
    const counts = byOwner.get(owner) ?? new Map<string, number>()
    for (const key of keys) {
      const count = (counts.get(key) ?? 0) + step
      if (count > 0) counts.set(key, count)
      else counts.delete(key)
    }
    if (counts.size > 0) byOwner.set(owner, counts)
    else byOwner.delete(owner)
  }

  function exceeds(owner: Connection | string, keys: readonly string[], limit: number): boolean {
    const counts = byOwner.get(owner)
    const added = new Set(keys.filter((key) => !counts?.has(key)))
    return added.size > 0 && (counts?.size ?? 0) + added.size > limit
  }

  return {
    add(channel) {
      const owners = [channel.connection, personOf(channel)]
      ownersOf.set(channel, owners)
      for (const owner of owners) change(owner, keysOf(channel.bindings), 1)
    },
    remove(channel) {
      for (const owner of ownersOf.get(channel) ?? []) change(owner, keysOf(channel.bindings), -1)
      ownersOf.delete(channel)
    },
    excess(channel, bindings) {
      const keys = keysOf(bindings)
      if (exceeds(channel.connection, keys, filtersPerSocket)) {
        return `Too many filters on one connection: at most ${filtersPerSocket} different ones`
      }
      if (exceeds(personOf(channel), keys, filtersPerPerson)) {
        return `Too many filters of one user: at most ${filtersPerPerson} different ones on all connections`
      }
      return undefined
    },
  }
}
