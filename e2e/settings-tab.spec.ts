/** The settings tab: appearance, tool messages, default model, voice, introduction, export, and the end of an account. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readZip } from '#test/read-zip.ts'
import { openPage } from './browser.ts'
import { createAccount, freshAddress, PASSWORD } from './people.ts'
import { openStage, type Stage, startChat } from './stage.ts'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await openStage({ environment: { AUTH_AUTOCONFIRM: 'true' } })
  page = stage.page
  await openTab(page)
})
afterAll(() => stage.close())

const openTab = (one: Page) =>
  one.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Settings' }).click()

async function enter(email: string): Promise<Page> {
  const { page: fresh } = await openPage(stage.browser, `${stage.alcove.url}/login`)
  await fresh.getByPlaceholder('Enter your email').fill(email)
  await fresh.getByPlaceholder('Enter your password').fill(PASSWORD)
  await fresh.getByRole('button', { name: 'Sign in', exact: true }).click()
  await fresh.getByText('Chat History').waitFor()
  return fresh
}

const themeOf = (one: Page) => one.evaluate(() => document.documentElement.dataset['theme'])

test('the page follows the system until a theme is chosen, which every tab follows and a reload keeps', async () => {
  await page.emulateMedia({ colorScheme: 'light' })
  expect(await themeOf(page)).toBe('dark')
  await page.getByRole('radio', { name: 'As the system' }).check()
  await expect.poll(() => themeOf(page)).toBe('light')
  const other = await page.context().newPage()
  await other.goto(stage.alcove.url)
  await page.getByRole('radio', { name: 'Dark' }).check()
  expect(await themeOf(page)).toBe('dark')
  await expect.poll(() => themeOf(other)).toBe('dark')
  await openTab(other)
  await expect.poll(() => other.getByRole('radio', { name: 'Dark' }).isChecked()).toBe(true)
  await page.getByRole('radio', { name: 'Light' }).check()
  await expect.poll(() => other.getByRole('radio', { name: 'Light' }).isChecked()).toBe(true)
  await page.getByRole('radio', { name: 'Dark' }).check()
  await other.close()
  await page.reload()
  expect(await themeOf(page)).toBe('dark')
  await openTab(page)
  await page.getByRole('radio', { name: 'As the system' }).check()
  expect(await themeOf(page)).toBe('light')
  await page.emulateMedia({ colorScheme: 'dark' })
})

test('the chosen model is the one that new conversations begin with, on every device', async () => {
  const stored = page.waitForResponse(
    (response) => response.url().includes('/rest/v1/user_settings') && response.request().method() !== 'GET',
  )
  await page.getByLabel('Model of new conversations').selectOption({ label: 'Alcove Reader' })
  await (await stored).finished()
  await page.getByRole('button', { name: 'Model: Alcove Reader' }).waitFor()
  await page.evaluate(() => localStorage.removeItem('alcove-settings'))
  await page.reload()
  await page.getByRole('button', { name: 'Model: Alcove Reader' }).waitFor()
  await openTab(page)
  const field = page.getByLabel('Model of new conversations')
  await expect
    .poll(() => field.evaluate((element) => element instanceof HTMLSelectElement && element.value))
    .toBe('alcove-reader')
  await field.selectOption('')
  await page.getByRole('button', { name: /stub-gpt/ }).waitFor()
})

test('a model that cannot be used is no choice, and says why', async () => {
  const unusable = page
    .getByLabel('Model of new conversations')
    .getByRole('option', { name: /^Claude/ })
    .first()
  await expect.poll(() => unusable.textContent()).toMatch(/ \(No key is configured for Anthropic\)$/)
  expect(await unusable.isDisabled()).toBe(true)
})

test('the language that one speaks is kept', async () => {
  await page.getByLabel('Language you speak').selectOption({ label: 'German' })
  await page.reload()
  await openTab(page)
  expect(await page.getByLabel('Language you speak').inputValue()).toBe('de')
})

test('the introduction is shown again', async () => {
  await page.getByRole('button', { name: 'Dismiss getting started' }).click()
  await expect.poll(() => page.getByText('Getting Started').count()).toBe(0)
  await page.getByRole('button', { name: 'Show the introduction again' }).click()
  await page.getByText('Getting Started').waitFor()
})

test('the export is one zip of everything, which the browser downloads as it is written', async () => {
  await startChat(page, 'Where does the lamp stand?')
  await page.route('**/api/account/export/size', (route) => route.abort())
  await page.getByRole('button', { name: 'Export everything' }).click()
  await page.getByText('The export could not be started. Please try again.').waitFor()
  await page.unroute('**/api/account/export/size')
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export everything' }).click()
  const saved = await download
  expect(new URL(saved.url()).pathname).toBe('/api/account/export')
  expect(saved.suggestedFilename()).toMatch(/^alcove-\d{4}-\d\d-\d\d\.zip$/)
  const files = readZip(await readFile(await saved.path()))
  const talk = [...files.keys()].find((name) => /^conversations\/.*\.md$/.test(name)) ?? ''
  expect(files.get(talk)?.toString()).toContain('Where does the lamp stand?')
  await page.getByText(/^The download has begun, about /).waitFor()
})

test('an account is deleted for who types its address and password; every tab and device is left with a receipt', async () => {
  const email = freshAddress('leaving')
  await createAccount(stage.alcove, email)
  const [leaving, elsewhere] = [await enter(email), await enter(email)]
  const otherTab = await leaving.context().newPage()
  await otherTab.goto(stage.alcove.url)
  await otherTab.getByText('Chat History').waitFor()
  await openTab(leaving)
  await leaving.getByRole('button', { name: 'Delete account' }).click()
  const form = leaving.getByRole('form', { name: 'Delete account' })
  const confirm = form.getByRole('button', { name: 'Delete everything' })
  expect(await confirm.isDisabled()).toBe(true)
  await form.getByLabel(`To confirm, type ${email}`).fill(email)
  await form.getByLabel(/^Password/).fill('not the password')
  await confirm.click()
  await form.getByRole('alert').getByText('The password is not right').waitFor()
  await form.getByLabel(/^Password/).fill(PASSWORD)
  await form.getByLabel(/^Password/).press('Enter')

  await leaving.getByText('Your account and everything in it were deleted.').waitFor()
  expect(new URL(leaving.url()).pathname).toBe('/login')
  const download = leaving.waitForEvent('download')
  await leaving.getByRole('button', { name: 'Download the receipt' }).click()
  const receipt: unknown = JSON.parse(await readFile(await (await download).path(), 'utf8'))
  expect(receipt).toMatchObject({ account: email, removed: { sessions: 3 } })
  await leaving.getByRole('region', { name: 'Account deleted' }).getByRole('button', { name: 'Close' }).click()
  await elsewhere.waitForURL('**/login')
  await otherTab.waitForURL('**/login')
  const mails = (await (await fetch(`${stage.alcove.url}/mailbox.json`)).json()) as { to: string; subject: string }[]
  expect(mails.filter(({ to }) => to === email)[0]?.subject).toBe('Your Alcove account was deleted')
  await leaving.getByPlaceholder('Enter your email').fill(email)
  await leaving.getByPlaceholder('Enter your password').fill(PASSWORD)
  await leaving.getByRole('button', { name: 'Sign in', exact: true }).click()
  await leaving.getByRole('alert').getByText('Invalid login credentials').waitFor()
})
