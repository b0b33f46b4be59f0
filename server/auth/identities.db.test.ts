import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthTestService, startAuthService } from '#test/auth-service.ts'

let service: AuthTestService
beforeAll(async () => {
  service = await startAuthService()
})
afterAll(() => service.close())

const addIdentity = (userId: string) =>
  service.admin.query(
    `insert into auth.identities (provider_id, user_id, identity_data, provider) values ($1, $2, '{}', 'github')`,
    [randomUUID(), userId],
  )
async function identitiesOf(client: Awaited<ReturnType<AuthTestService['signedIn']>>['client']) {
  const { data, error } = await client.auth.getUserIdentities()
  if (error) throw error
  return data.identities
}

test('one of several identities is removed, the last one stays', async () => {
  const { client, user } = await service.signedIn('linked@example.test')
  await addIdentity(user.id)
  const github = (await identitiesOf(client)).find(({ provider }) => provider === 'github')
  if (!github) throw new Error('There is no second identity.')
  expect((await client.auth.unlinkIdentity(github)).error).toBeNull()
  const [last, ...others] = await identitiesOf(client)
  expect([last?.provider, others]).toEqual(['email', []])
  if (!last) throw new Error('There is no identity.')
  expect((await client.auth.unlinkIdentity(last)).error).toMatchObject({
    status: 422,
    code: 'single_identity_not_deletable',
  })
})

test('two removals at once leave one', async () => {
  const { client, user } = await service.signedIn('racing@example.test')
  await addIdentity(user.id)
  const identities = await identitiesOf(client)
  const blocker = await service.admin.connect()
  await blocker.query('begin')
  await blocker.query('select from auth.users where id = $1 for update', [user.id])
  const removing = Promise.all(identities.map((identity) => client.auth.unlinkIdentity(identity)))
  const countWaiting = async () =>
    (
      await service.admin.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
    ).rowCount
  await expect.poll(countWaiting).toBe(2)
  await blocker.query('commit')
  blocker.release()
  const results = await removing
  expect(results.filter(({ error }) => error === null)).toHaveLength(1)
  expect(await identitiesOf(client)).toHaveLength(1)
})

test('nobody removes the identity of somebody else', async () => {
  const { client: owner, user } = await service.signedIn('owner@example.test')
  await addIdentity(user.id)
  const { client: stranger } = await service.signedIn('stranger@example.test')
  for (const identity of await identitiesOf(owner)) {
    expect((await stranger.auth.unlinkIdentity(identity)).error).toMatchObject({
      status: 422,
      code: 'identity_not_found',
    })
  }
  expect(await identitiesOf(owner)).toHaveLength(2)
})

test('a provider that is not offered cannot be linked, and nothing where linking is off', async () => {
  const { client } = await service.signedIn('linking@example.test')
  const unsupported = await client.auth.linkIdentity({ provider: 'github', options: { skipBrowserRedirect: true } })
  expect(unsupported.error).toMatchObject({ status: 400, message: 'Unsupported provider: github' })

  const off = await startAuthService({ manualLinking: false })
  const { client: person } = await off.signedIn('a@example.test')
  const [identity] = await identitiesOf(person)
  if (!identity) throw new Error('There is no identity.')
  for (const { error } of [
    await person.auth.linkIdentity({ provider: 'github', options: { skipBrowserRedirect: true } }),
    await person.auth.unlinkIdentity(identity),
  ]) {
    expect(error).toMatchObject({ status: 404, code: 'manual_linking_disabled', message: 'Manual linking is disabled' })
  }
  await off.close()
})
