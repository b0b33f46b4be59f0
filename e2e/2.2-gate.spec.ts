/** The gate before the chat, and the data it preserves until the next sign-in (specification, sections 2.2 and 6). */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signInWithTestAccount } from './browser.ts'
import { freshAddress, signUp } from './people.ts'
import { composerOf, openStage, type Stage } from './stage.ts'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await openStage({ environment: { AUTH_AUTOCONFIRM: 'true' } })
  page = stage.page
})
afterAll(() => stage.close())

const newChat = () => page.getByRole('button', { name: 'New chat' }).first().click()
const typed = () => expect.poll(() => composerOf(page).inputValue())

/** Revokes the session at the server, as another device would; the page has to find out by itself. */
async function refuseToken(): Promise<void> {
  await page.evaluate(async () => {
    const { access_token: token } = JSON.parse(localStorage.getItem('alcove-session') ?? '{}') as {
      access_token: string
    }
    await fetch('/auth/v1/logout?scope=global', { method: 'POST', headers: { authorization: `Bearer ${token}` } })
  })
  await page.waitForURL('**/login')
}

test('while the session is being read a spinner says so', async () => {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  await page.route('**/config.json', async (route) => {
    await promise
    await route.continue()
  })
  await page.reload()
  const status = page.getByRole('status').filter({ hasText: 'Loading your experience...' })
  await status.waitFor()
  expect(await status.locator('[class*=spinner]').count()).toBe(1)
  expect(await composerOf(page).count()).toBe(0)
  resolve(undefined)
  await page.getByText('Chat History').waitFor()
  await page.unrouteAll({ behavior: 'wait' })
})

test('a token that is refused in the middle leads to the sign-in page', async () => {
  await newChat()
  await composerOf(page).fill('A thought that was not sent yet')
  await refuseToken()
  await page.getByRole('heading', { name: 'Sign in to Alcove' }).waitFor()
  expect(await page.evaluate(() => localStorage.getItem('alcove-session'))).toBeNull()
})

test('somebody else who signs in there finds an empty box', async () => {
  await signUp(page, freshAddress('neighbour'))
  await newChat()
  await composerOf(page).waitFor()
  await typed().toBe('')
  await composerOf(page).fill('What the neighbour typed')
  await refuseToken()
})

test('the same person finds what was typed, and signing out forgets it', async () => {
  await signInWithTestAccount(page)
  await newChat()
  await typed().toBe('A thought that was not sent yet')
  await page.getByRole('button', { name: 'Account', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Sign Out' }).click()
  await page.waitForURL('**/login')
  const stored = await page.evaluate(() => Object.keys(localStorage).map((key) => localStorage.getItem(key)))
  expect(stored).toContain('What the neighbour typed')
  expect(stored).not.toContain('A thought that was not sent yet')
  await signInWithTestAccount(page)
  await newChat()
  await composerOf(page).waitFor()
  await typed().toBe('')
})
