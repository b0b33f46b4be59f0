/** Sends a change to the bindings of one subscriber whose filters match the row as that subscriber sees it. */
import type { Batch } from './audiences.ts'
import type { PublishedTable } from './catalogue.ts'
import type { Binding, Channel } from './channels.ts'
import type { Change } from './outbox.ts'
import type { RowValues } from './parse-row.ts'
import { renderChange } from './render-change.ts'
import type { Sender } from './sender.ts'
import type { ChangeMatch, View } from './views.ts'

const MAX_SHOWN_FILTER = 200
/** Longer changes are rendered for each subscriber: a view is held until the slowest of them has its change. */
const MAX_HELD_CHARACTERS = 64 * 1024

export function createMatchingSender(sender: Sender) {
  const warned = new WeakSet<Binding>()
  /** The latest rendering of each view, which belongs to one role. */
  const rendered = new WeakMap<View, { readonly selectKey: string; readonly json: string }>()

  /** Renders once for consecutive subscribers who see the row alike and chose equal columns. */
  function render(change: Change, table: PublishedTable, { channel, select, selectKey }: Binding, view: View): string {
    const known = rendered.get(view)
    if (known?.selectKey === selectKey) return known.json
    const columns = table.columns.filter(
      ({ name }) => table.readable[channel.claims.role].has(name) && (select?.has(name) ?? true),
    )
    const json = renderChange(change, columns, view, select)
    if (json.length <= MAX_HELD_CHARACTERS) rendered.set(view, { selectKey, json })
    return json
  }

  function sendChange(
    channel: Channel,
    bindings: readonly [Binding, ...Binding[]],
    change: Change,
    table: PublishedTable,
    view: View,
  ): void {
    if (!channel.isOpen || channel.claims.exp * 1000 <= Date.now()) return
    const ids = JSON.stringify(bindings.map(({ id }) => id))
    sender.push(channel, 'postgres_changes', `{"ids":${ids},"data":${render(change, table, bindings[0], view)}}`)
  }

  /** Once for each binding. */
  function warn(channel: Channel, bindings: readonly Binding[]): void {
    for (const binding of bindings.filter((exceeding) => !warned.has(exceeding))) {
      warned.add(binding)
      const message =
        `The filter ${binding.filterText.slice(0, MAX_SHOWN_FILTER)} takes too much work, so changes are missing. ` +
        'Use a simpler pattern, fewer filters or shorter values'
      sender.system(channel, { extension: 'postgres_changes', status: 'error', message })
    }
  }

  /** Returns bindings whose channel has another subscriber by now: the row has to be read again for them. */
  return async function sendMatching(
    { change, table, bindings }: ChangeMatch,
    subscriber: string,
    view: View | undefined,
    { filters, slices }: Batch,
  ): Promise<Binding[]> {
    const moved: Binding[] = []
    for (const [channel, ofChannel] of Map.groupBy(bindings, (binding) => binding.channel)) {
      // Different columns need separate messages.
      for (const own of Map.groupBy(ofChannel, ({ selectKey }) => selectKey).values()) {
        if (slices.isOver) await slices.next()
        // Large rows come faster than any reader takes them.
        const room = sender.untilRoom(channel.connection)
        if (room) await room
        if (!channel.isOpen) continue
        // A fresh token may change the subscriber at each pause; nothing pauses between this and sending.
        if (channel.subscriber !== subscriber) moved.push(...own)
        else if (view) {
          const { exceeding = [], matching = [] } = Object.groupBy(own, (binding) => outcomeOf(binding, view))
          const [first, ...others] = matching
          if (first) sendChange(channel, [first, ...others], change, table, view)
          warn(channel, exceeding)
        }
      }
    }
    return moved

    function outcomeOf(binding: Binding, { values, isCut }: View): 'matching' | 'other' | 'exceeding' {
      if (binding.filters.length === 0) return 'matching'
      if (isCut && values && binding.filters.some(({ column }) => isMissing(column, values))) return 'exceeding'
      const isMatch = values === undefined ? false : filters.matches(binding, change, table, values)
      return isMatch === undefined ? 'exceeding' : isMatch ? 'matching' : 'other'
    }

    /** The value was too large to be read. */
    function isMissing(column: string, values: RowValues): boolean {
      return table.formats.has(column) && !Object.hasOwn(values, column)
    }
  }
}
