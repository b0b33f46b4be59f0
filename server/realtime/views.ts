/**
 * What people see of changed rows. Each reads with their own claims, many of them in one transaction and one round trip,
 * so that a change that a hundred people might see costs a hundred short readings and no hundred transactions.
 */
import { type BatchReader } from '#server/database/batch-reader.ts'
import { type ApiRole, type Claims } from '#server/database/scope.ts'
import { type PublishedTable } from './catalogue.ts'
import { type Binding } from './channels.ts'
import { type Change } from './outbox.ts'
import { canReadKey, type OldRow, oldRowsQuery, visibleRowsQuery, type RowQuery, type VisibleRow } from './rows.ts'

/** A change, and the bindings that may want to hear of it. */
export interface ChangeMatch {
  readonly change: Change
  readonly table: PublishedTable
  readonly bindings: readonly Binding[]
}

/** Those who see the same, and what they may want to hear. */
export interface Audience {
  readonly subscriber: string
  readonly claims: Claims
  readonly matches: readonly ChangeMatch[]
}

/** What one subscriber gets of a change; records are JSON. */
export interface View {
  readonly record?: string
  readonly old?: string
  readonly error?: string
  /** Holds filters' columns; undefined where there is nothing to hold a filter against. */
  readonly values?: Readonly<Record<string, unknown>>
}

export type Views = ReadonlyMap<Change, View>

/** The statements for some changes of one table, the same for everyone of one role. */
interface TableQueries {
  readonly table: PublishedTable
  readonly changes: readonly Change[]
  readonly rows: RowQuery<VisibleRow> | undefined
  readonly olds: RowQuery<OldRow> | undefined
}

/**
 * The views of several audiences of one role, in their order.
 * @throws what PostgreSQL says of any of the readings: one that fails takes the others with it.
 */
export async function readViews(database: Database, role: ApiRole, audiences: readonly Audience[]): Promise<Views[]> {
  const known = new Map<string, readonly TableQueries[]>()
  const planned = audiences.map(({ claims, matches: wanted }) => {
    const key = wanted.map(({ change }) => change.id).join()
    const readings = known.get(key) ?? planQueries(role, wanted)
    known.set(key, readings)
    return { claims, readings }
  })
  const asked = planned.flatMap(({ claims, readings }) =>
    readings.flatMap(({ rows, olds }) =>
      [rows, olds].flatMap((reading) => (reading ? [{ claims, text: reading.text, values: reading.values }] : [])),
    ),
  )
  const answers = asked.length === 0 ? [] : await batchReader.readAsEach(role, asked)
  let next = 0
  const take = <Found>(reading: RowQuery<Found> | undefined): Map<Change, Found> => {
    if (!reading) return new Map()
    const answer = answers[next]
    next += 1
    return reading.decode(answer?.rows ?? [])
  }
  return planned.map(({ readings }) => {
    const views = new Map<Change, View>()
    for (const { table, changes, rows, olds } of readings) {
      const [seen, replaced] = [take(rows), take(olds)]
      for (const change of changes) {
        const view = buildView(change, table, seen.get(change), replaced.get(change))
        if (view) views.set(change, view)
      }
    }
    return views
  })
}

function planQueries(role: ApiRole, wanted: readonly ChangeMatch[]): TableQueries[] {
  return [...Map.groupBy(wanted, ({ table }) => table)].map(([table, ofTable]) => {
    const changes = ofTable.map(({ change }) => change)
    const standing = changes.filter(({ operationSchema: operation }) => operation !== 'DELETE')
    const replaced = changes.filter(
      ({ operationSchema: operation, old }) => operation === 'DELETE' || (operation === 'UPDATE' && table.isFull && old !== undefined),
    )
    const canRead = canReadKey(table, role)
    return {
      table,
      changes,
      rows: canRead && standing.length > 0 ? visibleRowsQuery(table, role, standing) : undefined,
      olds: canRead && replaced.length > 0 ? oldRowsQuery(table, role, replaced) : undefined,
    }
  })
}

function buildView(
  change: Change,
  table: PublishedTable,
  row: VisibleRow | undefined,
  old: OldRow | undefined,
): View | undefined {
  if (table.key.length === 0) return { error: 'Error 400: Bad Request, no primary key' }
  if (change.operationSchema === 'DELETE') {
    if (!old?.isSeen) return undefined
    return { old: table.isFull && !table.hasRowSecurity ? old.json : old.keyJson, values: old.values }
  }
  if (!row) return undefined
  if (change.operationSchema === 'INSERT') return { record: row.json, values: row.values }
  // A row that came from out of sight comes without its past.
  const whole = old && (old.isSeen ? old.json : old.keyJson)
  return { record: row.json, old: whole ?? change.old ?? '{}', values: row.values }
}
