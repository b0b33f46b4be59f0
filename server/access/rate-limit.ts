/** Token buckets in the database: counted across nodes, and still counted after a restart. */
import { createHash } from 'node:crypto'
import { type Scope } from '#server/database/scope.ts'

/** A bucket of `capacity` attempts that fills again by `refillPerS` attempts a second. */
export interface Bucket {
  readonly key: string
  readonly capacity: number
  readonly refillPerS: number
}

export interface Refusal {
  readonly key: string
  /** Whole seconds, at least one, until the next attempt is admitted. */
  readonly retryAfterS: number
}

/** Names an account in a key: of one length, whatever was typed, and no list of addresses for a reader of the table. */
export const accountKey = (email: string): string => createHash('sha256').update(email).digest('base64url')

/**
 * Takes one attempt from every bucket, in one statement; nothing is taken from a bucket that is empty.
 * The caller's transaction must commit even where an attempt is refused, or nothing was counted.
 * @returns the refusal that lasts longest, or undefined where all admit the attempt.
 */
export async function takeAttempt(scope: Scope, buckets: readonly Bucket[]): Promise<Refusal | undefined> {
  // The order of keys is the order of row locks: two callers with the same buckets never wait for each other in a ring.
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

/** Gives an attempt back that turned out not to count: the right password, a mail that could not be sent. */
export async function giveBackAttempt(scope: Scope, key: string): Promise<void> {
  await scope.prepared('update auth.rate_limits set tokens = least(capacity, tokens + 1) where key = $1', [key])
}
