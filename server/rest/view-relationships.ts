/** Relationships without a foreign key of their own: through views, and through functions that take a row. */
import type { ForeignKey, Relationship } from './relationships.ts'
import { resolveOriginChains, columnKey, type ColumnKey, parseColumnOrigins } from './view-columns.ts'

interface NumberedRelation {
  readonly oid: number
  readonly schema: string
  readonly name: string
  readonly columns: readonly { readonly name: string }[]
  readonly columnNumbers: readonly number[]
}

interface NumberedKey extends ForeignKey {
  readonly fromOid: number
  readonly toOid: number
  /** `attnum` pairs in the order of `columns`. */
  readonly columnNumbers: readonly (readonly [near: number, far: number])[]
}

interface ViewColumns {
  readonly oid: number
  readonly schema: string
  readonly name: string
  readonly columns: ReadonlyMap<ColumnKey, string>
}

/** `definitions` covers all views, including those outside of `relations`. */
export function resolveViewColumns(
  relations: readonly NumberedRelation[],
  definitions: readonly { readonly oid: number; readonly definition: string }[],
): ViewColumns[] {
  const origins = resolveOriginChains(
    new Map(definitions.map(({ oid, definition }) => [oid, parseColumnOrigins(definition)])),
  )
  const views = new Set(definitions.map(({ oid }) => oid))
  return relations
    .filter(({ oid }) => views.has(oid))
    .map(({ oid, schema, name, columns, columnNumbers }) => {
      const exposed = new Map<ColumnKey, string>()
      for (const [index, number] of columnNumbers.entries()) {
        for (const origin of origins.get(columnKey(oid, number)) ?? []) {
          const column = columns[index]?.name
          if (column !== undefined && !exposed.has(origin)) exposed.set(origin, column)
        }
      }
      return { oid, schema, name, columns: exposed }
    })
}

/** Undefined if the view lacks one of the columns. */
function columnNamesIn({ columns }: ViewColumns, relation: number, numbers: readonly number[]): string[] | undefined {
  const names = numbers.map((number) => columns.get(columnKey(relation, number)))
  return names.every((name) => name !== undefined) ? names : undefined
}

export function primaryKeyOfView(
  views: readonly ViewColumns[],
  { oid }: NumberedRelation,
  primaryKeys: readonly { readonly oid: number; readonly columns: readonly number[] }[],
): string[] {
  const view = views.find((candidate) => candidate.oid === oid)
  if (!view) return []
  return primaryKeys.flatMap((key) => columnNamesIn(view, key.oid, key.columns) ?? [])
}

/** Returns the key, and its variants with views in place of either table. */
export function expandThroughViews(views: readonly ViewColumns[], key: NumberedKey): ForeignKey[] {
  const viewsShowing = (relation: number, numbers: readonly number[]) =>
    views.flatMap((view) => {
      const names = columnNamesIn(view, relation, numbers)
      return names ? [{ table: { schema: view.schema, name: view.name }, names, isView: true }] : []
    })
  const near = key.columns.map(([name]) => name)
  const far = key.columns.map(([, name]) => name)
  const nearNumbers = key.columnNumbers.map(([number]) => number)
  const farNumbers = key.columnNumbers.map(([, number]) => number)
  const { constraint, isUnique } = key
  return [{ table: key.from, names: near, isView: false }, ...viewsShowing(key.fromOid, nearNumbers)].flatMap((from) =>
    [{ table: key.to, names: far, isView: false }, ...viewsShowing(key.toOid, farNumbers)].map((to) => ({
      constraint,
      isUnique,
      from: from.table,
      to: to.table,
      columns: from.names.map((name, index): [string, string] => [name, to.names[index] ?? '']),
      isFromView: from.isView,
      isToView: to.isView,
    })),
  )
}

interface RowFunction {
  readonly schema: string
  readonly name: string
  readonly parameters: readonly { readonly type: string }[]
  readonly returnedTable: { readonly schema: string; readonly name: string } | null
  readonly isSingle: boolean
}

/** Functions that take one row and return rows of a table embed under their own name. */
export function deriveComputedRelationships(
  relations: readonly (NumberedRelation & { readonly rowType: string })[],
  routines: readonly RowFunction[],
): Relationship[] {
  const byRowType = new Map(relations.map((relation) => [relation.rowType, relation]))
  return routines.flatMap(({ schema, name, parameters, returnedTable, isSingle }): Relationship[] => {
    const [only, ...others] = parameters
    const origin = only && others.length === 0 ? byRowType.get(only.type) : undefined
    if (!origin || !returnedTable || origin.schema !== schema) return []
    return [
      {
        kind: 'computed',
        origin: { schema: origin.schema, name: origin.name },
        target: returnedTable,
        routine: { schema, name },
        isSingle,
        originColumns: origin.columns.map((column) => column.name),
      },
    ]
  })
}
