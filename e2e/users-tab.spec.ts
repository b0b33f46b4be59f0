/** The users tab: profile, password, devices, second factor with recovery codes, ways to sign in. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPage } from './browser.ts'
import { codeOf, createAccount, freshAddress, followLink, newestMail, PASSWORD } from './people.ts'
import { openStage, type Stage } from './stage.ts'

let stage: Stage

beforeAll(async () => {
  stage = await openStage({
    signedIn: false,
    environment: { AUTH_AUTOCONFIRM: 'true', AUTH_MAIL_INTERVAL_S: '0', AUTH_PASSWORD_NONCE: 'true' },
  })
})
afterAll(() => stage.close())

async function signIn(email: string, password = PASSWORD): Promise<Page> {
  const { page } = await openPage(stage.browser, `${stage.alcove.url}/login`)
  await page.getByPlaceholder('Enter your email').fill(email)
  await page.getByPlaceholder('Enter your password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  return page
}

const openTab = (page: Page) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Users' }).click()

async function enter(email: string): Promise<Page> {
  await createAccount(stage.alcove, email)
  const page = await signIn(email)
  await openTab(page)
  return page
}

test('the profile shows name, address and beginning; the name changes in every tab', async () => {
  const email = freshAddress('profile')
  const page = await enter(email)
  const panel = page.getByRole('region', { name: 'Profile' })
  await panel.getByText(email).waitFor()
  await panel.getByText(String(new Date().getFullYear())).waitFor()
  const other = await page.context().newPage()
  await other.goto(stage.alcove.url)
  await openTab(other)
  await panel.getByRole('button', { name: 'Change display name' }).press('Enter')
  await page.getByRole('textbox', { name: 'Display name' }).fill('Ada Lovelace')
  await page.getByRole('textbox', { name: 'Display name' }).press('Enter')
  await panel.getByText('Ada Lovelace').waitFor()
  await other.getByRole('region', { name: 'Profile' }).getByText('Ada Lovelace').waitFor()
  await page.reload()
  await openTab(page)
  await panel.getByText('Ada Lovelace').waitFor()
})

test('the address changes once both mails were confirmed', async () => {
  const [before, after] = [freshAddress('before'), freshAddress('after')]
  const page = await enter(before)
  const panel = page.getByRole('region', { name: 'Profile' })
  await panel.getByRole('button', { name: 'Change e-mail' }).click()
  await page.getByRole('textbox', { name: 'E-mail' }).fill(after)
  await panel.getByRole('button', { name: 'Save' }).click()
  await panel.getByText(`Becomes ${after} once both mails were confirmed.`).waitFor()
  for (const address of [before, after]) await followLink(page, (await newestMail(stage.alcove, address)).link)
  await page.getByText('Chat History').waitFor()
  await openTab(page)
  await panel.getByText(after, { exact: true }).waitFor()
  expect(await panel.getByText(/^Becomes/).count()).toBe(0)
})

test('the password changes for who knows the old one, and signs all other devices out', async () => {
  const email = freshAddress('password')
  const page = await enter(email)
  const elsewhere = await signIn(email)
  await elsewhere.getByText('Chat History').waitFor()
  await page.getByRole('button', { name: 'Change password' }).click()
  const form = page.getByRole('form', { name: 'Change password' })
  await form.getByLabel('Current password').fill('not the password')
  await form.getByLabel('New password').fill('another long password')
  await form.getByRole('button', { name: 'Change password' }).click()
  await form.getByRole('alert').getByText('The current password is not right').waitFor()
  expect(await form.getByLabel('New password').inputValue()).toBe('another long password')
  await form.getByLabel('Current password').fill(PASSWORD)
  await form.getByLabel('Current password').press('Enter')
  await page.getByText('Password changed', { exact: true }).waitFor()
  await elsewhere.waitForURL('**/login')
  const again = await signIn(email, 'another long password')
  await again.getByText('Chat History').waitFor()
})

test('in an old session the change of a password wants the code of a mail', async () => {
  const email = freshAddress('old-session')
  const page = await enter(email)
  let asked = 0
  // This response makes the session a day old; later ones come from the server.
  await page.route('**/auth/v1/user', async (route) => {
    if (route.request().method() !== 'PUT' || (asked += 1) > 1) return route.fallback()
    const error = { code: 400, error_code: 'reauthentication_needed', msg: 'Password update requires reauthentication' }
    return route.fulfill({ status: 400, headers: { 'x-sb-error-code': error.error_code }, json: error })
  })
  await page.getByRole('button', { name: 'Change password' }).click()
  const form = page.getByRole('form', { name: 'Change password' })
  await form.getByLabel('Current password').fill(PASSWORD)
  await form.getByLabel('New password').fill('another long password')
  await form.getByRole('button', { name: 'Change password' }).click()
  await form.getByLabel('Code from the mail').waitFor()
  await form.getByLabel('Code from the mail').fill((await newestMail(stage.alcove, email)).code)
  await form.getByRole('button', { name: 'Change password' }).click()
  await page.getByText('Password changed', { exact: true }).waitFor()
})

