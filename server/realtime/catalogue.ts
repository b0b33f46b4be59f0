/** Published tables, cached until the schema changes. */
import pg from 'pg'
import { z } from 'zod'
import type { ApiRole, Database } from '#server/database/scope.ts'

export interface Column {
  readonly name: string
  /** As in messages to clients: `int8`, `_text`. */
  readonly type: string
  /** SQL name: `bigint`, `text[]`. */
  readonly format: string
}

export interface PublishedTable {
  readonly schema: string
  readonly name: string
  /** Quoted and schema-qualified. */
  readonly sqlName: string
  readonly columns: readonly Column[]
  readonly formats: ReadonlyMap<string, string>
  readonly key: readonly Column[]
  readonly hasRowSecurity: boolean
  /** Messages include the complete old row. */
  readonly hasFullIdentity: boolean
  /** The service role sees every row. */
  readonly isOpenToService: boolean
  /** Columns with select privilege. */
  readonly readable: Readonly<Record<ApiRole, ReadonlySet<string>>>
  /** SQL condition of the table's policies for images of deleted rows; the table's name refers to the image. */
  readonly visibility: Readonly<Record<ApiRole, string>>
}

export interface Catalogue {
  /** Undefined for an unpublished table. */
  table(schema: string, name: string): Promise<PublishedTable | undefined>
  /** `*` means all schemas. */
  tablesOf(schema: string): Promise<readonly PublishedTable[]>
  invalidate(): void
  /** Invalidates after a pause, once for concurrent callers: a schema notification may still be on its way. */
  refresh(): Promise<void>
}

const REFRESH_PAUSE_MS = 100

const byRole = <Value extends z.ZodType>(value: Value) =>
  z.object({ anon: value, authenticated: value, service_role: value })

const publishedTableRow = z.object({
  schema: z.string(),
  name: z.string(),
  columns: z.array(z.object({ name: z.string(), type: z.string(), format: z.string() })),
  key: z.array(z.string()),
  hasRowSecurity: z.boolean(),
  hasFullIdentity: z.boolean(),
  readable: byRole(z.array(z.string())),
  visibility: byRole(z.string()),
  isOpenToService: z.boolean(),
})

const READ_PUBLISHED_TABLES = `
  with published as (
    select coalesce(pg_partition_root(c.oid), c.oid) as relid, array_agg(distinct listed) as listed
    from pg_publication_tables p
    join pg_namespace n on n.nspname = p.schemaname
    join pg_class c on c.relnamespace = n.oid and c.relname = p.tablename
    cross join unnest(p.attnames) as listed
    where p.pubname = 'supabase_realtime' and n.nspname <> 'realtime'
    group by 1
  ),
  roles as (
    select oid, rolname, rolbypassrls from pg_roles where rolname in ('anon', 'authenticated', 'service_role')
  )
  select n.nspname as schema, c.relname as name, c.relrowsecurity as "hasRowSecurity",
    not c.relrowsecurity or exists (select from roles r where r.rolname = 'service_role' and r.rolbypassrls)
      as "isOpenToService",
    c.relreplident = 'f' as "hasFullIdentity",
    (
      select coalesce(jsonb_agg(jsonb_build_object(
        'name', a.attname, 'type', t.typname, 'format', format_type(a.atttypid, null)) order by a.attnum), '[]')
      from pg_attribute a join pg_type t on t.oid = a.atttypid
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attname = any (p.listed)
    ) as columns,
    coalesce((
      select jsonb_agg(a.attname order by a.attnum)
      from pg_attribute a
      join lateral (
        select i.indkey from pg_index i
        where i.indrelid = c.oid and (i.indisprimary or i.indisreplident)
        order by i.indisprimary desc limit 1
      ) i on a.attnum = any (i.indkey)
      where a.attrelid = c.oid
    ), '[]') as key,
    (
      select jsonb_object_agg(r.rolname, coalesce((
        select jsonb_agg(a.attname)
        from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attname = any (p.listed)
          and has_schema_privilege(r.oid, n.oid, 'usage') and has_column_privilege(r.oid, c.oid, a.attnum, 'select')
      ), '[]'))
      from roles r
    ) as readable,
    (
      select jsonb_object_agg(r.rolname, case
        when r.rolbypassrls or not c.relrowsecurity then 'true'
        else coalesce((
          select '(' || string_agg(pg_get_expr(o.polqual, o.polrelid), ') or (') || ')'
          from pg_policy o
          where o.polrelid = c.oid and o.polpermissive and o.polcmd in ('r', '*') and o.polqual is not null
            and exists (select from unnest(o.polroles) g where g = 0 or pg_has_role(r.oid, g, 'usage'))
        ), 'false')
      end)
      from roles r
    ) as permitted,
    (
      select jsonb_object_agg(r.rolname, coalesce((
        select string_agg('(' || pg_get_expr(o.polqual, o.polrelid) || ')', ' and ')
        from pg_policy o
        where o.polrelid = c.oid and not o.polpermissive and o.polcmd in ('r', '*') and o.polqual is not null
          and c.relrowsecurity and not r.rolbypassrls
          and exists (select from unnest(o.polroles) g where g = 0 or pg_has_role(r.oid, g, 'usage'))
      ), 'true'))
      from roles r
    ) as restricted
  from published p
  join pg_class c on c.oid = p.relid
  join pg_namespace n on n.oid = c.relnamespace`

const READ_CATALOGUE = `
  select schema, name, columns, key, "hasRowSecurity", "hasFullIdentity", "isOpenToService", readable,
    (select jsonb_object_agg(k, format('(%s) and %s', permitted ->> k, restricted ->> k)) from jsonb_object_keys(permitted) k) as visibility
  from (${READ_PUBLISHED_TABLES}) described`

function toPublishedTable({ readable, columns, key, ...table }: z.output<typeof publishedTableRow>): PublishedTable {
  const columnOf = new Map(columns.map((column) => [column.name, column]))
  return {
    ...table,
    sqlName: `${pg.escapeIdentifier(table.schema)}.${pg.escapeIdentifier(table.name)}`,
    columns,
    formats: new Map(columns.map(({ name, format }) => [name, format])),
    key: key.flatMap((name) => columnOf.get(name) ?? []),
    readable: {
      anon: new Set(readable.anon),
      authenticated: new Set(readable.authenticated),
      service_role: new Set(readable.service_role),
    },
  }
}

export function createCatalogue(database: Database): Catalogue {
  let refreshing: Promise<void> | undefined
  let read: Promise<ReadonlyMap<string, PublishedTable>> | undefined
  const keyOf = (schema: string, name: string) => JSON.stringify([schema, name])

  async function load() {
    const { rows } = await database.asService((scope) => scope.query(READ_CATALOGUE), { readOnly: true })
    const tables = z.array(publishedTableRow).parse(rows).map(toPublishedTable)
    return new Map(tables.map((table) => [keyOf(table.schema, table.name), table]))
  }

  function tables() {
    if (read) return read
    const started = load()
    read = started
    started.catch(() => {
      if (read === started) read = undefined
    })
    return started
  }

  return {
    table: async (schema, name) => (await tables()).get(keyOf(schema, name)),
    async tablesOf(schema) {
      return [...(await tables()).values()].filter((table) => schema === '*' || table.schema === schema)
    },
    invalidate: () => (read = undefined),
    refresh() {
      refreshing ??= new Promise((resolve) => setTimeout(resolve, REFRESH_PAUSE_MS)).then(() => {
        refreshing = undefined
        read = undefined
      })
      return refreshing
    },
  }
}
