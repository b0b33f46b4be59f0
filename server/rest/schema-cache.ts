/** What the exposed schemas hold, read from PostgreSQL's catalogue on first use and again when told so. */
import { z } from 'zod'
import { type Log } from '#server/base/log.ts'
import { type Listener } from '#server/database/listen.ts'
import { type Database } from '#server/database/scope.ts'
import { type Relationship, deriveRelationships } from './relationships.ts'
import { deriveComputedRelationships, primaryKeyOfView, expandThroughViews, resolveViewColumns } from './view-relationships.ts'

const column = z.object({
  name: z.string(),
  /** Schema-qualified unless it is PostgreSQL's own, without a length. */
  type: z.string(),
  /** SQL of the default, for rows that leave the column out. */
  fallback: z.string().nullable(),
})
export type Column = z.infer<typeof column>

const relationRow = z.object({
  schema: z.string(),
  name: z.string(),
  rowType: z.string(),
  columns: z.array(column),
  primaryKey: z.array(z.string()),
  oid: z.number(),
  /** Of each column, as the catalogue counts them. */
  columnNumbers: z.array(z.number()),
  uniqueKeys: z.array(z.array(z.string())),
})

const tableName = z.object({ schema: z.string(), name: z.string() })

const foreignKeyRow = z.object({
  constraint: z.string(),
  from: tableName,
  to: tableName,
  columns: z.array(z.tuple([z.string(), z.string()])),
  isUnique: z.boolean(),
  fromOid: z.number(),
  toOid: z.number(),
  columnNumbers: z.array(z.tuple([z.number(), z.number()])),
})

const parameter = z.object({ name: z.string(), type: z.string(), isRequired: z.boolean(), isVariadic: z.boolean() })
export type Parameter = z.infer<typeof parameter>

const routineRow = z.object({
  schema: z.string(),
  name: z.string(),
  parameters: z.array(parameter),
  returns: z.enum(['void', 'scalar', 'row']),
  returnType: z.string(),
  returnsSet: z.boolean(),
  /** The table whose rows come back. */
  returnedTable: tableName.nullable(),
  /** At most one row comes back, as far as the function says. */
  isSingle: z.boolean(),
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
  isVolatile: z.boolean(),
})
export type Routine = Omit<z.infer<typeof routineRow>, 'columns'> & {
  /** Names and types of the columns of a returned row; empty for scalars. */
  readonly columns: ReadonlyMap<string, string>
}

export interface Relation {
  readonly schema: string
  readonly name: string
  readonly columns: ReadonlyMap<string, Column>
  /** Functions of one row, which may be read like columns: name and type. */
  readonly computed: ReadonlyMap<string, string>
  readonly primaryKey: readonly string[]
  readonly uniqueKeys: readonly (readonly string[])[]
}

export interface Catalogue {
  relation(schema: string, name: string): Relation | undefined
  relations(schema: string): readonly Relation[]
  routines(schema: string, name: string): readonly Routine[]
  routineNames(schema: string): readonly string[]
  /** How rows of a table find those of others of its schema. */
  relationships(schema: string, name: string): readonly Relationship[]
  /** A type name as SQL; undefined where there is no such type. */
  typeToSql(name: string): string | undefined
}

export interface SchemaCache {
  /** The catalogue as last read; reads it on first use. */
  current(): Promise<Catalogue>
  /** For a name that is not there: reads anew, unless that was done in the last few seconds. */
  refresh(): Promise<Catalogue>
  /** The next use reads anew. */
  invalidate(): void
}

