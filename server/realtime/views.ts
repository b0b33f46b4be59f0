/** Many subscribers share one transaction and one round trip, each with its own claims. */
import { z } from 'zod'
import type { Answer, BatchRead, BatchReader } from '#server/database/batch-reader.ts'
import type { ApiRole, Claims } from '#server/database/scope.ts'
import type { PublishedTable } from './catalogue.ts'
import type { Binding } from './channels.ts'
import type { Change } from './outbox.ts'
import type { TimeSlices } from '#server/base/time-slices.ts'
import type { ParseRow } from './parse-row.ts'
import {
  canReadKey,
  type OldRow,
  oldRowsQuery,
  type RowQuery,
  type VisibleRow,
  visibleKeysQuery,
  visibleRowsQuery,
} from './rows.ts'

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

const foundSchema = z.array(z.object({ found: z.array(z.unknown()) }))

type Ask = <Found>(claims: Claims, query: RowQuery<Found> | undefined) => () => ReadonlyMap<Change, Found>

/** The reads of one subscriber about the changes of one table. */
interface TableReads {
  readonly table: PublishedTable
  readonly changes: readonly Change[]
  readonly rows: () => ReadonlyMap<Change, VisibleRow | true>
  readonly olds: () => ReadonlyMap<Change, OldRow>
}

/** Shared by all subscribers of one role. */
interface TableQueries {
  readonly table: PublishedTable
  readonly changes: readonly Change[]
  readonly rows: RowQuery<VisibleRow | true> | undefined
  readonly olds: RowQuery<OldRow> | undefined
}

/**
 * Asks of each subscriber which rows it may see. Several subscribers share the values of a row, which the first of them that may
 * see it reads: within one snapshot, each of them would read equal values, since columns are granted to their role.
 * @returns views in the order of `audiences`
 * @throws PostgreSQL's error if any read fails
 */
export async function readViews(
  batchReader: BatchReader,
  role: ApiRole,
  audiences: readonly Audience[],
  { slices, parseRow }: { slices: TimeSlices; parseRow: ParseRow },
): Promise<Views[]> {
  const areValuesShared = audiences.length > 1
  const reads: BatchRead[] = []
  let answers: readonly Answer[] = []
  const ask: Ask = (claims, query) => {
    if (!query) return () => new Map()
    const index = reads.push({ claims, text: query.text, values: query.values }) - 1
    return once(() => query.decode(answers[index]?.rows ?? []))
  }
  const peopleOf = new Map<RowQuery<unknown>, ReturnType<typeof beginReadForMany>>()
  const askWithOthers: Ask = (claims, query) => {
    if (!query) return () => new Map()
    const { people, found } = peopleOf.get(query) ?? beginReadForMany(query)
    const person = people.push(claims) - 1
    return once(() => query.decode(found()[person]?.found ?? []))
  }
  function beginReadForMany(query: RowQuery<unknown>) {
    const people: Claims[] = []
    const index = reads.push({ people, text: query.text, values: query.values }) - 1
    const found = once(() => {
      const rows = foundSchema.parse(answers[index]?.rows)
      if (rows.length !== people.length) throw new Error('a read for many has not answered for each of them')
      return rows
    })
    const begun = { people, found }
    peopleOf.set(query, begun)
    return begun
  }

  const queriesByChanges = new Map<string, readonly TableQueries[]>()
  const asked = audiences.map(({ claims, matches }) => {
    const key = matches.map(({ change }) => change.id).join()
    const queries = queriesByChanges.get(key) ?? planQueries(role, matches, parseRow, areValuesShared)
    queriesByChanges.set(key, queries)
    const tables = queries.map(({ table, changes, rows, olds }): TableReads => {
      const askOne = areValuesShared ? askWithOthers : ask
      return { table, changes, rows: askOne(claims, rows), olds: askOne(claims, olds) }
    })
    return { claims, tables }
  })

  const shared: (() => ReadonlyMap<Change, VisibleRow>)[] = []
  const readValues = (visible: readonly Answer[]) => {
    answers = visible
    const first = reads.length
    for (const { claims, table, changes } of firstViewers(asked))
      shared.push(ask(claims, visibleRowsQuery(table, role, changes, parseRow)))
    return reads.slice(first)
  }
  if (reads.length > 0)
    answers = await batchReader.readAsEach(role, [...reads], areValuesShared ? readValues : undefined)
  const values = new Map(shared.flatMap((decode) => [...decode()]))
  const viewsOfAll: Views[] = []
  const viewsOfRows: ViewsOfRows = new Map()
  for (const { tables } of asked) {
    if (slices.isOver) await slices.next()
    const views = new Map<Change, View>()
    for (const { table, changes, rows, olds } of tables) {
      const [visible, previous] = [rows(), olds()]
      for (const change of changes) {
        const row = visible.get(change)
        const view = buildView(
          change,
          table,
          row === true ? values.get(change) : row,
          previous.get(change),
          viewsOfRows,
        )
        if (view) views.set(change, view)
      }
    }
    viewsOfAll.push(views)
  }
  return viewsOfAll
}

