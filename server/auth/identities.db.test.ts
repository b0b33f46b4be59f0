import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { type AuthTestService, startAuthService } from '#test/auth-service.ts'
import { createVisits } from '#test/browser-visits.ts'
import { type IdentityProvider, startIdentityProvider } from '#test/identity-provider.ts'

let idp: IdentityProvider
let service: AuthTestService
beforeAll(async () => {
  idp = await startIdentityProvider()
  service = await startAuthService({ providers: idp.providers.filter(({ name }) => name === 'oidc') })
})
afterAll(async () => {
  await service.close()
  await idp.close()
})

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

/** Asks as a page does, which keeps the cookie beside the answer. */
async function linkThrough(token: string, visits = createVisits(), finishing = visits) {
  const asked = `${service.url}/auth/v1/user/identities/authorize?provider=oidc&skip_http_redirect=true`
  const response = await visits.fetch(asked, { headers: { authorization: `Bearer ${token}` } })
  const { url } = z.object({ url: z.string() }).parse(await response.json())
  const end = await finishing.follow(url, ({ hash }) => hash !== '')
  return new URLSearchParams(end.hash.slice(1))
}

test('a provider is added to the account of whoever is signed in, whatever its address is', async () => {
  const { client, session } = await service.signedIn('adding@example.test')
  idp.state.person = { subject: 'added-1', email: 'private@example.test', isEmailVerified: false }
  const { data } = await client.auth.linkIdentity({
    provider: 'oidc' as 'github',
    options: { skipBrowserRedirect: true },
  })
  expect(data.url).toContain(`${idp.origin}/authorize`)
  expect((await linkThrough(session.access_token)).get('access_token')).toBeTruthy()
  expect((await identitiesOf(client)).map(({ provider }) => provider)).toEqual(['email', 'oidc'])
  const { data: known } = await client.auth.getUser()
  expect(known.user).toMatchObject({ email: 'adding@example.test', app_metadata: { providers: ['email', 'oidc'] } })
  expect((await linkThrough(session.access_token)).get('error_code')).toBe('identity_already_exists')
})

test('what belongs to one account is not linked to a second, nor in the browser of somebody who did not ask', async () => {
  const { client: owner, session } = await service.signedIn('holder@example.test')
  idp.state.person = { subject: 'held-1', email: 'held@example.test' }
  await linkThrough(session.access_token)
  const { client: stranger, session: theirs } = await service.signedIn('taker@example.test')
  expect((await linkThrough(theirs.access_token)).get('error_code')).toBe('identity_already_exists')
  expect(await identitiesOf(stranger)).toHaveLength(1)
  expect(await identitiesOf(owner)).toHaveLength(2)

  // A victim who is led to the provider by an attacker's address would give the attacker's account their own identity.
  idp.state.person = { subject: 'victim-1', email: 'led@example.test' }
  const led = await linkThrough(theirs.access_token, createVisits(), createVisits())
  expect(led.get('error_code')).toBe('bad_oauth_state')
  expect(await identitiesOf(stranger)).toHaveLength(1)
})

test('a hidden account is not signed in to through a link that had begun', async () => {
  const { session, user } = await service.signedIn('hidden@example.test')
  idp.state.person = { subject: 'hidden-1', email: 'hidden@elsewhere.test' }
  const visits = createVisits()
  const asked = `${service.url}/auth/v1/user/identities/authorize?provider=oidc&skip_http_redirect=true`
  const response = await visits.fetch(asked, { headers: { authorization: `Bearer ${session.access_token}` } })
  const { url } = z.object({ url: z.string() }).parse(await response.json())
  await service.newAdmin().deleteUser(user.id, true)
  expect(
    (await service.admin.query('select from auth.oauth_sign_ins where linking_user_id = $1', [user.id])).rowCount,
  ).toBe(0)
  const end = await visits.follow(url, ({ hash, search }) => hash !== '' || search.includes('error'))
  expect(new URLSearchParams(end.hash.slice(1)).get('access_token')).toBeNull()
  expect((await service.admin.query('select from auth.identities where user_id = $1', [user.id])).rowCount).toBe(0)
  expect((await service.admin.query('select from auth.sessions where user_id = $1', [user.id])).rowCount).toBe(0)
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