const READ_RELATIONS = `
  select coalesce(json_agg(found), '[]') as found from (
    select n.nspname as schema, c.relname as name, format_type(c.reltype, -1) as "rowType", c.oid::int8 as oid,
      (select coalesce(json_agg(a.attnum order by a.attnum), '[]')
        from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as "columnNumbers",
      (select coalesce(json_agg(json_build_object(
          'name', a.attname, 'type', format_type(a.atttypid, -1),
          'fallback', case
            when a.attidentity <> '' then format('nextval(%L::regclass)', pg_get_serial_sequence(format('%I.%I', n.nspname, c.relname), a.attname))
            when a.attgenerated = '' then pg_get_expr(d.adbin, d.adrelid)
          end) order by a.attnum), '[]')
        from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
      (select coalesce(json_agg(a.attname order by k.position), '[]')
        from pg_index i, unnest(i.indkey) with ordinality k (attnum, position), pg_attribute a
        where i.indrelid = c.oid and i.indisprimary and a.attrelid = c.oid and a.attnum = k.attnum) as "primaryKey",
      (select coalesce(json_agg(u.columns), '[]') from (
        select (select json_agg(a.attname order by k.position)
          from unnest(o.conkey) with ordinality k (attnum, position), pg_attribute a
          where a.attrelid = c.oid and a.attnum = k.attnum) as columns
        from pg_constraint o where o.conrelid = c.oid and o.contype = 'u') u) as "uniqueKeys"
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any ($1) and c.relkind in ('r', 'v', 'm', 'f', 'p') and not c.relispartition
  ) found`

const READ_FOREIGN_KEYS = `
  select coalesce(json_agg(found), '[]') as found from (
    select o.conname as constraint,
      json_build_object('schema', fn.nspname, 'name', f.relname) as "from",
      json_build_object('schema', tn.nspname, 'name', t.relname) as "to",
      (select json_agg(json_build_array(a.attname, b.attname) order by k.position)
        from unnest(o.conkey, o.confkey) with ordinality k (near, far, position), pg_attribute a, pg_attribute b
        where a.attrelid = o.conrelid and a.attnum = k.near and b.attrelid = o.confrelid and b.attnum = k.far) as columns,
      o.conrelid::int8 as "fromOid", o.confrelid::int8 as "toOid",
      (select json_agg(json_build_array(k.near, k.far) order by k.position)
        from unnest(o.conkey, o.confkey) with ordinality k (near, far, position)) as "columnNumbers",
      exists (select from pg_constraint u where u.conrelid = o.conrelid and u.contype in ('p', 'u')
        and u.conkey @> o.conkey and u.conkey <@ o.conkey) as "isUnique"
    from pg_constraint o
      join pg_class f on f.oid = o.conrelid join pg_namespace fn on fn.oid = f.relnamespace
      join pg_class t on t.oid = o.confrelid join pg_namespace tn on tn.oid = t.relnamespace
    where o.contype = 'f' and o.conparentid = 0
    order by o.conrelid, o.conname
  ) found`

// Views of the exposed schemas may show tables of others, and through views of others.
const READ_VIEWS = `
  select coalesce(json_agg(found), '[]') as found from (
    select c.oid::int8 as oid, r.ev_action::text as definition
    from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_rewrite r on r.ev_class = c.oid
    where c.relkind in ('v', 'm') and r.ev_type = '1' and n.nspname not in ('pg_catalog', 'information_schema')
  ) found`

const READ_PRIMARY_KEYS = `
  select coalesce(json_agg(found), '[]') as found from (
    select o.conrelid::int8 as oid, o.conkey as columns from pg_constraint o where o.contype = 'p'
  ) found`

