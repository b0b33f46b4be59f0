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
import { type Persevere } from './retry.ts'
import { canReadKey, readingOfRows, type SeenRow } from './rows.ts'
import { type Sender } from './send.ts'
import { type Audience, readViews, type View, type Wanted } from './views.ts'

const READERS_AT_ONCE = 3
/** People who read in one transaction. */
const PEOPLE_AT_ONCE = 50
/** With more people than these, looking first at whose filters fit is cheaper than asking for all of them. */
const FEW_PEOPLE = 4

export interface DeliveryOptions {
  readonly batchReader: BatchReader
  readonly catalogue: Catalogue
  readonly channels: Channels
  readonly sender: Sender
  readonly persevere: Persevere
}

export function createDelivery({ batchReader, catalogue, channels, sender, persevere }: DeliveryOptions) {
  return async function deliver(changes: readonly Change[]): Promise<void> {
    const wanted = await persevere(() => findWanted(changes))
    if (!wanted || wanted.length === 0) return
    const looked = wanted.filter(isWorthALook)
    const rows = await persevere(() => lookAsService(looked))
    const fitting = rows ? dropUnfitting(wanted, looked, rows) : wanted
    const [named, others] = namedFirst(audiencesOf(fitting), rows)
    await deliverTogether(named)
    await deliverTogether(others)
  }

  async function findWanted(changes: readonly Change[]): Promise<Wanted[]> {
    const found: Wanted[] = []
    for (const change of changes) {
      const bindings = [...channels.bindingsOf(change.schema, change.table)].filter((binding) =>
        wantsOperation(binding, change.operation),
      )
      if (bindings.length === 0) continue
      const table = await catalogue.table(change.schema, change.table)
      if (table) found.push({ change, table, bindings })
    }
    return found
  }

  /** A look as the service spares the looks of people who did not ask for a row, and tells whose it is. */
  async function lookAsService(wanted: readonly Wanted[]): Promise<ReadonlyMap<Change, SeenRow>> {
    const rows = new Map<Change, SeenRow>()
    for (const [table, ofTable] of Map.groupBy(wanted, (one) => one.table)) {
      const reading = readingOfRows(table, 'service_role', ofTable.map(({ change }) => change)) // prettier-ignore
      const { text, values } = reading
      const [found] = await batchReader.readAsEach('service_role', [{ claims: { role: 'service_role' }, text, values }])
      for (const [change, row] of reading.decode(found?.rows ?? [])) rows.set(change, row)
    }
    return rows
  }

  const deliverWanted = (wanted: readonly Wanted[]): Promise<void> => deliverTogether(audiencesOf(wanted))

  async function deliverTogether(audiences: readonly Audience[]): Promise<void> {
    const waiting = [...Map.groupBy(audiences, ({ claims }) => claims.role)].flatMap(([role, ofRole]) =>
      inPortions(ofRole, PEOPLE_AT_ONCE).map((portion) => ({ role, portion })),
    )
    const readers = Array.from({ length: Math.min(READERS_AT_ONCE, waiting.length) }, async () => {
      for (let next = waiting.pop(); next; next = waiting.pop()) await deliverTo(next.role, next.portion)
    })
    await Promise.all(readers)
  }

  async function deliverTo(role: ApiRole, audiences: readonly Audience[], isRepeated = false): Promise<void> {
    const views = await persevere(() => readViews(batchReader, role, audiences))
    if (!views) {
      // One whose reading fails must not keep the row from the others.
      if (audiences.length > 1) for (const audience of audiences) await deliverTo(role, [audience])
      // The schema may have changed between the change and its reading.
      else if (!isRepeated) await deliverTo(role, await describeAnew(audiences), true)
      return
    }
    const missed: Wanted[] = []
    for (const [index, { subscriber, wanted }] of audiences.entries()) {
      for (const one of wanted) {
        // A fresh token may have made somebody else of a channel while the row was read.
        const moved = one.bindings.filter(({ channel }) => channel.isOpen && channel.subscriber !== subscriber)
        if (moved.length > 0) missed.push({ ...one, bindings: moved })
        const view = views[index]?.get(one.change)
        if (view)
          tell({ ...one, bindings: one.bindings.filter(({ channel }) => channel.subscriber === subscriber) }, view)
      }
    }
    if (missed.length > 0) await deliverWanted(missed)
  }

  async function describeAnew(audiences: readonly Audience[]): Promise<Audience[]> {
    catalogue.forget()
    const described: Audience[] = []
    for (const audience of audiences) {
      const wanted: Wanted[] = []
      for (const one of audience.wanted) {
        const table = await persevere(() => catalogue.table(one.change.schema, one.change.table))
        if (table) wanted.push({ ...one, table })
      }
      described.push({ ...audience, wanted })
    }
    return described
  }

  function tell({ change, table, bindings }: Wanted, view: View): void {
    const matching = bindings.filter(
      (binding) =>
        binding.filters.length === 0 || (view.values !== undefined && matchesBinding(binding, table, view.values)),
    )
    for (const [channel, own] of Map.groupBy(matching, (binding) => binding.channel)) {
      // Bindings of one channel may ask for different columns; each such group is a message of its own.
      for (const group of Map.groupBy(own, ({ select }) => (select ? [...select].sort().join() : '')).values()) {
        tellChannel(channel, change, table, group, view)
      }
    }
  }

  function tellChannel(
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
function isWorthALook({ change, table, bindings }: Wanted): boolean {
  if (change.operation === 'DELETE' || !table.isOpenToService || !canReadKey(table, 'service_role')) return false
  const people = new Set<string>()
  for (const { channel } of bindings) {
    people.add(channel.subscriber)
    if (people.size > FEW_PEOPLE) return true
  }
  return false
}

/**
 * Leaves out the bindings whose filters the row does not fulfil, whoever looks at it. What remains is read as each of them
 * and held against its filters again.
 */
function dropUnfitting(
  wanted: readonly Wanted[],
  looked: readonly Wanted[],
  rows: ReadonlyMap<Change, SeenRow>,
): readonly Wanted[] {
  const tried = new Set(looked.filter(({ bindings }) => bindings.some(({ filters }) => filters.length > 0)))
  return wanted.flatMap((one) => {
    if (!tried.has(one)) return [one]
    const row = rows.get(one.change)
    const bindings = row ? fittingBindings(one, row) : []
    return bindings.length > 0 ? [{ ...one, bindings }] : []
  })
}

/**
 * Those whom a row names, apart from the others: mostly it is theirs, and what the others read only shows that it is not.
 * Everybody is read as, whether named or not.
 */
function namedFirst(
  audiences: readonly Audience[],
  rows: ReadonlyMap<Change, SeenRow> = new Map(),
): [named: Audience[], others: Audience[]] {
  const names = new Map([...rows].map(([change, { values }]) => [change, new Set(Object.values(values))]))
  const isNamed = ({ claims, wanted }: Audience) =>
    wanted.some(({ change }) => claims.sub !== undefined && names.get(change)?.has(claims.sub))
  const { named = [], others = [] } = Object.groupBy(audiences, (one) => (isNamed(one) ? 'named' : 'others'))
  return [named, others]
}

function fittingBindings({ table, bindings }: Wanted, { values }: SeenRow): Binding[] {
  const isFitting = new Map<string, boolean>()
  return bindings.filter((binding) => {
    const { filters, filterText } = binding
    if (filters.some(({ column }) => !Object.hasOwn(values, column))) return true
    const fits = isFitting.get(filterText) ?? matchesBinding(binding, table, values)
    isFitting.set(filterText, fits)
    return fits
  })
}

function audiencesOf(wanted: readonly Wanted[]): Audience[] {
  const audiences = new Map<string, { subscriber: string; claims: Audience['claims']; wanted: Wanted[] }>()
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

const inPortions = <Value>(values: readonly Value[], size: number): Value[][] =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, index) => values.slice(index * size, (index + 1) * size))
