import { randomBytes } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { startAuthService } from '#test/auth-service.ts'
import { ensureTestAccount, withdrawTestAccount } from './test-account.ts'

test('the test account signs in, is hashed once, and is restored after somebody changed its password', async () => {
  const service = await startAuthService()
  onTestFinished(() => service.close())
  const seed = randomBytes(32)
  const hashOf = async () =>
    (await service.admin.query<{ hash: string }>(`select encrypted_password as hash from auth.users`)).rows[0]?.hash

  const account = await ensureTestAccount({ database: service.database, seed })
  const client = service.newClient()
  expect((await client.auth.signInWithPassword(account)).error).toBeNull()
  const firstHash = await hashOf()
  expect(await ensureTestAccount({ database: service.database, seed })).toEqual(account)
  expect(await hashOf()).toBe(firstHash)

  expect((await client.auth.updateUser({ password: 'changed by a guest' })).error).toBeNull()
  await ensureTestAccount({ database: service.database, seed })
  expect((await client.auth.signInWithPassword(account)).error).toBeNull()

  const elsewhere = await ensureTestAccount({ database: service.database, seed: randomBytes(32) })
  expect(elsewhere.password).not.toBe(account.password)

  await withdrawTestAccount({ database: service.database })
  expect((await client.auth.signInWithPassword(elsewhere)).error?.code).toBe('invalid_credentials')
  expect((await client.auth.getUser()).error?.name).toBe('AuthSessionMissingError')
})
