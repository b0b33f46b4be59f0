/**
 * Sign-in steps after or instead of the password: second factor, recovery code, mailed links and codes, a new
 * password.
 */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPage } from './browser.ts'
import {
  createAccount,
  createGuardedAccount,
  codeOf,
  freshAddress,
  followLink,
  newestMail,
  PASSWORD,
} from './people.ts'
import { openStage, type Stage } from './stage.ts'

let stage: Stage

beforeAll(async () => {
  stage = await openStage({
    signedIn: false,
    environment: { AUTH_AUTOCONFIRM: 'true', AUTH_MAIL_INTERVAL_S: '0' },
  })
})
afterAll(() => stage.close())

/** A new browser context at the sign-in page. */
async function freshPage(path = '/login'): Promise<Page> {
  const { page } = await openPage(stage.browser, stage.alcove.url + path)
  return page
}

async function enterPassword(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByPlaceholder('Enter your email').fill(email)
  await page.getByPlaceholder('Enter your password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

const arrived = (page: Page) => page.getByText('Chat History').waitFor()
const submit = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

test('after the password the code of the second factor is asked for, also after a reload', async () => {
  const email = freshAddress('guarded')
  const { secret } = await createGuardedAccount(stage.alcove, email)
  const page = await freshPage()
  await enterPassword(page, email)
  await page.getByRole('heading', { name: 'Enter your code' }).waitFor()
  await page.goto(stage.alcove.url)
  await page.getByRole('heading', { name: 'Enter your code' }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/login')

  const field = page.getByLabel('Six-digit code')
  await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true)
  await field.fill(['000000', '111111'].find((code) => code !== codeOf(secret)) ?? '')
  await submit(page, 'Continue')
  await page.getByRole('alert').getByText('Invalid TOTP code entered').waitFor()
  expect(await field.inputValue()).toBe('')
  await field.fill(codeOf(secret))
  await field.press('Enter')
  await arrived(page)
  await page.reload()
  await arrived(page)
})

test('whoever cannot give the code reads nothing, and can leave for another account', async () => {
  const email = freshAddress('halfway')
  await createGuardedAccount(stage.alcove, email)
  const page = await freshPage()
  await enterPassword(page, email)
  await page.getByRole('heading', { name: 'Enter your code' }).waitFor()
  const status = await page.evaluate(async () => (await fetch('/api/documents')).status)
  expect(status).toBe(401)
  await page.getByRole('button', { name: /Sign in as somebody else/ }).click()
  await page.getByRole('heading', { name: 'Sign in to Alcove' }).waitFor()
})

test('a recovery code stands in for the app, once', async () => {
  const email = freshAddress('lost-phone')
  const { codes } = await createGuardedAccount(stage.alcove, email)
  const [code = ''] = codes
  for (const outcome of ['arrives', 'is refused'] as const) {
    const page = await freshPage()
    await enterPassword(page, email)
    await page.getByRole('button', { name: 'Use a recovery code' }).click()
    await page.getByRole('textbox', { name: 'Recovery code' }).fill(code)
    await submit(page, 'Continue')
    if (outcome === 'arrives') await arrived(page)
    else await page.getByRole('alert').getByText('Invalid recovery code entered').waitFor()
  }
})

test('a forgotten password is set anew by the link of a mail', async () => {
  const email = freshAddress('forgetful')
  await createAccount(stage.alcove, email)
  const page = await freshPage()
  await page.getByPlaceholder('Enter your email').fill(email)
  await page.getByRole('button', { name: 'Forgot your password?' }).click()
  await page.getByRole('heading', { name: 'Set a new password' }).waitFor()
  expect(await page.getByPlaceholder('Enter your email').inputValue()).toBe(email)
  await submit(page, 'Send the mail')
  await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor()

  const tab = await page.context().newPage()
  await followLink(tab, (await newestMail(stage.alcove, email)).link)
  await tab.getByRole('heading', { name: 'Choose a new password' }).waitFor()
  await tab.reload()
  await tab.getByPlaceholder('Enter your new password').fill('short')
  await submit(tab, 'Save the new password')
  await tab.getByRole('alert').getByText('Password should be at least 8 characters.').waitFor()
  await tab.getByPlaceholder('Enter your new password').fill('another long password')
  await submit(tab, 'Save the new password')
  await arrived(tab)

  const back = await freshPage()
  await enterPassword(back, email)
  await back.getByRole('alert').getByText('Invalid login credentials').waitFor()
  await enterPassword(back, email, 'another long password')
  await arrived(back)
})

test('a forgotten password is set anew by the code of a mail, and the second factor is still asked for', async () => {
  const email = freshAddress('forgetful-guarded')
  const { secret } = await createGuardedAccount(stage.alcove, email)
  const page = await freshPage()
  await page.getByPlaceholder('Enter your email').fill(email)
  await page.getByRole('button', { name: 'Forgot your password?' }).click()
  await submit(page, 'Send the mail')
  await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor()
  await page.getByLabel('Code from the mail').fill((await newestMail(stage.alcove, email)).code)
  await submit(page, 'Continue')
  await page.getByLabel('Six-digit code').fill(codeOf(secret))
  await submit(page, 'Continue')
  await page.getByPlaceholder('Enter your new password').fill('another long password')
  await submit(page, 'Save the new password')
  await arrived(page)
})

test('a mail signs in by its link and by its code; an address without an account is told the same', async () => {
  const email = freshAddress('mailed')
  await createAccount(stage.alcove, email)
  const page = await freshPage()
  await page.getByPlaceholder('Enter your email').fill(email)
  await page.getByRole('button', { name: 'Sign in by e-mail' }).click()
  await submit(page, 'Send the mail')
  await page.getByLabel('Code from the mail').fill('000000')
  await submit(page, 'Continue')
  await page.getByRole('alert').getByText('Token has expired or is invalid').waitFor()
  const before = await newestMail(stage.alcove, email)
  await page.getByRole('button', { name: 'Send it again' }).click()
  await expect.poll(async () => (await newestMail(stage.alcove, email)).link).not.toBe(before.link)
  await page.getByLabel('Code from the mail').fill((await newestMail(stage.alcove, email)).code)
  await submit(page, 'Continue')
  await arrived(page)

  const other = await freshPage()
  await other.getByRole('button', { name: 'Sign in by e-mail' }).click()
  await other.getByPlaceholder('Enter your email').fill(email)
  await submit(other, 'Send the mail')
  await other.getByRole('heading', { name: 'Check your e-mail' }).waitFor()
  await followLink(other, (await newestMail(stage.alcove, email)).link)
  await arrived(other)

  const nobody = await freshPage()
  await nobody.getByRole('button', { name: 'Sign in by e-mail' }).click()
  await nobody.getByPlaceholder('Enter your email').fill('nobody@example.test')
  await submit(nobody, 'Send the mail')
  await nobody.getByRole('heading', { name: 'Check your e-mail' }).waitFor()
  expect((await newestMail(stage.alcove, 'nobody@example.test')).link).toBe('')
})

test('a link that was used before says so on the sign-in page', async () => {
  const email = freshAddress('late')
  await createAccount(stage.alcove, email)
  const page = await freshPage()
  await page.getByRole('button', { name: 'Sign in by e-mail' }).click()
  await page.getByPlaceholder('Enter your email').fill(email)
  await submit(page, 'Send the mail')
  await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor()
  const { link } = await newestMail(stage.alcove, email)
  await followLink(page, link)
  await arrived(page)
  const again = await freshPage()
  await again.goto(link)
  await again.getByText('Email link is invalid or has expired').waitFor()
})
