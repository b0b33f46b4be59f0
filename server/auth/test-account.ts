/** The account of *Use test account*: only in a local set-up, with a password derived for this installation. */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { AppError } from '#server/base/errors.ts'
import type { Database, Scope } from '#server/database/scope.ts'
import { confirmEmail, findAccountByEmail } from './accounts.ts'
import { hashPassword } from './passwords.ts'
import { createAccountForOperator } from './pending-accounts.ts'

const EMAIL = 'test@alcove.local'

export interface TestAccount {
  readonly email: string
  readonly password: string
}

/** A keyed marker over the stored hash shows that the password is unchanged, so that only the first start hashes. */
export async function ensureTestAccount({
  database,
  seed,
}: {
  database: Database
  seed: Buffer
}): Promise<TestAccount> {
  const password = Buffer.from(hkdfSync('sha256', seed, '', 'test account password', 15)).toString('base64url')
  const markerKey = Buffer.from(hkdfSync('sha256', seed, '', 'test account marker', 32))
  const markerOf = (hash: string): Buffer => createHmac('sha256', markerKey).update(hash).digest()

  const isUsable = await database.asAuth(async (scope) => {
    const stored = await scope.query<{ hash: string | null; marker: Buffer }>(
      `select u.encrypted_password as hash, t.marker from auth.test_accounts t join auth.users u on u.id = t.user_id
       where lower(u.email) = $1 and u.confirmed_at is not null`,
      [EMAIL],
    )
    const row = stored.rows[0]
    return row?.hash != null && timingSafeEqual(row.marker, markerOf(row.hash))
  })
  if (!isUsable) {
    const passwordHash = await hashPassword(password)
    await database.asAuth((scope) => establish(scope, passwordHash, markerOf(passwordHash)))
  }
  return { email: EMAIL, password }
}

async function establish(scope: Scope, passwordHash: string, marker: Buffer): Promise<void> {
  await createAccountForOperator(scope, { email: EMAIL, passwordHash, data: {} })
  const account = await findAccountByEmail(scope, EMAIL)
  if (account === undefined) throw new AppError('unavailable', 'The test account could not be created.')
  const { id } = account
  await confirmEmail(scope, id)
  await scope.query('update auth.users set encrypted_password = $2 where id = $1', [id, passwordHash])
  await scope.query(
    `insert into auth.test_accounts (user_id, marker) values ($1, $2)
     on conflict (user_id) do update set marker = excluded.marker`,
    [id, marker],
  )
}

/** Locks the account once an installation is no longer local, and keeps its data. */
export async function withdrawTestAccount({ database }: { database: Database }): Promise<void> {
  await database.asAuth(async (scope) => {
    await scope.query('delete from auth.sessions where user_id in (select user_id from auth.test_accounts)')
    await scope.query(
      'update auth.users set encrypted_password = null where id in (select user_id from auth.test_accounts)',
    )
  })
}
