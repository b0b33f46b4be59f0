/** Reads each row with the role and claims of each subscriber, so that a socket reveals no more than a query would. */
import { startTimeSlices } from '#server/base/time-slices.ts'
import type { BatchReader } from '#server/database/batch-reader.ts'
import type { ApiRole } from '#server/database/scope.ts'
import { type Batch, dropUnmatched, groupByAudience, isWorthPrefiltering, partitionByMention } from './audiences.ts'
import { wantsOperation } from './bindings.ts'
import type { Catalogue, PublishedTable } from './catalogue.ts'
import { createChangeFilters } from './change-filters.ts'
import type { Channels } from './channels.ts'
import type { FilterWork } from './filter-work.ts'
import type { Change } from './outbox.ts'
import { createRowParser, type ParseRow } from './parse-row.ts'
import type { Retry } from './retry.ts'
import { isTooMuch, visibleRowsQuery, type VisibleRow } from './rows.ts'
import { createMatchingSender } from './send-matching.ts'
import type { Sender } from './sender.ts'
import { type Audience, type ChangeMatch, readViews } from './views.ts'

const MAX_CONCURRENT_READS = 3
const MAX_SUBSCRIBERS_PER_READ = 50
/** Characters of old rows that one read sends to PostgreSQL, which each subscriber's policies are asked about. */
const MAX_OLD_CHARACTERS_PER_READ = 16 * 1024 * 1024
/** For filters alone, so that a batch of large rows stays small; a missing column is matched again for each subscriber. */
const MAX_PREFILTERED_ROW_BYTES = 16 * 1024

const TOO_MUCH = Symbol('the rows are too large to be read together')

interface DeliveryBatch extends Batch {
  /** In the order of delivery. */
  readonly changes: readonly Change[]
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
      changes,
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
      const changes = ofTable.map(({ change }) => change)
      for (const [change, row] of await readRows(table, changes, parseRow)) rows.set(change, row)
    }
    return rows
  }

  async function readRows(
    table: PublishedTable,
    changes: readonly Change[],
    parseRow: ParseRow,
  ): Promise<(readonly [Change, VisibleRow])[]> {
    const { text, values, decode } = visibleRowsQuery(table, 'service_role', changes, parseRow, MAX_PREFILTERED_ROW_BYTES) // prettier-ignore
    try {
      const [result] = await batchReader.readAsEach('service_role', [
        { claims: { role: 'service_role' }, text, values },
      ])
      return [...decode(result?.rows ?? [])]
    } catch (error) {
      if (!isTooMuch(error) || changes.length === 1) throw error
      const read: (readonly [Change, VisibleRow])[] = []
      for (const half of inHalves(changes)) read.push(...(await readRows(table, half, parseRow)))
      return read
    }
  }

  async function deliverToAudiences(audiences: readonly Audience[], batch: DeliveryBatch): Promise<void> {
    const waiting = [...Map.groupBy(audiences, ({ claims }) => claims.role)].flatMap(([role, ofRole]) =>
      inChunks(ofRole, subscribersPerRead(ofRole)).map((portion) => ({ role, portion })),
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
    let smaller: readonly (readonly Audience[])[] = []
    const views = await retry(async () => {
      try {
        return await readViews(batchReader, role, audiences, batch)
      } catch (error) {
        if (isTooMuch(error)) smaller = splitAudiences(audiences, batch.changes)
        if (smaller.length > 0) return TOO_MUCH
        throw error
      }
    })
    if (views === TOO_MUCH) {
      for (const portion of smaller) await deliverToRole(role, portion, batch)
      return
    }
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

function subscribersPerRead(audiences: readonly Audience[]): number {
  const oldCharacters = ({ matches }: Audience) =>
    matches.reduce((sum, { change: { old = '' } }) => sum + old.length, 0)
  const most = Math.max(1, ...audiences.map(oldCharacters))
  return Math.max(1, Math.min(MAX_SUBSCRIBERS_PER_READ, Math.floor(MAX_OLD_CHARACTERS_PER_READ / most)))
}

/** Two portions with fewer changes, in order, or, of one change, fewer subscribers; none if there is one of each. */
function splitAudiences(
  audiences: readonly Audience[],
  delivered: readonly Change[],
): readonly (readonly Audience[])[] {
  const matched = new Set(audiences.flatMap(({ matches }) => matches.map(({ change }) => change)))
  const changes = delivered.filter((change) => matched.has(change))
  if (changes.length < 2) return audiences.length < 2 ? [] : inHalves(audiences)
  return inHalves(changes).map((half) => {
    const portion = new Set(half)
    return audiences.flatMap((audience) => {
      const matches = audience.matches.filter(({ change }) => portion.has(change))
      return matches.length > 0 ? [{ ...audience, matches }] : []
    })
  })
}

const inHalves = <Value>(values: readonly Value[]): Value[][] => inChunks(values, Math.ceil(values.length / 2))

const inChunks = <Value>(values: readonly Value[], size: number): Value[][] =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, index) => values.slice(index * size, (index + 1) * size))
