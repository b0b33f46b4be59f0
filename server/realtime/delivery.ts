/** Reads each row with the role and claims of each subscriber, so that a socket reveals no more than a query would. */
import { startTimeSlices } from '#server/base/time-slices.ts'
import type { BatchReader } from '#server/database/batch-reader.ts'
import type { ApiRole } from '#server/database/scope.ts'
import { type Batch, dropUnmatched, groupByAudience, isWorthPrefiltering, partitionByMention } from './audiences.ts'
import { wantsOperation } from './bindings.ts'
import type { Catalogue } from './catalogue.ts'
import { createChangeFilters } from './change-filters.ts'
import type { Channels } from './channels.ts'
import type { FilterWork } from './filter-work.ts'
import type { Change } from './outbox.ts'
import { createRowParser, type ParseRow } from './parse-row.ts'
import type { Retry } from './retry.ts'
import { visibleRowsQuery, type VisibleRow } from './rows.ts'
import { createMatchingSender } from './send-matching.ts'
import type { Sender } from './sender.ts'
import { type Audience, type ChangeMatch, readViews } from './views.ts'

const MAX_CONCURRENT_READS = 3
const MAX_SUBSCRIBERS_PER_READ = 50

interface DeliveryBatch extends Batch {
  readonly parseRow: ParseRow
}

export interface DeliveryOptions {
  readonly batchReader: BatchReader
  readonly catalogue: Catalogue
  readonly channels: Channels
  readonly sender: Sender
  readonly filterWork: FilterWork
  readonly retry: Retry
}

export function createDelivery({ batchReader, catalogue, channels, sender, filterWork, retry }: DeliveryOptions) {
  const sendMatching = createMatchingSender(sender)

  return async function deliver(changes: readonly Change[]): Promise<void> {
    const batch = {
      filters: createChangeFilters(filterWork),
      slices: startTimeSlices(),
      parseRow: createRowParser(),
    }
    const matches = await retry(() => matchChanges(changes, batch))
    if (!matches || matches.length === 0) return
    const prefiltered = matches.filter(isWorthPrefiltering)
    const rows = await retry(() => readAsService(prefiltered, batch))
    const remaining = rows ? await dropUnmatched(matches, prefiltered, rows, batch) : matches
    const audiences = await groupByAudience(remaining, batch.slices)
    const [mentioned, others] = await partitionByMention(audiences, rows, batch.slices)
    await deliverToAudiences(mentioned, batch)
    await deliverToAudiences(others, batch)
  }

  async function matchChanges(changes: readonly Change[], { slices }: DeliveryBatch): Promise<ChangeMatch[]> {
    const matches: ChangeMatch[] = []
    for (const change of changes) {
      if (slices.isOver) await slices.next()
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
  async function readAsService(
    matches: readonly ChangeMatch[],
    { parseRow }: DeliveryBatch,
  ): Promise<ReadonlyMap<Change, VisibleRow>> {
    const rows = new Map<Change, VisibleRow>()
    for (const [table, ofTable] of Map.groupBy(matches, ({ table: matched }) => matched)) {
      const query = visibleRowsQuery(table, 'service_role', ofTable.map(({ change }) => change), parseRow) // prettier-ignore
      const { text, values } = query
      const [result] = await batchReader.readAsEach('service_role', [
        { claims: { role: 'service_role' }, text, values },
      ])
      for (const [change, row] of query.decode(result?.rows ?? [])) rows.set(change, row)
    }
    return rows
  }

  async function deliverToAudiences(audiences: readonly Audience[], batch: DeliveryBatch): Promise<void> {
    const waiting = [...Map.groupBy(audiences, ({ claims }) => claims.role)].flatMap(([role, ofRole]) =>
      inChunks(ofRole, MAX_SUBSCRIBERS_PER_READ).map((portion) => ({ role, portion })),
    )
    const readers = Array.from({ length: Math.min(MAX_CONCURRENT_READS, waiting.length) }, async () => {
      for (let next = waiting.pop(); next; next = waiting.pop()) await deliverToRole(next.role, next.portion, batch)
    })
    await Promise.all(readers)
  }

  async function deliverToRole(
    role: ApiRole,
    audiences: readonly Audience[],
    batch: DeliveryBatch,
    isRepeated = false,
  ): Promise<void> {
    const views = await retry(() => readViews(batchReader, role, audiences, batch))
    if (!views) {
      // A failed read of one subscriber must not withhold the row from the others.
      if (audiences.length > 1) for (const audience of audiences) await deliverToRole(role, [audience], batch)
      // The schema may have changed since the change was recorded.
      else if (!isRepeated) await deliverToRole(role, await reloadTables(audiences), batch, true)
      return
    }
    const moved: ChangeMatch[] = []
    for (const [index, { subscriber, matches }] of audiences.entries()) {
      for (const match of matches) {
        const view = views[index]?.get(match.change)
        const movedBindings = await sendMatching(match, subscriber, view, batch)
        if (movedBindings.length > 0) moved.push({ ...match, bindings: movedBindings })
      }
    }
    if (moved.length > 0) await deliverToAudiences(await groupByAudience(moved, batch.slices), batch)
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
