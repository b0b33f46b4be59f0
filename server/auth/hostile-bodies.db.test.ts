import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthTestService, PASSWORD, startAuthService } from '#test/auth-service.ts'

let service: AuthTestService
beforeAll(async () => {
  service = await startAuthService()
})
afterAll(() => service.close())

const post = (at: string, body: string) =>
  fetch(`${service.url}/auth/v1${at}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })

test('a body that PostgreSQL could not store is refused, and half a character replaced', async () => {
  const signUp = (data: string) =>
    post('/signup', `{"email":"odd@example.test","password":"${PASSWORD}","data":${data}}`)
  for (const data of [String.raw`{"a":"\u0000"}`, `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`]) {
    const refused = await signUp(data)
    expect([refused.status, await refused.json()]).toMatchObject([400, { error_code: 'bad_json' }])
  }
  const stored = await signUp(String.raw`{"a":"x\ud800","b":"\\u0000"}`)
  expect([stored.status, await stored.json()]).toMatchObject([
    200,
    { user_metadata: { a: 'x\ufffd', b: String.raw`\u0000` } },
  ])
})

test('nobody locks himself out with metadata that fits into no header', async () => {
  const email = 'verbose@example.test'
  const { client } = await service.signedIn(email)
  await client.auth.updateUser({ data: { story: 'long '.repeat(5_000) } })
  const again = await client.auth.signInWithPassword({ email, password: PASSWORD })
  expect(again.error).toBeNull()
  expect(again.data.session?.access_token.length).toBeLessThan(8_000)
  expect((await client.auth.getUser()).data.user?.user_metadata['story']).toHaveLength(25_000)
})
