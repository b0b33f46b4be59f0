import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { openSession } from '#contract/auth.ts'
import { type AuthTestService, PASSWORD, startAuthService } from '#test/auth-service.ts'

let service: AuthTestService
beforeAll(async () => {
  service = await startAuthService()
})
afterAll(() => service.close())

const call = (token: string, method: 'GET' | 'DELETE', at = '') =>
  fetch(`${service.url}/auth/v1/sessions${at}`, { method, headers: { authorization: `Bearer ${token}` } })

const list = async (token: string) => z.array(openSession).parse(await (await call(token, 'GET')).json())

async function signInAgain(email: string) {
  const client = service.newClient()
  const { data, error } = await client.auth.signInWithPassword({ email, password: PASSWORD })
  if (error) throw error
  return { client, token: data.session.access_token }
}

test('a person sees where they are signed in, this device first', async () => {
  const { session } = await service.signedIn('many@example.test')
  const second = await signInAgain('many@example.test')
  const sessions = await list(second.token)
  // The link of the confirmation mail has signed in as well.
  expect(sessions.length).toBeGreaterThanOrEqual(2)
  expect(sessions.map(({ is_current }) => is_current)).toEqual([true, ...sessions.slice(1).map(() => false)])
  expect(sessions[0]?.address).toMatch(/^198\.51\.100\.\d+$/)
  expect(sessions[0]?.user_agent).toBeTruthy()
  expect((await list(session.access_token)).map(({ id }) => id).toSorted()).toEqual(
    sessions.map(({ id }) => id).toSorted(),
  )
})

test('a session that nobody may go on with is not shown', async () => {
  const { session } = await service.signedIn('idle@example.test')
  const second = await signInAgain('idle@example.test')
  const [own] = await list(second.token)
  const setUsed = (used: string) =>
    service.admin.query(
      'update auth.sessions set created_at = now() - $2::interval, refreshed_at = now() - $2::interval where user_id = $1 and id <> $3',
      [session.user.id, used, own?.id],
    )
  await setUsed('13 days')
  expect((await list(second.token)).length).toBeGreaterThanOrEqual(2)
  await setUsed('15 days')
  expect(await list(second.token)).toEqual([expect.objectContaining({ id: own?.id, is_current: true })])
})

test('ending a session signs that device out, and no other', async () => {
  const { session } = await service.signedIn('ending@example.test')
  const second = await signInAgain('ending@example.test')
  const own = (await list(second.token)).find(({ is_current }) => is_current)
  expect((await call(session.access_token, 'DELETE', `/${own?.id ?? ''}`)).status).toBe(204)
  expect((await call(second.token, 'GET')).status).toBe(403)
  const { error } = await second.client.auth.refreshSession()
  expect(error).not.toBeNull()
  expect((await call(session.access_token, 'GET')).status).toBe(200)
})

test('a second user sees and ends nothing of the first, and nobody anything', async () => {
  const { session } = await service.signedIn('first@example.test')
  const [own] = await list(session.access_token)
  const stranger = await service.signedIn('second@example.test')
  const seen = await list(stranger.session.access_token)
  expect(seen.some(({ id }) => id === own?.id)).toBe(false)
  for (const id of [own?.id ?? '', 'no-uuid', crypto.randomUUID()]) {
    expect((await call(stranger.session.access_token, 'DELETE', `/${id}`)).status).toBe(404)
  }
  expect((await call(session.access_token, 'GET')).status).toBe(200)
  expect((await fetch(`${service.url}/auth/v1/sessions`)).status).toBe(401)
})
