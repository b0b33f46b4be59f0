import { afterAll, beforeAll, expect, test } from 'vitest'
import { codeOf } from './people.ts'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage({ signedIn: false, environment: { AUTH_REQUIRE_AAL2: 'true' } })
})
afterAll(() => stage.close())

test('whoever has no second factor reads nothing, and is led to set one up', async () => {
  const { page } = stage
  await page.getByRole('button', { name: 'Use test account' }).click()
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { name: 'Turn two-factor on' }).waitFor()
  const refused = await page.evaluate(async () => {
    const response = await fetch('/api/documents')
    return { status: response.status, body: await response.text() }
  })
  expect(refused.status).toBe(401)
  expect(refused.body).toContain('Set up a second factor first')

  await page.getByRole('img', { name: 'QR code for an authenticator app' }).waitFor()
  const secret = await page.getByText(/^[A-Z2-7]{32}$/).textContent()
  await page.getByLabel('Six-digit code').fill(codeOf(secret ?? ''))
  await page.getByRole('button', { name: 'Turn on' }).click()
  const codes = page.getByRole('dialog', { name: 'Save your recovery codes' })
  await codes.waitFor()
  expect(await codes.getByRole('listitem').count()).toBe(10)
  await page.reload()
  await codes.getByRole('button', { name: 'I have saved them' }).click()
  await page.getByText('Chat History').waitFor()
  await page.reload()
  await page.getByText('Chat History').waitFor()
  expect(await codes.count()).toBe(0)
})
