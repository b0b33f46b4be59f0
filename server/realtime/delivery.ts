/**
 * Takes recorded changes to those who subscribed: each row is read as each distinct subscriber, so that a socket never
 * says more than a query would. One reading per subscriber and batch, however many sockets and channels they have.
 */
import { type ApiRole, type Claims, type Database, type Scope } from '#server/database/scope.ts'
import { matchesBinding, wantsOperation } from './bindings.ts'
import { type Catalogue, type PublishedTable } from './catalogue.ts'
import { type Binding, type Channel, type Channels } from './channels.ts'
import { type Change } from './outbox.ts'
import { type Persevere } from './persevere.ts'
import { canReadKey, type OldRow, readOldRows, readRows, type SeenRow } from './rows.ts'
import { type Sender } from './send.ts'

const READERS_AT_ONCE = 6
const LARGEST_ROW_BYTES = 1024 * 1024
const LARGEST_KEPT_VALUE_BYTES = 64

interface Wanted {
  readonly change: Change
  readonly table: PublishedTable
  readonly bindings: readonly Binding[]
}

/** Those who see the same, and what they may want to hear. */
interface Audience {
  readonly subscriber: string
  readonly claims: Claims
  readonly wanted: Wanted[]
}

/** What one subscriber gets of a change; records are JSON. */
interface View {
  readonly record?: string
  readonly old?: string
  readonly error?: string
  /** Holds filters' columns; undefined where there is nothing to hold a filter against. */
  readonly values?: Readonly<Record<string, unknown>>
}

export interface DeliveryOptions {
  readonly database: Database
  readonly catalogue: Catalogue
  readonly channels: Channels
  readonly sender: Sender
  readonly persevere: Persevere
}

