import { expect, onTestFinished, test } from 'vitest'
import { PASSWORD, startAuthService } from '#test/auth-service.ts'

const REFUSED = {
  status: 413,
  code: 'request_entity_too_large',
  message: 'The user metadata of one account may take at most 32 kB.',
}
const sized = (bytes: number) => 'x'.repeat(bytes)

test('strangers store no metadata of any size, whether the address has an account or not', async () => {
  const service = await startAuthService({ anonymous: true })
  onTestFinished(() => service.close())
  await service.signedIn('known@example.test')
  await service.newClient().auth.signInWithOtp({ email: 'pending@example.test' })
  const count = async () => (await service.admin.query('select from auth.users')).rowCount
  const before = await count()
  const data = { text: sized(33_000) }
  for (const email of ['new@example.test', 'known@example.test', 'pending@example.test']) {
    const { auth } = service.newClient()
    expect((await auth.signUp({ email, password: PASSWORD, options: { data } })).error, email).toMatchObject(REFUSED)
    for (const shouldCreateUser of [true, false])
      expect((await auth.signInWithOtp({ email, options: { data, shouldCreateUser } })).error, email).toMatchObject(
        REFUSED,
      )
  }
  expect((await service.newClient().auth.signInAnonymously({ options: { data } })).error).toMatchObject(REFUSED)
  expect(await count()).toBe(before)
})

test('many updates add up to no more than the limit, and removing a key makes room', async () => {
  const service = await startAuthService()
  onTestFinished(() => service.close())
  const { client } = await service.signedIn('person@example.test')
  const store = (data: Record<string, unknown>) => client.auth.updateUser({ data })
  expect((await store({ a: sized(15_000) })).error).toBeNull()
  expect((await store({ b: sized(15_000) })).error).toBeNull()
  expect((await store({ c: sized(15_000) })).error).toMatchObject(REFUSED)
  expect((await store({ a: null })).error).toBeNull()
  expect((await store({ c: sized(15_000) })).error).toBeNull()
})
