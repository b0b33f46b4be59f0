/** Queries on PostgreSQL's system catalogue, each with the schema of the rows it returns. */
import { z } from 'zod'

const columnSchema = z.object({
  name: z.string(),
  /** Schema-qualified unless the type is built in; without a length. */
  type: z.string(),
  fallback: z.string().nullable(),
})
export type Column = z.infer<typeof columnSchema>

export const relationRow = z.object({
  schema: z.string(),
  name: z.string(),
  rowType: z.string(),
  columns: z.array(columnSchema),
  primaryKey: z.array(z.string()),
  oid: z.number(),
  /** `attnum` of each column. */
  columnNumbers: z.array(z.number()),
  uniqueKeys: z.array(z.array(z.string())),
})

const tableNameSchema = z.object({ schema: z.string(), name: z.string() })

export const foreignKeyRow = z.object({
  constraint: z.string(),
  from: tableNameSchema,
  to: tableNameSchema,
  columns: z.array(z.tuple([z.string(), z.string()])),
  isUnique: z.boolean(),
  fromOid: z.number(),
  toOid: z.number(),
  columnNumbers: z.array(z.tuple([z.number(), z.number()])),
})

const parameterSchema = z.object({
  name: z.string(),
  type: z.string(),
  isRequired: z.boolean(),
  isVariadic: z.boolean(),
})
export type Parameter = z.infer<typeof parameterSchema>

export const routineRow = z.object({
  schema: z.string(),
  name: z.string(),
  parameters: z.array(parameterSchema),
  returns: z.enum(['void', 'scalar', 'row']),
  returnType: z.string(),
  returnsSet: z.boolean(),
  returnedTable: tableNameSchema.nullable(),
  /** The function declares that it returns at most one row. */
  isSingle: z.boolean(),
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
  isVolatile: z.boolean(),
})
export type RoutineRow = z.infer<typeof routineRow>

export const viewRow = z.object({ oid: z.number(), definition: z.string() })
export const primaryKeyRow = z.object({ oid: z.number(), columns: z.array(z.number()) })

export const READ_RELATIONS = `
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

export const READ_FOREIGN_KEYS = `
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

// All schemas: a view of an exposed schema may show tables of another schema, or views of it.
export const READ_VIEWS = `
  select coalesce(json_agg(found), '[]') as found from (
    select c.oid::int8 as oid, r.ev_action::text as definition
    from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_rewrite r on r.ev_class = c.oid
    where c.relkind in ('v', 'm') and r.ev_type = '1' and n.nspname not in ('pg_catalog', 'information_schema')
  ) found`

export const READ_PRIMARY_KEYS = `
  select coalesce(json_agg(found), '[]') as found from (
    select o.conrelid::int8 as oid, o.conkey as columns from pg_constraint o where o.contype = 'p'
  ) found`

export const READ_ROUTINES = `
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

export const READ_TYPES = `
  select n.nspname as schema, t.typname as name from pg_type t join pg_namespace n on n.oid = t.typnamespace
  where (n.nspname = 'pg_catalog' or n.nspname = any ($1)) and t.typtype in ('b', 'd', 'e', 'r', 'm')`