function once<Value>(compute: () => Value): () => Value {
  let value: { readonly computed: Value } | undefined
  return () => (value ??= { computed: compute() }).computed
}

/** For each change, the first subscriber that may see its row. */
function firstViewers(asked: readonly { readonly claims: Claims; readonly tables: readonly TableReads[] }[]) {
  const seen = new Set<Change>()
  return asked.flatMap(({ claims, tables }) =>
    tables.flatMap(({ table, rows }) => {
      const changes = [...rows().keys()].filter((change) => !seen.has(change))
      for (const change of changes) seen.add(change)
      return changes.length > 0 ? [{ claims, table, changes }] : []
    }),
  )
}

/** @param areValuesShared asks which rows are visible, without their values */
function planQueries(
  role: ApiRole,
  matches: readonly ChangeMatch[],
  parseRow: ParseRow,
  areValuesShared: boolean,
): TableQueries[] {
  return [...Map.groupBy(matches, ({ table }) => table)].map(([table, ofTable]) => {
    const changes = ofTable.map(({ change }) => change)
    const current = changes.filter(({ operation }) => operation !== 'DELETE')
    const previous = changes.filter(
      ({ operation, old }) =>
        operation === 'DELETE' || (operation === 'UPDATE' && table.hasFullIdentity && old !== undefined),
    )
    const canRead = canReadKey(table, role)
    const rowsQuery = () =>
      areValuesShared ? visibleKeysQuery(table, current) : visibleRowsQuery(table, role, current, parseRow)
    return {
      table,
      changes,
      rows: canRead && current.length > 0 ? rowsQuery() : undefined,
      olds: canRead && previous.length > 0 ? oldRowsQuery(table, role, previous, parseRow) : undefined,
    }
  })
}

/** Views by their row, for rows that many subscribers see alike. */
type ViewsOfRows = Map<VisibleRow, View>

function buildView(
  change: Change,
  table: PublishedTable,
  row: VisibleRow | undefined,
  old: OldRow | undefined,
  viewsOfRows: ViewsOfRows,
): View | undefined {
  if (table.key.length === 0) return { error: 'Error 400: Bad Request, no primary key' }
  if (change.operation === 'DELETE') {
    if (!old?.wasVisible) return undefined
    const isWhole = table.hasFullIdentity && !table.hasRowSecurity
    return { old: isWhole ? old.json : old.keyJson, isCut: isWhole && change.isOldCut, values: old.values }
  }
  if (!row) return undefined
  const known = old ? undefined : viewsOfRows.get(row)
  if (known) return known
  const view = viewOfRow(change, row, old)
  if (!old) viewsOfRows.set(row, view)
  return view
}

function viewOfRow(change: Change, { json: record, isCut, values }: VisibleRow, old: OldRow | undefined): View {
  if (change.operation === 'INSERT') return { record, isCut, values }
  // Hide the old row if the subscriber could not see it.
  const oldJson = old && (old.wasVisible ? old.json : old.keyJson)
  return { record, old: oldJson ?? change.old ?? '{}', isCut: isCut || change.isOldCut, values }
}