test('devices are listed, and each can be signed out at once', async () => {
  const email = freshAddress('devices')
  const page = await enter(email)
  const [second, third] = [await signIn(email), await signIn(email)]
  await third.getByText('Chat History').waitFor()
  await page.reload()
  await openTab(page)
  const devices = page.getByRole('list', { name: 'Devices' })
  // This session, two others, and the one of the program that created the account.
  await expect.poll(() => devices.getByRole('listitem').count()).toBe(4)
  await devices.getByText('This device').waitFor()
  await devices.getByText('Chrome on Linux').first().waitFor()
  await devices
    .getByRole('button', { name: /^Sign out Chrome/ })
    .first()
    .click()
  await expect.poll(() => devices.getByRole('listitem').count()).toBe(3)
  const left = (one: Page) => new URL(one.url()).pathname === '/login'
  await expect.poll(() => [left(second), left(third)].filter(Boolean).length).toBe(1)
  await page.getByRole('button', { name: 'Sign out everywhere else' }).click()
  await expect.poll(() => devices.getByRole('listitem').count()).toBe(1)
  await expect.poll(() => [left(second), left(third)]).toEqual([true, true])
  expect(left(page)).toBe(false)
})

test('two-factor is turned on with a picture and a code, gives recovery codes once, and is turned off', async () => {
  const email = freshAddress('factor')
  const page = await enter(email)
  const section = page.getByRole('region', { name: 'Two-factor sign-in' })
  // The count of codes is read before they are created, and answered afterwards.
  const [wasRead, wereMade] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
  await page.route('**/auth/v1/recovery-codes', async (route) => {
    const isReading = route.request().method() === 'GET'
    if (!isReading) await wasRead.promise
    const response = await route.fetch()
    ;(isReading ? wasRead : wereMade).resolve(undefined)
    if (isReading) await wereMade.promise
    await route.fulfill({ response })
  })
  await section.getByRole('button', { name: 'Turn on' }).click()
  const dialog = page.getByRole('dialog', { name: 'Turn two-factor on' })
  const picture = dialog.getByRole('img', { name: 'QR code for an authenticator app' })
  await expect
    .poll(() => picture.evaluate((image) => image instanceof HTMLImageElement && image.naturalWidth))
    .not.toBe(0)
  const secret = (await dialog.getByText(/^[A-Z2-7]{32}$/).innerText()).trim()
  await dialog.getByLabel('Six-digit code').fill(codeOf(secret, 40))
  await dialog.getByRole('button', { name: 'Turn on' }).click()
  await dialog.getByRole('alert').getByText('Invalid TOTP code entered').waitFor()
  await dialog.getByLabel('Six-digit code').fill(codeOf(secret))
  await dialog.getByRole('button', { name: 'Turn on' }).click()

  const saving = page.getByRole('dialog', { name: 'Save your recovery codes' })
  await saving.waitFor()
  const codes = await saving.getByRole('listitem').allInnerTexts()
  expect(codes).toHaveLength(10)
  await page.keyboard.press('Escape')
  expect(await saving.isVisible()).toBe(true)
  const download = page.waitForEvent('download')
  await saving.getByRole('button', { name: 'Download' }).click()
  expect(await readFile(await (await download).path(), 'utf8')).toContain(codes[9])
  await saving.getByRole('button', { name: 'I have saved them' }).click()
  await section.getByText('10 recovery codes are left.').waitFor()

  const back = await signIn(email)
  await back.getByRole('button', { name: 'Use a recovery code' }).click()
  await back.getByRole('textbox', { name: 'Recovery code' }).fill(codes[3] ?? '')
  await back.getByRole('button', { name: 'Continue' }).click()
  await openTab(back)
  const list = back.getByRole('region', { name: 'Two-factor sign-in' })
  await list.getByText('9 recovery codes are left.').waitFor()
  await list.getByRole('button', { name: 'Remove Authenticator app' }).click()
  await back.getByRole('alertdialog', { name: 'Turn two-factor off' }).getByRole('button', { name: 'Turn off' }).click()
  await list.getByRole('button', { name: 'Turn on' }).waitFor()
  await back.reload()
  await back.getByText('Chat History').waitFor()
  const plain = await signIn(email)
  await plain.getByText('Chat History').waitFor()
})

test('the only way to sign in is listed and cannot be unlinked', async () => {
  const email = freshAddress('identity')
  const page = await enter(email)
  const ways = page.getByRole('list', { name: 'Ways to sign in' })
  await ways.getByText(email).waitFor()
  expect(await ways.getByRole('button').count()).toBe(0)
})

test('a second way to sign in is unlinked, and the first stays', async () => {
  const email = freshAddress('linked')
  const page = await enter(email)
  // No identity provider is configured here; the auth service tests linking itself.
  await page.route('**/auth/v1/user/identities/**', (route) => route.fulfill({ json: {} }))
  const linked = await page.evaluate(() => {
    const key = 'alcove-session'
    const session = JSON.parse(localStorage.getItem(key) ?? '{}') as { user: { identities: object[] } }
    const extra = { provider: 'github', identity_id: crypto.randomUUID(), identity_data: { email: 'ada@github.test' } }
    session.user.identities.push({ ...session.user.identities[0], ...extra })
    localStorage.setItem(key, JSON.stringify(session))
    return session.user.identities.length
  })
  expect(linked).toBe(2)
  await page.reload()
  await openTab(page)
  await page.getByRole('button', { name: 'Unlink GitHub' }).click()
  const ways = page.getByRole('list', { name: 'Ways to sign in' })
  await expect.poll(() => ways.getByRole('listitem').count()).toBe(1)
  await ways.getByText(email).waitFor()
})
