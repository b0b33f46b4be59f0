/** Signing up, and how a session persists and ends (specification, sections 4.9 and 8). */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signInWithTestAccount } from './browser.ts'
import { openStage, type Stage, toastOf } from './stage.ts'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await openStage({ signedIn: false })
  page = stage.page
})
afterAll(() => stage.close())

interface StoredSession {
  access_token: string
  refresh_token: string
  expires_at: number
}

const session = () =>
  page.evaluate(() => JSON.parse(localStorage.getItem('alcove-session') ?? 'null') as StoredSession | null)

/** Marks the stored session as expired for the page's next check. */
const expire = () =>
  page.evaluate(() => {
    const stored = JSON.parse(localStorage.getItem('alcove-session') ?? '{}') as StoredSession
    localStorage.setItem('alcove-session', JSON.stringify({ ...stored, expires_at: 1 }))
  })

async function signOut(): Promise<void> {
  await page.getByRole('button', { name: 'Account', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Sign Out' }).click()
}

test('signing up tells to look at the mail, and signs nobody in', async () => {
  await page.getByRole('button', { name: "Don't have an account? Sign up" }).click()
  await page.getByPlaceholder('Enter your email').fill('newcomer@example.test')
  await page.getByPlaceholder('Enter your password').fill('a long enough password')
  await page.getByRole('button', { name: 'Create account' }).click()
  await toastOf(page).getByText('Check your email', { exact: true }).waitFor()
  await toastOf(page)
    .getByText("We've sent you a confirmation link to complete your sign up.", { exact: true })
    .waitFor()
  expect(await session()).toBeNull()
  const told = page.getByRole('form').getByRole('status')
  expect(await told.innerText()).toMatch(/^Check your email\..* confirmation link to newcomer@example\.test\./)
  const mailbox = told.getByRole('link', { name: 'Open the local mailbox' })
  expect(await mailbox.getAttribute('href')).toBe('/mailbox')
  expect(await page.getByRole('button', { name: 'Create account' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Use another address' }).click()
  expect(await page.getByPlaceholder('Enter your email').inputValue()).toBe('newcomer@example.test')
  expect(await page.getByPlaceholder('Enter your password').inputValue()).toBe('')
  await page.getByRole('button', { name: 'Already have an account? Sign in' }).click()
  expect(await told.count()).toBe(0)
})

test('signing in leads to the chat', async () => {
  await signInWithTestAccount(page)
  expect(new URL(page.url()).pathname).toBe('/')
})

test('a session that has expired is renewed, for every tab', async () => {
  const before = await session()
  const other = await page.context().newPage()
  await other.goto(stage.alcove.url)
  await other.getByText('Chat History').waitFor()
  await expire()
  await page.reload()
  await page.getByText('Chat History').waitFor()
  const after = await session()
  expect(after?.access_token).not.toBe(before?.access_token)
  expect(after?.refresh_token).not.toBe(before?.refresh_token)
  expect(after?.expires_at ?? 0).toBeGreaterThan(Date.now() / 1000)
  const used = other.waitForRequest(
    (request) =>
      request.url().includes('/rest/v1/') && request.headers()['authorization'] === `Bearer ${after?.access_token}`,
  )
  await other.getByRole('button', { name: 'New chat' }).first().click()
  await other.getByRole('textbox', { name: 'Message' }).fill('Hello')
  await other.getByRole('textbox', { name: 'Message' }).press('Control+Enter')
  await used
  await other.getByRole('button', { name: 'Good answer' }).waitFor()
  await other.close()
})

test('a session that cannot be renewed any more is dropped', async () => {
  await page.evaluate(() => {
    const stored = JSON.parse(localStorage.getItem('alcove-session') ?? '{}') as StoredSession
    localStorage.setItem('alcove-session', JSON.stringify({ ...stored, expires_at: 1, refresh_token: 'unknown' }))
  })
  await page.reload()
  await page.waitForURL('**/login')
  expect(await session()).toBeNull()
})

test.each([404, 401, 403])('signing out leaves nothing behind where the server answers %i', async (status) => {
  await signInWithTestAccount(page)
  await page.route('**/auth/v1/logout**', (route) =>
    route.fulfill({ status, contentType: 'application/json', body: '{"msg":"gone"}' }),
  )
  await signOut()
  await page.waitForURL('**/login')
  expect(await session()).toBeNull()
  expect(await toastOf(page).count()).toBe(0)
  await page.unrouteAll({ behavior: 'wait' })
})

test('signing out is no error, although the server closes the channels before it answers', async () => {
  const errors: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  const [joined, closed] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => {
      if (String(payload).includes('Subscribed to PostgreSQL')) joined.resolve(undefined)
      if (String(payload).includes('phx_close')) closed.resolve(undefined)
    }),
  )
  await signInWithTestAccount(page)
  await joined.promise
  // Requests on their way would be refused.
  await page.waitForLoadState('networkidle')
  errors.length = 0
  await page.route('**/auth/v1/logout**', async (route) => {
    const response = await route.fetch()
    await closed.promise
    await route.fulfill({ response })
  })
  await signOut()
  await page.waitForURL('**/login')
  expect(errors).toEqual([])
  await page.unrouteAll({ behavior: 'wait' })
})
