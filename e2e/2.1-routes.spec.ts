/**
 * Routes, and which query parameters the address keeps or drops at the gate (specification, sections 2.1, 2.2 and
 * 4.9).
 */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPage } from './browser.ts'
import { freshAddress, signUp } from './people.ts'
import { composerOf, openStage, type Stage, storeConversation } from './stage.ts'

let stage: Stage
let page: Page
let chatId: string

beforeAll(async () => {
  stage = await openStage({ environment: { AUTH_AUTOCONFIRM: 'true' } })
  page = stage.page
  chatId = (await storeConversation(stage, 'Bees', ['They hum.'])).id
})
afterAll(() => stage.close())

const at = (path: string) => page.goto(`${stage.alcove.url}${path}`)
const notThere = () => page.getByRole('alert').filter({ hasText: 'This conversation is not there.' })
const place = () => page.evaluate(() => location.href.slice(location.origin.length))

test('whoever is signed in is sent on from the sign-in page', async () => {
  await at('/login')
  await page.getByText('Chat History').waitFor()
  expect(await place()).toBe('/')
})

test('a reload keeps the open conversation', async () => {
  await at(`/?chat=${chatId}`)
  await page.getByText('They hum.').waitFor()
  await page.reload()
  await page.getByText('They hum.').waitFor()
  expect(await place()).toBe(`/?chat=${chatId}`)
})

test('an unknown conversation and an id that is none lead to the plain page, which says so', async () => {
  await at('/?chat=00000000-0000-4000-8000-000000000000')
  await expect.poll(place).toBe('/')
  await notThere().waitFor()
  await at('/?chat=nonsense')
  await notThere().waitFor()
  await page.getByText('Getting Started').waitFor()
  await notThere().getByRole('button', { name: 'Start a new chat' }).click()
  await notThere().waitFor({ state: 'detached' })
  await composerOf(page).waitFor()
})

test('a conversation of somebody else is not there in the same words', async () => {
  await at('/?chat=00000000-0000-4000-8000-000000000000')
  const words = await notThere().innerText()
  const { page: other } = await openPage(stage.browser, `${stage.alcove.url}/login`)
  await signUp(other, freshAddress('bob'))
  await other.goto(`${stage.alcove.url}/?chat=${chatId}`)
  const told = other.getByRole('alert').filter({ hasText: 'not there' })
  await told.waitFor()
  expect(await told.innerText()).toBe(words)
  expect(await other.getByText('They hum.').count()).toBe(0)
  await other.context().close()
})

test('on a phone the page that says so leads to the history', async () => {
  await page.setViewportSize({ width: 390, height: 844 })
  await at('/?chat=00000000-0000-4000-8000-000000000000')
  await notThere().getByRole('button', { name: 'Open chat history' }).click()
  await page.getByRole('dialog', { name: 'Navigation' }).getByRole('button', { name: /^Bees/ }).click()
  await page.getByText('They hum.').waitFor()
  expect(await notThere().count()).toBe(0)
  await page.setViewportSize({ width: 1440, height: 900 })
})

test('what the link of a mail leaves in the address is gone once it was read', async () => {
  await at('/#')
  await page.getByText('Chat History').waitFor()
  await expect.poll(place).toBe('/')
  await at(`/elsewhere`)
  const session = await page.evaluate(() => localStorage.getItem('alcove-session') ?? '{}')
  const { access_token: token, refresh_token: refresh } = JSON.parse(session) as Record<string, string>
  await page.evaluate(() => localStorage.removeItem('alcove-session'))
  await at(`/#access_token=${token}&refresh_token=${refresh}&expires_in=3600&token_type=bearer&type=signup`)
  await page.getByRole('heading', { name: 'Continue as test@alcove.local?' }).waitFor()
  expect(await page.evaluate(() => location.href.includes('#'))).toBe(false)
  await page.getByRole('button', { name: 'Continue', exact: true }).click()
  await page.getByText('Chat History').waitFor()
  expect(await place()).toBe('/')
})

test('a link that is no longer valid is said at the gate, and leaves nothing in the address', async () => {
  const stranger = await stage.browser.newContext()
  const other = await stranger.newPage()
  await other.goto(`${stage.alcove.url}/#error=access_denied&error_code=otp_expired&error_description=The+link+is+old`)
  await other.getByRole('heading', { name: 'Authentication Error' }).waitFor()
  await other.getByText('Email link is invalid or has expired', { exact: true }).waitFor()
  expect(await other.evaluate(() => location.href.includes('#'))).toBe(false)
  await other.getByRole('button', { name: 'Go to Login' }).click()
  await other.waitForURL('**/login')
  await stranger.close()
})

test('any other path is the page that was not found', async () => {
  for (const path of ['/nowhere', '/login/more', '/chat/1']) {
    await at(path)
    await page.getByRole('heading', { name: '404 Page Not Found' }).waitFor()
    await page.getByText('Did you forget to add the page to the router?', { exact: true }).waitFor()
  }
  expect(await page.locator('main svg').count()).toBe(1)
})
