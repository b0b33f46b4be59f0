import type pg from 'pg'

/**
 * Searches every row of every table of every schema.
 * @returns the tables read, and those that contain one of the texts.
 */
export async function searchTables(
  admin: pg.Client | pg.Pool,
  texts: readonly string[],
): Promise<{ read: string[]; holding: string[] }> {
  const { rows } = await admin.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and n.nspname <> 'information_schema' and n.nspname !~ '^pg_'`,
  )
  const holding: string[] = []
  for (const { name } of rows) {
    const found = await admin.query(
      `select from ${name} t where exists (select from unnest($1::text[]) x where strpos(t::text, x) > 0) limit 1`,
      [texts],
    )
    if (found.rowCount !== 0) holding.push(name)
  }
  return { read: rows.map(({ name }) => name), holding }
}
