import { createHash } from 'node:crypto'
import type { Scope } from '#server/database/scope.ts'

export interface Bucket {
  readonly key: string
  readonly capacity: number
  readonly refillPerS: number
}

/** The bucket of an address, and of the network around it. */
export interface AddressBucket extends Bucket {
  readonly wider?: Bucket
}

export interface RateLimitExceeded {
  readonly key: string
  readonly retryAfterS: number
}

/** Hashed, so that keys have one length and the table lists no addresses. */
export const accountKey = (email: string): string => createHash('sha256').update(email).digest('base64url')

/** Commit even if the attempt is rejected. Returns the empty bucket with the longest wait. */
export async function takeAttempt(scope: Scope, buckets: readonly Bucket[]): Promise<RateLimitExceeded | undefined> {
  // Locking rows in the order of keys avoids deadlocks.
  const taken = await scope.prepared<{ key: string; refused: boolean; wait_s: number }>(
    `insert into auth.rate_limits as held (key, capacity, refill_per_s, tokens, updated_at)
     select key, capacity, refill_per_s, capacity - 1, clock_timestamp()
     from unnest($1::text[], $2::float8[], $3::float8[]) as wanted (key, capacity, refill_per_s)
     order by key
     on conflict (key) do update set (capacity, refill_per_s, tokens, refused, updated_at) = (
       select excluded.capacity, excluded.refill_per_s, case when level >= 1 then level - 1 else level end, level < 1, moment
       from (
         select moment, least(
           excluded.capacity,
           held.tokens + greatest(0, extract(epoch from moment - held.updated_at)) * excluded.refill_per_s
         ) as level
         from (select clock_timestamp() as moment) as clock
       ) as refilled
     )
     returning key, refused, (1 - tokens) / refill_per_s as wait_s`,
    [
      buckets.map(({ key }) => key),
      buckets.map(({ capacity }) => capacity),
      buckets.map(({ refillPerS }) => refillPerS),
    ],
  )
  return taken.rows
    .filter(({ refused }) => refused)
    .map(({ key, wait_s }) => ({ key, retryAfterS: Math.max(1, Math.ceil(wait_s)) }))
    .toSorted((one, other) => other.retryAfterS - one.retryAfterS)[0]
}

/** For an attempt that does not count: a correct password, or a mail that could not be sent. */
export async function refundAttempt(scope: Scope, key: string): Promise<void> {
  await scope.prepared('update auth.rate_limits set tokens = least(capacity, tokens + 1) where key = $1', [key])
}

/** A full bucket limits nothing: the next attempt would begin with the same one. */
export async function deleteFullBuckets(scope: Scope): Promise<void> {
  await scope.query(
    `delete from auth.rate_limits
     where tokens + extract(epoch from clock_timestamp() - updated_at) * refill_per_s >= capacity`,
  )
}

/** Deletes the buckets whose key names this person. */
export async function deleteBucketsOf(scope: Scope, userId: string): Promise<void> {
  await scope.query(`delete from auth.rate_limits where key like '%' || $1 || '%'`, [userId])
}
