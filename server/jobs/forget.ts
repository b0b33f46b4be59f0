import { type Database } from '#server/database/scope.ts'
import { JOBS_SCHEMA } from './install.ts'

/** Removes the jobs of these keys, finished ones included: what they were about is gone, and so is whom it belonged to. */
export async function forgetJobs(database: Database, keys: readonly string[]): Promise<void> {
  await database.serviceStatement(`delete from ${JOBS_SCHEMA}.job where singleton_key = any ($1::text[])`, [keys])
}
