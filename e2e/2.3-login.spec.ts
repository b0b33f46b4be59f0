/** The sign-in page and the gate before the chat (specification, sections 2.2, 2.3 and 4.9). */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { followLink } from './people.ts'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
const EMAIL = 'newcomer@example.test'
const PASSWORD = 'a long enough password'

beforeAll(async () => {
  stage = await openStage({ signedIn: false })
})
afterAll(() => stage.close())

test('whoever is not signed in is sent to the sign-in page', async () => {
  await stage.page.waitForURL('**/login')
  await stage.page.getByRole('heading', { name: 'Sign in to Alcove' }).waitFor()
  await stage.page.getByText('Sign in to continue using your AI assistant').waitFor()
  await stage.page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
})

test('the sign-in page loads nothing of the chat page', async () => {
  const { page } = stage
  // The last of its scripts brings the toasts.
  await page.getByRole('region', { name: 'Notifications (F8)' }).waitFor({ state: 'attached' })
  const scripts = await page.evaluate(() =>
    performance.getEntriesByType('resource').flatMap(({ name }) => (name.endsWith('.js') ? [name] : [])),
  )
  expect(scripts.some((name) => /\/notices-[^/]+$/.test(name))).toBe(true)
  expect(scripts.filter((name) => /\/chat-[^/]+$/.test(name))).toEqual([])
})

test('a wrong password is said in a toast and on the page', async () => {
  const { page } = stage
  await page.getByPlaceholder('Enter your email').fill(EMAIL)
  await page.getByPlaceholder('Enter your password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByText('An error occurred during sign in', { exact: true }).waitFor()
  await page.getByRole('alert').getByText('Invalid login credentials').waitFor()
})

test('the password is masked, and known to password managers', async () => {
  const password = stage.page.getByLabel('Password')
  expect(await password.getAttribute('type')).toBe('password')
  expect(await password.getAttribute('autocomplete')).toBe('current-password')
})

test('the form turns to signing up, with its own words, and forgets the error', async () => {
  const { page } = stage
  await page.getByRole('button', { name: "Don't have an account? Sign up" }).click()
  await page.getByRole('heading', { name: 'Create an account' }).waitFor()
  await page.getByText('Create your account to access your AI assistant').waitFor()
  await page.getByRole('button', { name: 'Already have an account? Sign in' }).waitFor()
  await expect.poll(() => page.getByText('Invalid login credentials').count()).toBe(0)
})

test('the button says that it works while the answer is awaited', async () => {
  const { page } = stage
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  await page.route('**/auth/v1/signup**', async (route) => {
    await held
    await route.continue()
  })
  await page.getByRole('button', { name: 'Create account' }).click()
  const busy = page.getByRole('button', { name: 'Processing...' })
  await busy.waitFor()
  await expect.poll(() => busy.isDisabled()).toBe(true)
  release()
  await page.getByText("We've sent you a confirmation link to complete your sign up.", { exact: true }).waitFor()
})

test('the link of the mail signs in, and greets by name', async () => {
  const { page, alcove } = stage
  const mails = (await (await fetch(`${alcove.url}/mailbox.json`)).json()) as { to: string; text: string }[]
  const link = mails.find(({ to }) => to === EMAIL)?.text.match(/http\S+/)?.[0]
  await followLink(page, link ?? '')
  await page.getByRole('heading', { name: 'Welcome, newcomer' }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/')
})

test('the mailbox and the page have the same icon', async () => {
  const { url } = stage.alcove
  for (const page of ['/mailbox', '/login']) {
    const html = await (await fetch(`${url}${page}`)).text()
    const icon = await fetch(`${url}${/rel="icon"[^>]* href="([^"]+)"/.exec(html)?.[1] ?? ''}`)
    expect(icon.headers.get('content-type'), page).toContain('image/svg+xml')
  }
})

test('whoever is signed in is sent on from the sign-in page', async () => {
  await stage.page.goto(`${stage.alcove.url}/login`)
  await stage.page.getByText('Chat History').waitFor()
  expect(new URL(stage.page.url()).pathname).toBe('/')
})

test('a server that cannot be reached is an error of the gate, and signing in works once it is back', async () => {
  const { page, alcove } = stage
  await page.getByRole('button', { name: 'Account', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Sign Out' }).click()
  await page.waitForURL('**/login')
  await page.route('**/config.json', (route) => route.abort())
  await page.goto(alcove.url)
  await page.getByRole('heading', { name: 'Authentication Error' }).waitFor()
  await page.getByRole('button', { name: 'Go to Login' }).click()
  await page.unroute('**/config.json')
  await page.getByPlaceholder('Enter your email').fill(EMAIL)
  await page.getByPlaceholder('Enter your password').fill(PASSWORD)
  await page.getByPlaceholder('Enter your password').press('Enter')
  await page.getByText('Chat History').waitFor()
})

test('any other path is the page that was not found', async () => {
  await stage.page.goto(`${stage.alcove.url}/elsewhere`)
  await stage.page.getByRole('heading', { name: '404 Page Not Found' }).waitFor()
  await stage.page.getByText('Did you forget to add the page to the router?').waitFor()
})
