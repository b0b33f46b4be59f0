/**
 * Takes recorded changes to those who subscribed: each row is read as each distinct subscriber, so that a socket never
 * says more than a query would. One reading per subscriber and batch, however many sockets and channels they have.
 */
import { type BatchReader } from '#server/database/batch-reader.ts'
import { type ApiRole } from '#server/database/scope.ts'
import { matchesBinding, wantsOperation } from './bindings.ts'
import { type Catalogue, type PublishedTable } from './catalogue.ts'
import { type Binding, type Channel, type Channels } from './channels.ts'
import { type Change } from './outbox.ts'
import { renderChange } from './render-change.ts'
import { type Retry } from './retry.ts'
import { canReadKey, visibleRowsQuery, type VisibleRow } from './rows.ts'
import { type Sender } from './sender.ts'
import { type Audience, readViews, type View, type ChangeMatch } from './views.ts'

const MAX_CONCURRENT_READS = 3
/** People who read in one transaction. */
const MAX_SUBSCRIBERS_PER_READ = 50
/** With more people than these, looking first at whose filters fit is cheaper than asking for all of them. */
const MIN_SUBSCRIBERS_TO_PREFILTER = 4

export interface DeliveryOptions {
  readonly batchReader: BatchReader
  readonly catalogue: Catalogue
  readonly channels: Channels
  readonly sender: Sender
  readonly persevere: Retry
}

export function createDelivery({ batchReader, catalogue, channels, sender, persevere }: DeliveryOptions) {
  return async function deliver(changes: readonly Change[]): Promise<void> {
    const wanted = await persevere(() => matchChanges(changes))
    if (!wanted || wanted.length === 0) return
    const looked = wanted.filter(isWorthPrefiltering)
    const rows = await persevere(() => readAsService(looked))
    const fitting = rows ? dropUnmatched(wanted, looked, rows) : wanted
    const [named, others] = partitionByMention(groupByAudience(fitting), rows)
    await deliverToAudiences(named)
    await deliverToAudiences(others)
  }

  async function matchChanges(changes: readonly Change[]): Promise<ChangeMatch[]> {
    const found: ChangeMatch[] = []
    for (const change of changes) {
      const bindings = [...channels.bindingsOf(change.schema, change.table)].filter((binding) =>
        wantsOperation(binding, change.operationSchema),
      )
      if (bindings.length === 0) continue
      const table = await catalogue.table(change.schema, change.table)
      if (table) found.push({ change, table, bindings })
    }
    return found
  }

  /** A look as the service spares the looks of people who did not ask for a row, and tells whose it is. */
  async function readAsService(wanted: readonly ChangeMatch[]): Promise<ReadonlyMap<Change, VisibleRow>> {
    const rows = new Map<Change, VisibleRow>()
    for (const [table, ofTable] of Map.groupBy(wanted, (one) => one.table)) {
      const reading = visibleRowsQuery(table, 'service_role', ofTable.map(({ change }) => change)) // prettier-ignore
      const { text, values } = reading
      const [found] = await batchReader.readAsEach('service_role', [{ claims: { role: 'service_role' }, text, values }])
      for (const [change, row] of reading.decode(found?.rows ?? [])) rows.set(change, row)
    }
    return rows
  }

  const deliverMatches = (wanted: readonly ChangeMatch[]): Promise<void> => deliverToAudiences(groupByAudience(wanted))

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
    const views = await persevere(() => readViews(database, role, audiences))
    if (!views) {
      // One whose reading fails must not keep the row from the others.
      if (audiences.length > 1) for (const audience of audiences) await deliverToRole(role, [audience])
      // The schema may have changed between the change and its reading.
      else if (!isRepeated) await deliverToRole(role, await reloadTables(audiences), true)
      return
    }
    const missed: ChangeMatch[] = []
    for (const [index, { subscriber, matches: wanted }] of audiences.entries()) {
      for (const one of wanted) {
        // A fresh token may have made somebody else of a channel while the row was read.
        const moved = one.bindings.filter(({ channel }) => channel.isOpen && channel.subscriber !== subscriber)
        if (moved.length > 0) missed.push({ ...one, bindings: moved })
        const view = views[index]?.get(one.change)
        if (view)
          sendToMatching({ ...one, bindings: one.bindings.filter(({ channel }) => channel.subscriber === subscriber) }, view)
      }
    }
    if (missed.length > 0) await deliverMatches(missed)
  }

  async function reloadTables(audiences: readonly Audience[]): Promise<Audience[]> {
    catalogue.invalidate()
    const described: Audience[] = []
    for (const audience of audiences) {
      const wanted: ChangeMatch[] = []
      for (const one of audience.matches) {
        const table = await persevere(() => catalogue.table(one.change.schema, one.change.table))
        if (table) wanted.push({ ...one, table })
      }
      described.push({ ...audience, matches: wanted })
    }
    return described
  }

  function sendToMatching({ change, table, bindings }: ChangeMatch, view: View): void {
    const matching = bindings.filter(
      (binding) =>
        binding.filters.length === 0 || (view.values !== undefined && matchesBinding(binding, table, view.values)),
    )
    for (const [channel, own] of Map.groupBy(matching, (binding) => binding.channel)) {
      // Bindings of one channel may ask for different columns; each such group is a message of its own.
      for (const group of Map.groupBy(own, ({ select }) => (select ? [...select].sort().join() : '')).values()) {
        sendChange(channel, change, table, group, view)
      }
    }
  }

  function sendChange(
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
}