const READ_ROUTINES = `
  select coalesce(json_agg(found), '[]') as found from (
    select n.nspname as schema, p.proname as name, p.proretset as "returnsSet", p.provolatile = 'v' as "isVolatile",
      format_type(p.prorettype, -1) as "returnType",
      not p.proretset or p.prorows = 1 as "isSingle",
      case when p.prorettype = 'void'::regtype then 'void'
        when t.typtype = 'c' or p.proargmodes && '{t,b,o}'::"char"[] then 'row'
        else 'scalar' end as returns,
      (select json_build_object('schema', rn.nspname, 'name', r.relname)
        from pg_class r join pg_namespace rn on rn.oid = r.relnamespace
        where r.oid = t.typrelid and r.relkind <> 'c') as "returnedTable",
      (select coalesce(json_agg(json_build_object('name', coalesce(i.name, ''), 'type', format_type(i.type, -1),
          'isVariadic', i.mode = 'v', 'isRequired', i.number <= p.pronargs - p.pronargdefaults) order by i.number), '[]')
        from (
          select x.name, x.type, coalesce(x.mode, 'i') as mode, row_number() over (order by x.position) as number
          from unnest(coalesce(p.proallargtypes, p.proargtypes::oid[]), p.proargnames, p.proargmodes)
            with ordinality x (type, name, mode, position)
          where coalesce(x.mode, 'i') in ('i', 'b', 'v')
        ) i) as parameters,
      case when t.typtype = 'c' then (
          select coalesce(json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, -1)) order by a.attnum), '[]')
          from pg_attribute a where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped)
        else (
          select coalesce(json_agg(json_build_object('name', x.name, 'type', format_type(x.type, -1)) order by x.position), '[]')
          from unnest(p.proallargtypes, p.proargnames, p.proargmodes) with ordinality x (type, name, mode, position)
          where x.mode in ('o', 'b', 't'))
      end as columns
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace join pg_type t on t.oid = p.prorettype
    where n.nspname = any ($1) and p.prokind = 'f' and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
  ) found`

const READ_TYPES = `
  select n.nspname as schema, t.typname as name from pg_type t join pg_namespace n on n.oid = t.typnamespace
  where (n.nspname = 'pg_catalog' or n.nspname = any ($1)) and t.typtype in ('b', 'd', 'e', 'r', 'm')`

/** Names that SQL knows for types beside those of the catalogue. */
const TYPE_KEYWORDS = new Map(
  [
    'bigint', 'bit varying', 'boolean', 'char', 'character', 'character varying', 'dec', 'decimal', 'double precision', 'float',
    'int', 'integer', 'nchar', 'real', 'smallint', 'time with time zone', 'time without time zone', 'timestamp with time zone',
    'timestamp without time zone',
  ].map((name) => [name, name]),
) // prettier-ignore

const viewRow = z.object({ oid: z.number(), definition: z.string() })
const primaryKeyRow = z.object({ oid: z.number(), columns: z.array(z.number()) })

const qualifiedKey = (schema: string, name: string) => JSON.stringify([schema, name])
const MIN_REFRESH_INTERVAL_MS = 3_000