export function createDelivery({ database, catalogue, channels, sender, persevere }: DeliveryOptions) {
  return async function deliver(changes: readonly Change[]): Promise<void> {
    const wanted = await persevere(() => findWanted(changes))
    if (wanted) await deliverWanted(wanted)
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

  async function deliverWanted(wanted: readonly Wanted[]): Promise<void> {
    const waiting = [...audiencesOf(wanted)]
    const readers = Array.from({ length: Math.min(READERS_AT_ONCE, waiting.length) }, async () => {
      for (let audience = waiting.pop(); audience; audience = waiting.pop()) await deliverTo(audience)
    })
    await Promise.all(readers)
  }

  async function deliverTo({ subscriber, claims, wanted }: Audience, isRepeated = false): Promise<void> {
    const views = await persevere(() =>
      database.asUser(claims, (scope) => readViews(scope, claims.role, wanted), { readOnly: true }),
    )
    if (!views) {
      // The schema may have changed between the change and its reading.
      return isRepeated ? undefined : deliverTo({ subscriber, claims, wanted: await describeAnew(wanted) }, true)
    }
    const missed: Wanted[] = []
    for (const one of wanted) {
      // A fresh token may have made somebody else of a channel while the row was read.
      const moved = one.bindings.filter(({ channel }) => channel.isOpen && channel.subscriber !== subscriber)
      if (moved.length > 0) missed.push({ ...one, bindings: moved })
      const view = views.get(one.change)
      if (view)
        tell({ ...one, bindings: one.bindings.filter(({ channel }) => channel.subscriber === subscriber) }, view)
    }
    if (missed.length > 0) await deliverWanted(missed)
  }

  async function describeAnew(wanted: readonly Wanted[]): Promise<Wanted[]> {
    catalogue.forget()
    const described: Wanted[] = []
    for (const one of wanted) {
      const table = await persevere(() => catalogue.table(one.change.schema, one.change.table))
      if (table) described.push({ ...one, table })
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

function audiencesOf(wanted: readonly Wanted[]): Iterable<Audience> {
  const audiences = new Map<string, Audience>()
  for (const { change, table, bindings } of wanted) {
    for (const [subscriber, own] of Map.groupBy(bindings, ({ channel }) => channel.subscriber)) {
      const claims = own[0]?.channel.claims
      if (!claims || !canReadAnything(table, claims.role)) continue
      const audience = audiences.get(subscriber) ?? { subscriber, claims, wanted: [] }
      audiences.set(subscriber, audience)
      audience.wanted.push({ change, table, bindings: own })
    }
  }
  return audiences.values()
}

const canReadAnything = (table: PublishedTable, role: ApiRole): boolean =>
  table.key.length > 0 ? canReadKey(table, role) : table.readable[role].size > 0

/** Reads everything that one subscriber may want to know, table by table. */
async function readViews(scope: Scope, role: ApiRole, wanted: readonly Wanted[]): Promise<Map<Change, View>> {
  const views = new Map<Change, View>()
  for (const [table, ofTable] of Map.groupBy(wanted, (one) => one.table)) {
    const changes = ofTable.map(({ change }) => change)
    if (table.key.length === 0) {
      for (const change of changes) views.set(change, { error: 'Error 400: Bad Request, no primary key' })
    } else if (canReadKey(table, role)) {
      const standing = changes.filter(({ operation }) => operation !== 'DELETE')
      const rows = standing.length > 0 ? await readRows(scope, table, role, standing) : new Map<Change, SeenRow>()
      const replaced = changes.filter(
        (change) => change.operation === 'DELETE' || (table.isFull && rows.has(change) && change.old !== undefined),
      )
      const olds = replaced.length > 0 ? await readOldRows(scope, table, role, replaced) : new Map<Change, OldRow>()
      for (const change of changes) {
        const view = viewOf(change, table, rows.get(change), olds.get(change))
        if (view) views.set(change, view)
      }
    }
  }
  return views
}

function viewOf(
  change: Change,
  table: PublishedTable,
  row: SeenRow | undefined,
  old: OldRow | undefined,
): View | undefined {
  if (change.operation === 'DELETE') {
    if (!old?.isSeen) return undefined
    return { old: table.isFull && !table.hasRowSecurity ? old.json : old.keyJson, values: old.values }
  }
  if (!row) return undefined
  if (change.operation === 'INSERT') return { record: row.json, values: row.values }
  // A row that came from out of sight comes without its past.
  const whole = old && (old.isSeen ? old.json : old.keyJson)
  return { record: row.json, old: whole ?? change.old ?? '{}', values: row.values }
}

function renderChange(
  change: Change,
  columns: readonly { name: string; type: string }[],
  view: View,
  select: ReadonlySet<string> | undefined,
): string {
  const isTooLarge = (view.record?.length ?? 0) + (view.old?.length ?? 0) > LARGEST_ROW_BYTES
  const shorten = (json: string) => (select || isTooLarge ? keepFields(json, select, isTooLarge) : json)
  const errors = isTooLarge ? ['Error 413: Payload Too Large'] : view.error === undefined ? null : [view.error]
  const fields = [
    `"schema":${JSON.stringify(change.schema)}`,
    `"table":${JSON.stringify(change.table)}`,
    `"type":"${change.operation}"`,
    `"commit_timestamp":"${new Date(change.changedAt).toISOString()}"`,
    `"columns":${JSON.stringify(columns.map(({ name, type }) => ({ name, type })))}`,
    ...(change.operation === 'DELETE' ? [] : [`"record":${shorten(view.record ?? '{}')}`]),
    ...(change.operation === 'INSERT' ? [] : [`"old_record":${shorten(view.old ?? '{}')}`]),
    `"errors":${JSON.stringify(errors)}`,
  ]
  return `{${fields.join(',')}}`
}

function keepFields(json: string, select: ReadonlySet<string> | undefined, isTooLarge: boolean): string {
  const parsed: unknown = JSON.parse(json)
  const entries = Object.entries(parsed ?? {}).filter(
    ([name, value]) =>
      (select?.has(name) ?? true) && (!isTooLarge || JSON.stringify(value).length <= LARGEST_KEPT_VALUE_BYTES),
  )
  return JSON.stringify(Object.fromEntries(entries))
}