/** Asked for by many people, of a table that the service sees whole. */
function isWorthPrefiltering({ change, table, bindings }: ChangeMatch): boolean {
  if (change.operationSchema === 'DELETE' || !table.isOpenToService || !canReadKey(table, 'service_role')) return false
  const people = new Set<string>()
  for (const { channel } of bindings) {
    people.add(channel.subscriber)
    if (people.size > MIN_SUBSCRIBERS_TO_PREFILTER) return true
  }
  return false
}

/**
 * Leaves out the bindings whose filters the row does not fulfil, whoever looks at it. What remains is read as each of them
 * and held against its filters again.
 */
function dropUnmatched(
  wanted: readonly ChangeMatch[],
  looked: readonly ChangeMatch[],
  rows: ReadonlyMap<Change, VisibleRow>,
): readonly ChangeMatch[] {
  const tried = new Set(looked.filter(({ bindings }) => bindings.some(({ filters }) => filters.length > 0)))
  return wanted.flatMap((one) => {
    if (!tried.has(one)) return [one]
    const row = rows.get(one.change)
    const bindings = row ? matchingBindings(one, row) : []
    return bindings.length > 0 ? [{ ...one, bindings }] : []
  })
}

/**
 * Those whom a row names, apart from the others: mostly it is theirs, and what the others read only shows that it is not.
 * Everybody is read as, whether named or not.
 */
function partitionByMention(
  audiences: readonly Audience[],
  rows: ReadonlyMap<Change, VisibleRow> = new Map(),
): [named: Audience[], others: Audience[]] {
  const names = new Map([...rows].map(([change, { values }]) => [change, new Set(Object.values(values))]))
  const isNamed = ({ claims, matches: wanted }: Audience) =>
    wanted.some(({ change }) => claims.sub !== undefined && names.get(change)?.has(claims.sub))
  const { named = [], others = [] } = Object.groupBy(audiences, (one) => (isNamed(one) ? 'named' : 'others'))
  return [named, others]
}

function matchingBindings({ table, bindings }: ChangeMatch, { values }: VisibleRow): Binding[] {
  const isFitting = new Map<string, boolean>()
  return bindings.filter((binding) => {
    const { filters, filterText } = binding
    if (filters.some(({ column }) => !Object.hasOwn(values, column))) return true
    const fits = isFitting.get(filterText) ?? matchesBinding(binding, table, values)
    isFitting.set(filterText, fits)
    return fits
  })
}

function groupByAudience(wanted: readonly ChangeMatch[]): Audience[] {
  const audiences = new Map<string, { subscriber: string; claims: Audience['claims']; wanted: ChangeMatch[] }>()
  for (const { change, table, bindings } of wanted) {
    for (const [subscriber, own] of Map.groupBy(bindings, ({ channel }) => channel.subscriber)) {
      const claims = own[0]?.channel.claims
      if (!claims || !canReadAnything(table, claims.role)) continue
      const audience = audiences.get(subscriber) ?? { subscriber, claims, wanted: [] }
      audiences.set(subscriber, audience)
      audience.wanted.push({ change, table, bindings: own })
    }
  }
  return [...audiences.values()]
}

const canReadAnything = (table: PublishedTable, role: ApiRole): boolean =>
  table.key.length > 0 ? canReadKey(table, role) : table.readable[role].size > 0

const inChunks = <Value>(values: readonly Value[], size: number): Value[][] =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, index) => values.slice(index * size, (index + 1) * size))
