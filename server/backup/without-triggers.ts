import pg from 'pg'
import { nameTable, type Table } from './snapshot.ts'

interface ForeignKey {
  readonly schema: string
  readonly table: string
  readonly name: string
  readonly definition: string
}

/**
 * Runs `run` in the open transaction without triggers and foreign keys. A superuser switches them off; another role that
 * owns the tables disables the triggers, and drops the foreign keys and adds them again, which checks the rows.
 */
export async function withoutTriggers(
  client: pg.ClientBase,
  tables: readonly Table[],
  run: () => Promise<void>,
): Promise<void> {
  const { rows } = await client.query<{ maySwitch: boolean }>(
    `select has_parameter_privilege('session_replication_role', 'set') as "maySwitch"`,
  )
  if (rows[0]?.maySwitch === true) {
    await client.query(`set local session_replication_role to 'replica'`)
    await run()
    await client.query(`set local session_replication_role to 'origin'`)
    return
  }
  const keys = await listForeignKeys(client, tables)
  for (const key of keys)
    await client.query(
      `alter table ${nameTable({ schema: key.schema, name: key.table })} drop constraint ${pg.escapeIdentifier(key.name)}`,
    )
  for (const table of tables) await client.query(`alter table ${nameTable(table)} disable trigger user`)
  await run()
  for (const table of tables) await client.query(`alter table ${nameTable(table)} enable trigger user`)
  for (const key of keys)
    await client.query(
      `alter table ${nameTable({ schema: key.schema, name: key.table })} add constraint ${pg.escapeIdentifier(key.name)} ${key.definition}`,
    )
}

async function listForeignKeys(client: pg.ClientBase, tables: readonly Table[]): Promise<ForeignKey[]> {
  const { rows } = await client.query<ForeignKey>(
    `select n.nspname as schema, c.relname as table, k.conname as name, pg_get_constraintdef(k.oid) as definition
     from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
     where k.contype = 'f' and k.conparentid = 0 and n.nspname = any ($1)`,
    [[...new Set(tables.map(({ schema }) => schema))]],
  )
  return rows
}
