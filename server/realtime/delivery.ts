/** Reads each row with the role and claims of each subscriber, so that a socket reveals no more than a query would. */
import type { BatchReader } from '#server/database/batch-reader.ts'
import type { ApiRole } from '#server/database/scope.ts'
import { dropUnmatched, groupByAudience, isWorthPrefiltering, partitionByMention } from './audiences.ts'
import { matchesBinding, wantsOperation } from './bindings.ts'
import type { Catalogue, PublishedTable } from './catalogue.ts'
import type { Binding, Channel, Channels } from './channels.ts'
import type { Change } from './outbox.ts'
import { renderChange } from './render-change.ts'
import type { Retry } from './retry.ts'
import { visibleRowsQuery, type VisibleRow } from './rows.ts'
import type { Sender } from './sender.ts'
import { type Audience, readViews, type View, type ChangeMatch } from './views.ts'

const MAX_CONCURRENT_READS = 3
const MAX_SUBSCRIBERS_PER_READ = 50
export interface DeliveryOptions {
  readonly batchReader: BatchReader
  readonly catalogue: Catalogue
  readonly channels: Channels
  readonly sender: Sender
  readonly retry: Retry
}

export function createDelivery({ batchReader, catalogue, channels, sender, retry }: DeliveryOptions) {
  return async function deliver(changes: readonly Change[]): Promise<void> {
    const matches = await retry(() => matchChanges(changes))
    if (!matches || matches.length === 0) return
    const prefiltered = matches.filter(isWorthPrefiltering)
    const rows = await retry(() => readAsService(prefiltered))
    const remaining = rows ? dropUnmatched(matches, prefiltered, rows) : matches
    const [mentioned, others] = partitionByMention(groupByAudience(remaining), rows)
    await deliverToAudiences(mentioned)
    await deliverToAudiences(others)
  }

  async function matchChanges(changes: readonly Change[]): Promise<ChangeMatch[]> {
    const matches: ChangeMatch[] = []
    for (const change of changes) {
      const bindings = [...channels.bindingsOf(change.schema, change.table)].filter((binding) =>
        wantsOperation(binding, change.operation),
      )
      if (bindings.length === 0) continue
      const table = await catalogue.table(change.schema, change.table)
      if (table) matches.push({ change, table, bindings })
    }
    return matches
  }

  /** Lets delivery skip subscribers whose filters do not match. */
  async function readAsService(matches: readonly ChangeMatch[]): Promise<ReadonlyMap<Change, VisibleRow>> {
    const rows = new Map<Change, VisibleRow>()
    for (const [table, ofTable] of Map.groupBy(matches, ({ table: matched }) => matched)) {
      const query = visibleRowsQuery(table, 'service_role', ofTable.map(({ change }) => change)) // prettier-ignore
      const { text, values } = query
      const [result] = await batchReader.readAsEach('service_role', [
        { claims: { role: 'service_role' }, text, values },
      ])
      for (const [change, row] of query.decode(result?.rows ?? [])) rows.set(change, row)
    }
    return rows
  }

  const deliverMatches = (matches: readonly ChangeMatch[]): Promise<void> =>
    deliverToAudiences(groupByAudience(matches))

  async function deliverToAudiences(audiences: readonly Audience[]): Promise<void> {
    const waiting = [...Map.groupBy(audiences, ({ claims }) => claims.role)].flatMap(([role, ofRole]) =>
      inChunks(ofRole, MAX_SUBSCRIBERS_PER_READ).map((portion) => ({ role, portion })),
    )
    const readers = Array.from({ length: Math.min(MAX_CONCURRENT_READS, waiting.length) }, async () => {
      for (let next = waiting.pop(); next; next = waiting.pop()) await deliverToRole(next.role, next.portion)
    })
    await Promise.all(readers)
  }

  async function deliverToRole(role: ApiRole, audiences: readonly Audience[], isRepeated = false): Promise<void> {
    const views = await retry(() => readViews(batchReader, role, audiences))
    if (!views) {
      // A failed read of one subscriber must not withhold the row from the others.
      if (audiences.length > 1) for (const audience of audiences) await deliverToRole(role, [audience])
      // The schema may have changed since the change was recorded.
      else if (!isRepeated) await deliverToRole(role, await reloadTables(audiences), true)
      return
    }
    const moved: ChangeMatch[] = []
    for (const [index, { subscriber, matches }] of audiences.entries()) {
      for (const match of matches) {
        // A fresh token may have changed a channel's subscriber during the read.
        const movedBindings = match.bindings.filter(
          ({ channel }) => channel.isOpen && channel.subscriber !== subscriber,
        )
        if (movedBindings.length > 0) moved.push({ ...match, bindings: movedBindings })
        const view = views[index]?.get(match.change)
        if (view)
          sendToMatching(
            sender,
            { ...match, bindings: match.bindings.filter(({ channel }) => channel.subscriber === subscriber) },
            view,
          )
      }
    }
    if (moved.length > 0) await deliverMatches(moved)
  }

  async function reloadTables(audiences: readonly Audience[]): Promise<Audience[]> {
    catalogue.invalidate()
    const reloaded: Audience[] = []
    for (const audience of audiences) {
      const matches: ChangeMatch[] = []
      for (const match of audience.matches) {
        const table = await retry(() => catalogue.table(match.change.schema, match.change.table))
        if (table) matches.push({ ...match, table })
      }
      reloaded.push({ ...audience, matches })
    }
    return reloaded
  }
}

const inChunks = <Value>(values: readonly Value[], size: number): Value[][] =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, index) => values.slice(index * size, (index + 1) * size))

function sendToMatching(sender: Sender, { change, table, bindings }: ChangeMatch, view: View): void {
  const matching = bindings.filter(
    (binding) =>
      binding.filters.length === 0 || (view.values !== undefined && matchesBinding(binding, table, view.values)),
  )
  for (const [channel, own] of Map.groupBy(matching, (binding) => binding.channel)) {
    // Different columns need separate messages.
    for (const group of Map.groupBy(own, ({ select }) => (select ? [...select].sort().join() : '')).values()) {
      sendChange(sender, channel, change, table, group, view)
    }
  }
}

function sendChange(
  sender: Sender,
  channel: Channel,
  change: Change,
  table: PublishedTable,
  bindings: readonly Binding[],
  view: View,
): void {
  if (!channel.isOpen || channel.claims.exp * 1000 <= Date.now()) return
  const ids = JSON.stringify(bindings.map(({ id }) => id))
  const select = bindings[0]?.select
  const columns = table.columns.filter(
    ({ name }) => table.readable[channel.claims.role].has(name) && (select?.has(name) ?? true),
  )
  sender.push(channel, 'postgres_changes', `{"ids":${ids},"data":${renderChange(change, columns, view, select)}}`)
}
