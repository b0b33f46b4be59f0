import { z } from 'zod'
import type { Database } from '#server/database/scope.ts'
import {
  foreignKeyRow,
  primaryKeyRow,
  READ_FOREIGN_KEYS,
  READ_PRIMARY_KEYS,
  READ_RELATIONS,
  READ_ROUTINES,
  READ_TYPES,
  READ_VIEWS,
  relationRow,
  routineRow,
  viewRow,
} from './catalogue-queries.ts'
import type { Catalogue, Relation, Routine } from './catalogue.ts'
import { deriveRelationships, type Relationship } from './relationships.ts'
import {
  deriveComputedRelationships,
  expandThroughViews,
  primaryKeyOfView,
  resolveViewColumns,
} from './view-relationships.ts'

/** Type names that are SQL keywords and not in `pg_type`. */
const TYPE_KEYWORDS = new Map(
  [
    'bigint', 'bit varying', 'boolean', 'char', 'character', 'character varying', 'dec', 'decimal', 'double precision', 'float',
    'int', 'integer', 'nchar', 'real', 'smallint', 'time with time zone', 'time without time zone', 'timestamp with time zone',
    'timestamp without time zone',
  ].map((name) => [name, name]),
) // prettier-ignore

const qualifiedKey = (schema: string, name: string) => JSON.stringify([schema, name])

function queryCatalogue(database: Database, schemas: readonly string[]) {
  return database.asService(
    async (scope) => {
      const relations = await scope.query<{ found: unknown }>(READ_RELATIONS, [schemas])
      const foreignKeys = await scope.query<{ found: unknown }>(READ_FOREIGN_KEYS)
      const views = await scope.query<{ found: unknown }>(READ_VIEWS)
      const primaryKeys = await scope.query<{ found: unknown }>(READ_PRIMARY_KEYS)
      const routines = await scope.query<{ found: unknown }>(READ_ROUTINES, [schemas])
      const types = await scope.query<{ schema: string; name: string }>(READ_TYPES, [schemas])
      return {
        relations: z.array(relationRow).parse(relations.rows[0]?.found),
        foreignKeys: z.array(foreignKeyRow).parse(foreignKeys.rows[0]?.found),
        views: z.array(viewRow).parse(views.rows[0]?.found),
        primaryKeys: z.array(primaryKeyRow).parse(primaryKeys.rows[0]?.found),
        routines: z.array(routineRow).parse(routines.rows[0]?.found),
        types: types.rows,
      }
    },
    // An empty search path makes PostgreSQL qualify every type and function name in a default.
    { readOnly: true, settings: { search_path: '' } },
  )
}

type CatalogueRows = Awaited<ReturnType<typeof queryCatalogue>>
type RelationRow = CatalogueRows['relations'][number]

function computedColumns({ schema, rowType }: RelationRow, routines: readonly Routine[]): Map<string, string> {
  const ofRow = routines.filter(
    (routine) =>
      routine.schema === schema && routine.parameters.length === 1 && routine.parameters[0]?.type === rowType,
  )
  return new Map(ofRow.map(({ name, returnType }) => [name, returnType]))
}

function buildTypeNames(types: CatalogueRows['types']): ReadonlyMap<string, string> {
  const quote = (name: string) => `"${name.replaceAll('"', '""')}"`
  // Built-in types win, because a later entry replaces an earlier one of equal name.
  return new Map(
    types
      .toSorted((a, b) => Number(a.schema === 'pg_catalog') - Number(b.schema === 'pg_catalog'))
      .map(({ schema, name }) => [name, `${quote(schema)}.${quote(name)}`]),
  )
}

/** Keys are origins; both sides are known relations of one schema. */
function groupRelationships(
  relationRows: readonly RelationRow[],
  relations: ReadonlyMap<string, Relation>,
  routines: readonly Routine[],
  foreignKeys: Parameters<typeof deriveRelationships>[0],
): ReadonlyMap<string, readonly Relationship[]> {
  const fromKeys = deriveRelationships(
    foreignKeys,
    ({ schema, name }) => relations.get(qualifiedKey(schema, name))?.primaryKey ?? [],
  ).filter(({ origin, target }) => origin.schema === target.schema)
  const all = [...fromKeys, ...deriveComputedRelationships(relationRows, routines)]
  const known = all.filter((relationship) => {
    const { origin, target } = relationship
    const tables = [origin, target, ...(relationship.kind === 'many-to-many' ? [relationship.junction] : [])]
    return tables.every(({ schema, name }) => relations.has(qualifiedKey(schema, name)))
  })
  return Map.groupBy(known, ({ origin }) => qualifiedKey(origin.schema, origin.name))
}

function buildCatalogue(rows: CatalogueRows): Catalogue {
  const routines = rows.routines.map((row): Routine => ({
    ...row,
    columns: new Map(row.returns === 'row' ? row.columns.map(({ name, type }) => [name, type]) : []),
  }))
  const views = resolveViewColumns(rows.relations, rows.views)
  const relationRows = rows.relations.map((row) => ({
    ...row,
    primaryKey: row.primaryKey.length > 0 ? row.primaryKey : primaryKeyOfView(views, row, rows.primaryKeys),
  }))
  const relations = relationRows.map(({ rowType, ...row }): Relation => ({
    ...row,
    columns: new Map(row.columns.map((column) => [column.name, column])),
    computed: computedColumns({ rowType, ...row }, routines),
  }))
  const relationsByName = new Map(relations.map((relation) => [qualifiedKey(relation.schema, relation.name), relation]))
  const routinesByName = Map.groupBy(routines, ({ schema, name }) => qualifiedKey(schema, name))
  const relationshipsByOrigin = groupRelationships(
    relationRows,
    relationsByName,
    routines,
    rows.foreignKeys.flatMap((key) => expandThroughViews(views, key)),
  )
  const typesByName = buildTypeNames(rows.types)

  return {
    relation: (schema, name) => relationsByName.get(qualifiedKey(schema, name)),
    relations: (schema) => relations.filter((relation) => relation.schema === schema),
    routineNames: (schema) => [
      ...new Set(routines.filter((routine) => routine.schema === schema).map(({ name }) => name)),
    ],
    routines: (schema, name) => routinesByName.get(qualifiedKey(schema, name)) ?? [],
    relationships: (schema, name) => relationshipsByOrigin.get(qualifiedKey(schema, name)) ?? [],
    typeToSql(name) {
      const lower = name.toLowerCase()
      return TYPE_KEYWORDS.get(lower) ?? typesByName.get(name) ?? typesByName.get(lower)
    },
  }
}

export async function readCatalogue(database: Database, schemas: readonly string[]): Promise<Catalogue> {
  return buildCatalogue(await queryCatalogue(database, schemas))
}
