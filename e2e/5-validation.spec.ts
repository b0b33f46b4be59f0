/** Validation of the forms (specification, section 5). */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signInWithTestAccount } from './browser.ts'
import { composerOf, openStage, type Stage } from './stage.ts'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await openStage({ signedIn: false })
  page = stage.page
})
afterAll(() => stage.close())

const questions = () => page.getByRole('article', { name: 'Your message' })
const sendButton = () => page.getByRole('button', { name: 'Send message' })

test('signing in wants an address that is one, and a password', async () => {
  const attempts: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('/auth/v1/token')) attempts.push(request.url())
  })
  const email = page.getByPlaceholder('Enter your email')
  const password = page.getByPlaceholder('Enter your password')
  expect([await email.getAttribute('type'), await password.getAttribute('type')]).toEqual(['email', 'password'])
  const missing = () =>
    page.locator('input:invalid').evaluateAll((inputs) => inputs.map((input) => (input as HTMLInputElement).type))
  const submit = () => page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await submit()
  expect(await missing()).toEqual(['email', 'password'])
  await email.fill('no address')
  await password.fill('something')
  await submit()
  expect(await missing()).toEqual(['email'])
  expect(attempts).toEqual([])
  await signInWithTestAccount(page)
  expect(attempts).toHaveLength(1)
})

test('nothing but space is not sent', async () => {
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await composerOf(page).fill(' \n\t ')
  expect(await sendButton().isDisabled()).toBe(true)
  await composerOf(page).press('Control+Enter')
  expect(await composerOf(page).inputValue()).toBe(' \n\t ')
  expect(await questions().count()).toBe(0)
})

test.each(['Control', 'Meta'])('%s+Enter sends the text without the space around it', async (key) => {
  const before = await questions().count()
  const sent = page.waitForRequest((request) => request.method() === 'POST' && /\/messages/.test(request.url()))
  await composerOf(page).fill(`  With ${key} \n`)
  await composerOf(page).press(`${key}+Enter`)
  expect((await sent).postDataJSON()).toMatchObject({ content: `With ${key}` })
  await expect.poll(() => page.getByRole('button', { name: 'Good answer' }).count()).toBe(before + 1)
})

test('Enter alone begins a new line', async () => {
  const before = await questions().count()
  await composerOf(page).fill('One')
  await composerOf(page).press('Enter')
  await composerOf(page).pressSequentially('Two')
  expect(await composerOf(page).inputValue()).toBe('One\nTwo')
  expect(await questions().count()).toBe(before)
})
