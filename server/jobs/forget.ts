import type { Database } from '#server/database/scope.ts'
import { JOBS_SCHEMA } from './install.ts'

export async function deleteJobs(database: Database, keys: readonly string[]): Promise<void> {
  await database.serviceStatement(`delete from ${JOBS_SCHEMA}.job where singleton_key = any ($1::text[])`, [keys])
}
