import { afterAll, beforeAll, expect, test } from 'vitest'
import { type IdentityProvider, startIdentityProvider } from '#test/identity-provider.ts'
import { openPage } from './browser.ts'
import { openStage, type Stage } from './stage.ts'

let idp: IdentityProvider
let stage: Stage
beforeAll(async () => {
  idp = await startIdentityProvider()
  stage = await openStage({
    signedIn: false,
    environment: {
      AUTH_OIDC_ISSUER: idp.origin,
      AUTH_OIDC_CLIENT_ID: idp.clientId,
      AUTH_OIDC_CLIENT_SECRET: idp.clientSecret,
      AUTH_OIDC_LABEL: 'Acme sign-on',
    },
  })
})
afterAll(async () => {
  await stage.close()
  await idp.close()
})

async function freshPage() {
  const { page } = await openPage(stage.browser, stage.alcove.url)
  return page
}

test('the sign-in page has a button for the provider, which leads into the chat', async () => {
  idp.state.person = { subject: 'ada', email: 'ada@example.test', name: 'Ada' }
  const page = await freshPage()
  await page.getByRole('button', { name: 'Continue with Acme sign-on' }).click()
  await page.getByText('Chat History').waitFor()
  expect(page.url()).toBe(`${stage.alcove.url}/`)
})

test('a provider that does not vouch for the address is told of in words', async () => {
  idp.state.person = { subject: 'eve', email: 'ada@example.test', isEmailVerified: false }
  const page = await freshPage()
  await page.getByRole('button', { name: 'Continue with Acme sign-on' }).click()
  await page.getByText('Acme sign-on does not vouch for an e-mail address of yours').waitFor()
})
