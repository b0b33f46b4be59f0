import { type Database } from '#server/database/scope.ts'

/** Removes what nobody can use any more: full buckets, expired codes, long used refresh tokens. To be run now and then. */
export async function sweepAuth(database: Database): Promise<void> {
  await database.asAuth(async (scope) => {
    await scope.query(
      `delete from auth.rate_limits
       where tokens + extract(epoch from clock_timestamp() - updated_at) * refill_per_s >= capacity`,
    )
    await scope.query('delete from auth.one_time_tokens where expires_at < now()')
    await scope.query(`delete from auth.refresh_tokens where revoked and updated_at < now() - interval '30 days'`)
    await scope.query('delete from auth.sessions where not_after < now()')
  })
}
