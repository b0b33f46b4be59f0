/** Creates accounts, through the page or the official client, some with a second factor. */
import { createClient } from '@supabase/supabase-js'
import { TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import type { AlcoveProcess } from '#test/alcove.ts'

export const PASSWORD = 'a long enough password'

let made = 0

/** An unused address, so that a repeated test does not find the account of its first run. */
export const freshAddress = (name: string): string => `${name}.${(made += 1)}@example.test`

export async function createAccount(alcove: AlcoveProcess, email: string) {
  const client = createClient(alcove.url, (await alcove.config()).supabaseAnonKey, { auth: { persistSession: false } })
  const { error } = await client.auth.signUp({ email, password: PASSWORD })
  if (error) throw error
  return client
}

/** Signs a new person up on the sign-in page, with mail confirmation off. */
export async function signUp(page: Page, email: string): Promise<void> {
  await page.getByRole('button', { name: "Don't have an account? Sign up" }).click()
  await page.getByPlaceholder('Enter your email').fill(email)
  await page.getByPlaceholder('Enter your password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Create account', exact: true }).click()
  await page.getByText('Chat History').waitFor()
}

/** The code of an authenticator app, one step after the last used code. */
export const codeOf = (secret: string, steps = 0): string =>
  new TOTP({ secret }).generate({ timestamp: Date.now() + steps * 30_000 })

/** An account with a second factor verified just now, its secret and its recovery codes. */
export async function createGuardedAccount(alcove: AlcoveProcess, email: string) {
  const client = await createAccount(alcove, email)
  const enrolled = await client.auth.mfa.enroll({ factorType: 'totp', friendlyName: 'my phone' })
  if (enrolled.error) throw enrolled.error
  const { id: factorId, totp } = enrolled.data
  const verified = await client.auth.mfa.challengeAndVerify({ factorId, code: codeOf(totp.secret, -1) })
  if (verified.error) throw verified.error
  const answer = await fetch(`${alcove.url}/auth/v1/recovery-codes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${verified.data.access_token}` },
  })
  const { codes } = (await answer.json()) as { codes: string[] }
  return { client, secret: totp.secret, codes }
}

/** The newest mail to an address: its link and its six-digit code. */
export async function newestMail(alcove: AlcoveProcess, to: string): Promise<{ link: string; code: string }> {
  const mails = (await (await fetch(`${alcove.url}/mailbox.json`)).json()) as { to: string; text: string }[]
  const text = mails.find((mail) => mail.to === to)?.text ?? ''
  return { link: /http\S+/.exec(text)?.[0] ?? '', code: /enter (\d{6})/.exec(text)?.[1] ?? '' }
}

/** Opens the link of a mail and presses the one button of its page. */
export async function followLink(page: Page, link: string): Promise<void> {
  await page.goto(link)
  await page.getByRole('button').click()
  await page.waitForURL((url) => !url.pathname.endsWith('/verify'), { waitUntil: 'commit' })
}
