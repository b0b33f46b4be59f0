/**
 * Addresses that lead into an account: none signs in by itself, none replaces an open session, and nothing of them remains
 * in the address bar or the history.
 */
import { createClient } from '@supabase/supabase-js'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPage, signInWithTestAccount } from './browser.ts'
import { createAccount, freshAddress, followLink, newestMail, PASSWORD } from './people.ts'
import { openStage, type Stage, toastOf } from './stage.ts'
import { pressButton } from '#test/press-button.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage({ environment: { AUTH_MAIL_INTERVAL_S: '0', RATE_LIMITS: 'off' } })
})
afterAll(() => stage.close())

const freshPage = async (path = '/login') => (await openPage(stage.browser, stage.alcove.url + path)).page
const arrived = (page: Page) => page.getByText('Chat History').waitFor()
const storedSession = (page: Page) =>
  page.evaluate(
    () =>
      JSON.parse(localStorage.getItem('alcove-session') ?? 'null') as { user: { id: string; email: string } } | null,
  )
const cookieOf = async (page: Page) =>
  (await page.context().cookies()).find(({ name }) => name === 'alcove-session')?.value
const addressOf = (page: Page) => page.evaluate(() => location.pathname + location.search + location.hash)

/** A confirmed account with a session of its own, as an attacker has. */
async function strangersSession(name: string) {
  const email = freshAddress(name)
  await createAccount(stage.alcove, email)
  await pressButton((await newestMail(stage.alcove, email)).link)
  const client = createClient(stage.alcove.url, (await stage.alcove.config()).supabaseAnonKey, {
    auth: { persistSession: false, autoRefreshToken: false },
  })
  const { data, error } = await client.auth.signInWithPassword({ email, password: PASSWORD })
  if (error) throw error
  return { email, client, ...data.session }
}
type Tokens = Pick<Awaited<ReturnType<typeof strangersSession>>, 'access_token' | 'refresh_token'>
const fragmentOf = ({ access_token, refresh_token }: Tokens) =>
  `#access_token=${access_token}&refresh_token=${refresh_token}&expires_in=3600&token_type=bearer&type=magiclink&provider_token=x`

test('tokens in an address never replace an open session, wherever the address leads and however it is opened', async () => {
  const { page } = stage
  const stranger = await strangersSession('fixing')
  const own = await storedSession(page)
  const cookie = await cookieOf(page)
  expect(cookie).toBeTruthy()
  for (const path of ['/', '/login', '/?doc=1', '/elsewhere', '/login?new-password']) {
    await page.goto('about:blank')
    await page.goto(stage.alcove.url + path + fragmentOf(stranger))
    await expect.poll(() => page.evaluate(() => location.hash)).toBe('')
    if (path === '/') await toastOf(page).getByText('You are signed in. Sign out first').waitFor()
    expect((await storedSession(page))?.user.id).toBe(own?.user.id)
  }

  await page.goto(stage.alcove.url)
  await arrived(page)
  await page.evaluate((hash) => {
    location.hash = hash
  }, fragmentOf(stranger))
  await toastOf(page).getByText('You are signed in. Sign out first').waitFor()
  await expect.poll(() => addressOf(page)).toBe('/')
  const second = await page.context().newPage()
  await second.goto(stage.alcove.url + '/' + fragmentOf(stranger))
  await toastOf(second).getByText('You are signed in. Sign out first').waitFor()
  await second.close()
  expect((await storedSession(page))?.user.id).toBe(own?.user.id)
  expect(await cookieOf(page)).toBe(cookie)
})

test('a link of a mail to somebody else changes neither the session nor the cookie', async () => {
  const { page } = stage
  const { email, client } = await strangersSession('mailing')
  const [own, cookie] = [await storedSession(page), await cookieOf(page)]
  await client.auth.signInWithOtp({ email, options: { shouldCreateUser: false } })
  await page.goto('about:blank')
  await followLink(page, (await newestMail(stage.alcove, email)).link)
  await toastOf(page).getByText('You are signed in. Sign out first').waitFor()
  expect((await storedSession(page))?.user.id).toBe(own?.user.id)
  expect(await cookieOf(page)).toBe(cookie)
})

test('without a session, the page names the account first; Cancel opens nothing and ends what was offered', async () => {
  const stranger = await strangersSession('offering')
  const page = await freshPage('/?doc=1' + fragmentOf(stranger))
  await page.getByRole('heading', { name: `Continue as ${stranger.email}?` }).waitFor()
  expect([await storedSession(page), await cookieOf(page)]).toEqual([null, undefined])
  await page.goBack()
  expect(page.url()).not.toContain('access_token')
  await page.goto('about:blank')
  await page.goto(`${stage.alcove.url}/${fragmentOf(stranger)}`)
  const ended = page.waitForResponse((response) => response.url().includes('/auth/v1/logout'))
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('heading', { name: 'Sign in to Alcove' }).waitFor()
  await ended
  expect(await storedSession(page)).toBeNull()
  expect((await stranger.client.auth.getUser()).error).not.toBeNull()
})

