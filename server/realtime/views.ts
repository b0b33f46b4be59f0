/** Many subscribers share one transaction and one round trip, each with its own claims. */
import type { BatchReader } from '#server/database/batch-reader.ts'
import type { ApiRole, Claims } from '#server/database/scope.ts'
import type { PublishedTable } from './catalogue.ts'
import type { Binding } from './channels.ts'
import type { Change } from './outbox.ts'
import type { TimeSlices } from '#server/base/time-slices.ts'
import type { ParseRow } from './parse-row.ts'
import { canReadKey, type OldRow, oldRowsQuery, visibleRowsQuery, type RowQuery, type VisibleRow } from './rows.ts'

export interface ChangeMatch {
  readonly change: Change
  readonly table: PublishedTable
  readonly bindings: readonly Binding[]
}

/** All channels see equal rows. */
export interface Audience {
  readonly subscriber: string
  readonly claims: Claims
  readonly matches: readonly ChangeMatch[]
}

/** Records are JSON. */
export interface View {
  readonly record?: string
  readonly old?: string
  /** Large columns are missing from `record` or `old`. */
  readonly isCut?: boolean
  readonly error?: string
  /** Undefined if no row is visible. */
  readonly values?: Readonly<Record<string, unknown>>
}

export type Views = ReadonlyMap<Change, View>

/** Shared by all subscribers of one role. */
interface TableQueries {
  readonly table: PublishedTable
  readonly changes: readonly Change[]
  readonly rows: RowQuery<VisibleRow> | undefined
  readonly olds: RowQuery<OldRow> | undefined
}

/** Returns views in the order of `audiences`. @throws PostgreSQL's error if any read fails. */
export async function readViews(
  batchReader: BatchReader,
  role: ApiRole,
  audiences: readonly Audience[],
  { slices, parseRow }: { slices: TimeSlices; parseRow: ParseRow },
): Promise<Views[]> {
  const queriesByChanges = new Map<string, readonly TableQueries[]>()
  const planned = audiences.map(({ claims, matches }) => {
    const key = matches.map(({ change }) => change.id).join()
    const queries = queriesByChanges.get(key) ?? planQueries(role, matches, parseRow)
    queriesByChanges.set(key, queries)
    return { claims, queries }
  })
  const statements = planned.flatMap(({ claims, queries }) =>
    queries.flatMap(({ rows, olds }) =>
      [rows, olds].flatMap((query) => (query ? [{ claims, text: query.text, values: query.values }] : [])),
    ),
  )
  const results = statements.length === 0 ? [] : await batchReader.readAsEach(role, statements)
  let next = 0
  const takeResult = <Found>(query: RowQuery<Found> | undefined): Map<Change, Found> => {
    if (!query) return new Map()
    const result = results[next]
    next += 1
    return query.decode(result?.rows ?? [])
  }
  const viewsOfAll: Views[] = []
  for (const { queries } of planned) {
    if (slices.isOver) await slices.next()
    const views = new Map<Change, View>()
    for (const { table, changes, rows, olds } of queries) {
      const [visible, previous] = [takeResult(rows), takeResult(olds)]
      for (const change of changes) {
        const view = buildView(change, table, visible.get(change), previous.get(change))
        if (view) views.set(change, view)
      }
    }
    viewsOfAll.push(views)
  }
  return viewsOfAll
}

function planQueries(role: ApiRole, matches: readonly ChangeMatch[], parseRow: ParseRow): TableQueries[] {
  return [...Map.groupBy(matches, ({ table }) => table)].map(([table, ofTable]) => {
    const changes = ofTable.map(({ change }) => change)
    const current = changes.filter(({ operation }) => operation !== 'DELETE')
    const previous = changes.filter(
      ({ operation, old }) =>
        operation === 'DELETE' || (operation === 'UPDATE' && table.hasFullIdentity && old !== undefined),
    )
    const canRead = canReadKey(table, role)
    return {
      table,
      changes,
      rows: canRead && current.length > 0 ? visibleRowsQuery(table, role, current, parseRow) : undefined,
      olds: canRead && previous.length > 0 ? oldRowsQuery(table, role, previous, parseRow) : undefined,
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
  if (change.operation === 'DELETE') {
    if (!old?.wasVisible) return undefined
    const isWhole = table.hasFullIdentity && !table.hasRowSecurity
    return { old: isWhole ? old.json : old.keyJson, isCut: isWhole && change.isOldCut, values: old.values }
  }
  if (!row) return undefined
  const { json: record, isCut, values } = row
  if (change.operation === 'INSERT') return { record, isCut, values }
  // Hide the old row if the subscriber could not see it.
  const oldJson = old && (old.wasVisible ? old.json : old.keyJson)
  return { record, old: oldJson ?? change.old ?? '{}', isCut: isCut || change.isOldCut, values }
}
