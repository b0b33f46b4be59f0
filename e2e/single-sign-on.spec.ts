import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SamlIdentityProvider, startSamlProvider } from '#test/saml-provider.ts'
import { openPage } from './browser.ts'
import { openStage, type Stage } from './stage.ts'

let idp: SamlIdentityProvider
let folder: string
let stage: Stage
beforeAll(async () => {
  idp = await startSamlProvider()
  folder = await mkdtemp(path.join(tmpdir(), 'alcove-saml-'))
  const file = path.join(folder, 'saml.json')
  await writeFile(file, JSON.stringify([idp.provider]))
  stage = await openStage({ signedIn: false, environment: { AUTH_SAML_PROVIDERS: file } })
})
afterAll(async () => {
  await stage.close()
  await idp.close()
  await rm(folder, { recursive: true })
})

test('the sign-in page has a button for the company, which leads through its provider into the chat', async () => {
  idp.state.person = { subject: 'ada', email: 'ada@acme.test', name: 'Ada' }
  const { page } = await openPage(stage.browser, stage.alcove.url)
  await page.getByRole('button', { name: 'Continue with Acme' }).click()
  await page.getByText('Chat History').waitFor()
  expect(page.url()).toBe(`${stage.alcove.url}/`)
  const names = (await page.context().cookies()).map(({ name }) => name)
  expect(names).toContain('alcove-session')
})

test('what is wrong with the answer is said on the sign-in page', async () => {
  idp.state.person = { subject: 'nobody' }
  const { page } = await openPage(stage.browser, stage.alcove.url)
  await page.getByRole('button', { name: 'Continue with Acme' }).click()
  await page.getByText('SAML Assertion does not contain an email address').waitFor()
})