async function readCatalogue(database: Database, schemas: readonly string[]): Promise<Catalogue> {
  const [givenRows, foreignKeys, views, primaryKeys, routineRows, types] = await database.asService(
    async (scope) => {
      const relations = await scope.query<{ found: unknown }>(READ_RELATIONS, [schemas])
      const keys = await scope.query<{ found: unknown }>(READ_FOREIGN_KEYS)
      const rules = await scope.query<{ found: unknown }>(READ_VIEWS)
      const primary = await scope.query<{ found: unknown }>(READ_PRIMARY_KEYS)
      const routines = await scope.query<{ found: unknown }>(READ_ROUTINES, [schemas])
      const named = await scope.query<{ schema: string; name: string }>(READ_TYPES, [schemas])
      return [
        z.array(relationRow).parse(relations.rows[0]?.found),
        z.array(foreignKeyRow).parse(keys.rows[0]?.found),
        z.array(viewRow).parse(rules.rows[0]?.found),
        z.array(primaryKeyRow).parse(primary.rows[0]?.found),
        z.array(routineRow).parse(routines.rows[0]?.found),
        named.rows,
      ] as const
    },
    // With nothing on the path every name of a type or a function in a default comes out qualified.
    { readOnly: true, settings: { search_path: '' } },
  )

  const routines = routineRows.map((row): Routine => ({
    ...row,
    columns: new Map(row.returns === 'row' ? row.columns.map(({ name, type }) => [name, type]) : []),
  }))
  const shown = resolveViewColumns(givenRows, views)
  const relationRows = givenRows.map((row) => {
    const primaryKey = row.primaryKey.length > 0 ? row.primaryKey : primaryKeyOfView(shown, row, primaryKeys)
    return { ...row, primaryKey }
  })
  const relations = relationRows.map(({ rowType, ...row }): Relation => ({
    ...row,
    columns: new Map(row.columns.map((found) => [found.name, found])),
    computed: new Map(
      routines
        .filter(
          ({ schema, parameters }) =>
            schema === row.schema && parameters.length === 1 && parameters[0]?.type === rowType,
        )
        .map(({ name, returnType }) => [name, returnType]),
    ),
  }))
  const relationsByName = new Map(relations.map((found) => [qualifiedKey(found.schema, found.name), found]))
  const relationshipsByOrigin = Map.groupBy(
    [
      ...deriveRelationships(
        foreignKeys.flatMap((key) => expandThroughViews(shown, key)),
        ({ schema, name }) => relationsByName.get(qualifiedKey(schema, name))?.primaryKey ?? [],
      ).filter(({ origin, target }) => origin.schema === target.schema),
      ...deriveComputedRelationships(relationRows, routines),
    ].filter((found) =>
      [found.origin, found.target, ...(found.kind === 'many-to-many' ? [found.junction] : [])].every(
        ({ schema, name }) => relationsByName.has(qualifiedKey(schema, name)),
      ),
    ),
    ({ origin }) => qualifiedKey(origin.schema, origin.name),
  )
  const routinesByName = Map.groupBy(routines, ({ schema, name }) => qualifiedKey(schema, name))
  const quote = (name: string) => `"${name.replaceAll('"', '""')}"`
  const typesByName = new Map(
    types
      .toSorted((a, b) => Number(a.schema === 'pg_catalog') - Number(b.schema === 'pg_catalog'))
      .map(({ schema, name }) => [name, `${quote(schema)}.${quote(name)}`]),
  )

  return {
    relation: (schema, name) => relationsByName.get(qualifiedKey(schema, name)),
    relations: (schema) => relations.filter((found) => found.schema === schema),
    routineNames: (schema) => [...new Set(routines.filter((found) => found.schema === schema).map(({ name }) => name))],
    routines: (schema, name) => routinesByName.get(qualifiedKey(schema, name)) ?? [],
    relationships: (schema, name) => relationshipsByOrigin.get(qualifiedKey(schema, name)) ?? [],
    typeToSql(name) {
      const lower = name.toLowerCase()
      return TYPE_KEYWORDS.get(lower) ?? typesByName.get(name) ?? typesByName.get(lower)
    },
  }
}

/**
 * Nothing is read before the first use.
 * @param schemas the exposed ones.
 * @param listener where given, `notify pgrst, 'reload schema'` makes the next use read anew.
 */
export function createSchemaCache({
  database,
  schemas = ['public'],
  listener,
  log,
}: {
  readonly database: Database
  readonly schemas?: readonly string[]
  readonly listener?: Listener | undefined
  readonly log?: Log | undefined
}): SchemaCache {
  let catalogue: Promise<Catalogue> | undefined
  let readAt = -Infinity
  let listening: Promise<unknown> | undefined

  const invalidate = () => {
    catalogue = undefined
  }

  /** Before the first reading, so that no notice falls between the two. */
  function listen(): Promise<unknown> {
    listener?.onReconnect(invalidate)
    return Promise.resolve(
      listener?.on('pgrst', (payload) => {
        if (payload === 'reload schema' || payload === '') invalidate()
      }),
    ).catch((error: unknown) => {
      listening = undefined
      log?.warn({ err: error }, 'changes of the schema cannot be listened for yet')
    })
  }

  async function read(): Promise<Catalogue> {
    listening ??= listen()
    await listening
    return readCatalogue(database, schemas)
  }

  function current(): Promise<Catalogue> {
    if (catalogue) return catalogue
    readAt = performance.now()
    const reading = read()
    catalogue = reading
    reading.catch(() => {
      if (catalogue === reading) invalidate()
    })
    return reading
  }

  return {
    current,
    refresh() {
      if (performance.now() - readAt > MIN_REFRESH_INTERVAL_MS) invalidate()
      return current()
    },
    invalidate: invalidate,
  }
}