test('whoever continues is signed in, with the cookie', async () => {
  const stranger = await strangersSession('continuing')
  const page = await freshPage('/' + fragmentOf(stranger))
  await page.getByRole('button', { name: 'Continue', exact: true }).click()
  await arrived(page)
  expect((await storedSession(page))?.user.email).toBe(stranger.email)
  expect(await cookieOf(page)).toBeTruthy()
})

test('the offer ends when a session is opened meanwhile in another tab', async () => {
  const stranger = await strangersSession('meanwhile')
  const page = await freshPage('/' + fragmentOf(stranger))
  await page.getByRole('heading', { name: `Continue as ${stranger.email}?` }).waitFor()
  const other = await page.context().newPage()
  await other.goto(`${stage.alcove.url}/login`)
  await signInWithTestAccount(other)
  await arrived(page)
  expect((await storedSession(page))?.user.email).toBe('test@alcove.local')
})

const signOut = async (page: Page) => {
  await page.getByRole('button', { name: 'Account', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Sign Out' }).click()
}

test('a link that was followed over an open session asks after signing out, since it is used up by then', async () => {
  const [own, invited] = [await strangersSession('staying'), await strangersSession('arriving')]
  const page = await freshPage()
  await page.getByPlaceholder('Enter your email').fill(own.email)
  await page.getByPlaceholder('Enter your password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await arrived(page)
  await invited.client.auth.signInWithOtp({ email: invited.email, options: { shouldCreateUser: false } })
  await followLink(page, (await newestMail(stage.alcove, invited.email)).link)
  await toastOf(page).getByText('You are signed in. Sign out first').waitFor()
  expect((await storedSession(page))?.user.email).toBe(own.email)
  await signOut(page)
  await page.getByRole('heading', { name: `Continue as ${invited.email}?` }).waitFor()
  expect([await storedSession(page), await cookieOf(page)]).toEqual([null, undefined])
  await page.getByRole('button', { name: 'Continue', exact: true }).click()
  await arrived(page)
  expect((await storedSession(page))?.user.email).toBe(invited.email)
})

test('a link into the account that is open succeeds, and the session that it brought ends', async () => {
  const open = await strangersSession('again')
  const page = await freshPage('/' + fragmentOf(open))
  await page.getByRole('button', { name: 'Continue', exact: true }).click()
  await arrived(page)
  const second = await open.client.auth.signInWithPassword({ email: open.email, password: PASSWORD })
  if (second.error) throw second.error
  const ended = page.waitForResponse((response) => response.url().includes('/auth/v1/logout'))
  await page.evaluate((hash) => {
    location.hash = hash
  }, fragmentOf(second.data.session))
  await ended
  expect((await open.client.auth.getUser(second.data.session.access_token)).error).not.toBeNull()
  expect((await storedSession(page))?.user.email).toBe(open.email)
  expect(await toastOf(page).getByText('Sign out first').count()).toBe(0)
  await page.reload()
  await arrived(page)
})

test('a stored session that cannot be refreshed for now is not replaced by a click', async () => {
  const [own, stranger] = [await strangersSession('offline'), await strangersSession('clicking')]
  const page = await freshPage('/' + fragmentOf(own))
  await page.getByRole('button', { name: 'Continue', exact: true }).click()
  await arrived(page)
  await page.goto('about:blank')
  await page.clock.install()
  await page.route('**/auth/v1/token**', (route) => route.abort())
  await page.addInitScript(() => {
    const stored = JSON.parse(localStorage.getItem('alcove-session') ?? 'null') as { expires_at: number } | null
    if (stored !== null) localStorage.setItem('alcove-session', JSON.stringify({ ...stored, expires_at: 1 }))
  })
  await page.goto(`${stage.alcove.url}/login${fragmentOf(stranger)}`)
  /** The client repeats the request for half a minute of the page's clock. */
  const waitWhile = (isPending: () => Promise<boolean>) =>
    expect
      .poll(async () => {
        await page.clock.runFor(5_000)
        return isPending()
      })
      .toBe(false)
  const proceed = page.getByRole('button', { name: 'Continue', exact: true })
  await waitWhile(async () => (await proceed.count()) === 0)
  await proceed.click()
  const alert = page.getByRole('alert').getByText('Failed to connect to authentication service')
  await waitWhile(async () => (await alert.count()) === 0)
  expect((await storedSession(page))?.user.id).toBe(own.user.id)
})

test('tokens of two accounts lead into neither', async () => {
  const [shown, hidden] = [await strangersSession('shown'), await strangersSession('hidden')]
  const page = await freshPage('/' + fragmentOf({ ...shown, refresh_token: hidden.refresh_token }))
  await page.getByRole('heading', { name: `Continue as ${shown.email}?` }).waitFor()
  await page.getByRole('button', { name: 'Continue', exact: true }).click()
  await page.getByRole('alert').getByText('This link does not lead into the account that it names.').waitFor()
  expect([await storedSession(page), await cookieOf(page)]).toEqual([null, undefined])
})

test('a code of somebody else opens nothing, also while a sign-in of this browser is under way, which still works', async () => {
  const email = (await strangersSession('waiting')).email
  const page = await freshPage()
  await page.getByPlaceholder('Enter your email').fill(email)
  await page.getByRole('button', { name: 'Sign in by e-mail' }).click()
  await page.getByRole('button', { name: 'Send the mail' }).click()
  await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor()
  const { link } = await newestMail(stage.alcove, email)

  const stranger = await strangersSession('coding')
  const asking = await freshPage()
  await asking.getByPlaceholder('Enter your email').fill(stranger.email)
  await asking.getByRole('button', { name: 'Sign in by e-mail' }).click()
  await asking.getByRole('button', { name: 'Send the mail' }).click()
  await asking.getByRole('heading', { name: 'Check your e-mail' }).waitFor()
  const foreign = (await newestMail(stage.alcove, stranger.email)).link

  const answered = await pressButton(foreign)
  await page.goto(answered.headers.get('location') ?? '')
  await page.getByText('This link was asked for in another browser.').waitFor()
  expect([await storedSession(page), await addressOf(page)]).toEqual([null, '/login'])
  await page.goto(`${stage.alcove.url}/?code=made-up&token_hash=made-up&type=magiclink`)
  await page.getByText('This link was asked for in another browser.').waitFor()
  await followLink(page, link)
  await arrived(page)
  expect((await storedSession(page))?.user.email).toBe(email)
  expect(await addressOf(page)).toBe('/')
})

test('the address puts no words of its own on the page', async () => {
  for (const address of [
    '/#error=access_denied&error_code=otp_expired&error_description=Call+0800+and+pay',
    '/?error=access_denied&error_code=made_up&error_description=Call+0800+and+pay',
    '/login#error=Call+0800+and+pay&error_description=Call+0800+and+pay&message=Call+0800+and+pay',
    '/login?error_code=constructor&message=Call+0800+and+pay',
  ]) {
    const page = await freshPage(address)
    const expected = address.includes('otp_expired')
      ? 'Email link is invalid or has expired'
      : 'Signing in did not work.'
    await page.getByText(expected).waitFor()
    expect(await page.getByText('0800').count()).toBe(0)
    expect(page.url()).not.toContain('0800')
    await page.context().close()
  }
})

test('a sign-up that is confirmed in another browser is told to sign in, and its link signs nobody in there', async () => {
  const email = freshAddress('phone-reader')
  const page = await freshPage()
  await page.getByRole('button', { name: "Don't have an account? Sign up" }).click()
  await page.getByPlaceholder('Enter your email').fill(email)
  await page.getByPlaceholder('Enter your password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByText('Follow it to complete your sign').waitFor()
  const phone = await freshPage()
  await followLink(phone, (await newestMail(stage.alcove, email)).link)
  await phone.getByText('If it was to confirm your address, that is done: sign in here').waitFor()
  expect(await storedSession(phone)).toBeNull()
  await phone.getByPlaceholder('Enter your email').fill(email)
  await phone.getByPlaceholder('Enter your password').fill(PASSWORD)
  await phone.getByRole('button', { name: 'Sign in', exact: true }).click()
  await arrived(phone)
})

test('where a stranger signed up with the same address, its owner chooses a new password before anything else', async () => {
  const email = freshAddress('contested')
  await createAccount(stage.alcove, email)
  const page = await freshPage()
  await page.getByRole('button', { name: "Don't have an account? Sign up" }).click()
  await page.getByPlaceholder('Enter your email').fill(email)
  await page.getByPlaceholder('Enter your password').fill('the password of the owner')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByText('Follow it to complete your sign').waitFor()
  await followLink(page, (await newestMail(stage.alcove, email)).link)
  await page.getByRole('heading', { name: 'Choose a new password' }).waitFor()
  await page.goto(stage.alcove.url)
  await page.getByRole('heading', { name: 'Choose a new password' }).waitFor()
  expect(await page.getByRole('button', { name: 'Keep the old one' }).count()).toBe(0)
  await page.getByPlaceholder('Enter your new password').fill('chosen by the owner')
  await page.getByRole('button', { name: 'Save the new password' }).click()
  await arrived(page)
  await page.reload()
  await arrived(page)
  const other = await freshPage()
  for (const [password, isRight] of [
    [PASSWORD, false],
    ['the password of the owner', false],
    ['chosen by the owner', true],
  ] as const) {
    await other.getByPlaceholder('Enter your email').fill(email)
    await other.getByPlaceholder('Enter your password').fill(password)
    await other.getByRole('button', { name: 'Sign in', exact: true }).click()
    if (isRight) await arrived(other)
    else
      await other
        .getByRole('alert')
        .getByText(/Invalid login credentials|Email not confirmed/)
        .waitFor()
  }
})
