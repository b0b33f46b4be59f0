/** Finds objects of a database that no statement of `describeObjects` creates, or creates without their rows. */
import type pg from 'pg'
import { OTHER_COMMENTS } from '#server/database/describe-schema.ts'

/** Objects below this id are made with the cluster; people may choose the ids of large objects. */
const FIRST_ID = 16_384

const UNDESCRIBED = `
  select pg_describe_object(classid, oid, 0) as name, value from (
    select 'pg_authid'::regclass as classid, oid, concat_ws(' ', rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication, rolbypassrls, rolconnlimit,
      rolpassword is not null, rolvaliduntil) as value from pg_authid
    union all select 'pg_auth_members', oid, admin_option::text from pg_auth_members
    union all select 'pg_largeobject', oid, '' from pg_largeobject_metadata
    union all select 'pg_event_trigger', oid, '' from pg_event_trigger
    union all select 'pg_foreign_data_wrapper', oid, '' from pg_foreign_data_wrapper
    union all select 'pg_foreign_server', oid, '' from pg_foreign_server
    union all select 'pg_subscription', oid, '' from pg_subscription
    union all select 'pg_default_acl', oid, defaclacl::text from pg_default_acl
    union all select 'pg_class', oid, '' from pg_class where relkind in ('m', 'f')
    union all select 'pg_proc', oid, '' from pg_proc where prokind in ('a', 'w')
    union all select 'pg_operator', oid, '' from pg_operator
    union all select 'pg_cast', oid, '' from pg_cast
    union all select 'pg_collation', oid, '' from pg_collation
    union all select 'pg_ts_config', oid, '' from pg_ts_config
    union all select 'pg_statistic_ext', oid, '' from pg_statistic_ext
    union all select 'pg_type', oid, '' from pg_type where typtype = 'r'
    union all select 'pg_trigger', oid, tgenabled::text from pg_trigger where not tgisinternal and tgenabled <> 'O'
    union all select 'pg_rewrite', r.oid, '' from pg_rewrite r join pg_class c on c.oid = r.ev_class where c.relkind not in ('v', 'm')
  ) objects where (oid >= ${FIRST_ID} or classid = 'pg_largeobject'::regclass)
    and not exists (select from pg_depend e where e.classid = objects.classid and e.objid = objects.oid and e.deptype = 'e')
  union all
  select concat('setting ', split_part(setting, '=', 1), ' of role ' || nullif(setrole, 0)::regrole, case when setdatabase <> 0 then ' of this database' end), setting
  from pg_db_role_setting, unnest(setconfig) as setting
  where setdatabase in (0, (select oid from pg_database where datname = current_database()))
  union all
  select format('inheritance of table %s from %s', inhrelid::regclass, inhparent::regclass), ''
  from pg_inherits join pg_class c on c.oid = inhrelid where c.relkind = 'r' and not c.relispartition
  union all ${OTHER_COMMENTS}
  order by name`

interface Undescribed {
  readonly name: string
  /** May be secret. */
  readonly value: string
}

/** @param client its `search_path` is emptied, since names of objects have a schema only where it is not in the path */
export async function listUndescribed(client: pg.ClientBase): Promise<readonly Undescribed[]> {
  await client.query(`select set_config('search_path', '', false)`)
  const { rows } = await client.query<Undescribed>(UNDESCRIBED)
  return rows
}

/** @returns names of what the first database has and the second has not, or with another value */
export function namesOfMissing(first: readonly Undescribed[], second: readonly Undescribed[]): string[] {
  const keyOf = ({ name, value }: Undescribed) => JSON.stringify([name, value])
  const present = new Set(second.map(keyOf))
  return [...new Set(first.filter((one) => !present.has(keyOf(one))).map(({ name }) => name))]
}
