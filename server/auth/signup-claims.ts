/**
 * Answers to sign-ups with an address, whether the address has an account or not. A claim lives as long as a pending account
 * would, so that waiting does not reveal which addresses have a confirmed one.
 */
import { randomUUID } from 'node:crypto'
import type { Scope } from '#server/database/scope.ts'

/** Days after its last mail in which an account that was never confirmed is removed, as is a claim. */
export const PENDING_DAYS = 7

/**
 * Replaces the password of an earlier claim.
 * @param pendingId the account that waits for its confirmation; undefined if the address has a confirmed one
 * @returns the user id that each sign-up with this address is answered with
 */
export async function storeSignupClaim(
  scope: Scope,
  { email, passwordHash, pendingId }: { email: string; passwordHash: string; pendingId: string | undefined },
): Promise<string> {
  const stored = await scope.query<{ answered_id: string }>(
    `insert into auth.signup_claims as c (email, password_hash, expires_at, answered_id)
     values ($1, $2, now() + make_interval(days => $3), coalesce($4::uuid, $5::uuid))
     on conflict (email) do update
     set password_hash = excluded.password_hash, expires_at = excluded.expires_at,
       answered_id = coalesce($4::uuid, c.answered_id)
     returning answered_id`,
    [email, passwordHash, PENDING_DAYS, pendingId ?? null, randomUUID()],
  )
  const id = stored.rows[0]?.answered_id
  if (id === undefined) throw new Error('A claim was stored without an id.')
  return id
}

/** Each further mail prolongs a pending account, and a claim alike. */
export async function prolongSignupClaim(scope: Scope, email: string): Promise<void> {
  await scope.query('update auth.signup_claims set expires_at = now() + make_interval(days => $2) where email = $1', [
    email,
    PENDING_DAYS,
  ])
}

/**
 * Ends the claim that became the password of account `id`. Another one stays: its password is answered as not confirmed
 * before and after, so that a stranger does not learn when the owner confirms the address.
 */
export async function settleSignupClaim(scope: Scope, id: string): Promise<void> {
  await scope.query(
    `delete from auth.signup_claims c using auth.users u
     where u.id = $1 and c.email = lower(u.email) and c.password_hash = u.encrypted_password`,
    [id],
  )
}

export async function deleteSignupClaim(scope: Scope, id: string): Promise<void> {
  await scope.query(
    'delete from auth.signup_claims where email = (select lower(u.email) from auth.users u where u.id = $1)',
    [id],
  )
}
