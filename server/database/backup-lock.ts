/** A running backup holds this advisory lock: one at a time, and no bytes are deleted that it may still have to copy. */
export const BACKUP_LOCK = 7_141_885

/** An SQL condition. Rows that a statement reads under it were deleted before the snapshot of any later backup. */
export const NO_BACKUP_RUNS = `not exists (
  select from pg_locks where locktype = 'advisory' and granted and classid = 0 and objid = ${BACKUP_LOCK} and objsubid = 1
    and database = (select oid from pg_database where datname = current_database()))`
